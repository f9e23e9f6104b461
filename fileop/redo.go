package fileop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNothingUndone means that there is no undoing to take back.
var ErrNothingUndone = errors.New("nothing was taken back that could be brought back")

// Redo takes the latest undoing back that Redo has not: each of its files gets what the
// undoing found there, and its actions stand again. What was changed since stays: it is
// merged, or the file is left alone and the result says why. The results name files, in
// the order of their paths.
//
// An error is ctx's or ErrNothingUndone; results that come with it hold. Once something
// was brought back, the next call is about the undoing before; what was left then is
// brought back no more.
func (j *Journal) Redo(ctx context.Context, o *Operator) ([]Undone, error) {
	j.reviews.Lock()
	defer j.reviews.Unlock()
	actions := j.latestUndoing()
	if len(actions) == 0 {
		return nil, ErrNothingUndone
	}
	r := redoing{journal: j, operator: o, files: undoFiles{operator: o}}
	for _, a := range actions {
		r.note(a)
	}
	for _, f := range r.order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f.bringBack(ctx, &r)
	}
	r.files.flush(ctx)
	results, kept := r.results()
	if kept == len(results) {
		return results, ctx.Err() // it can be tried again
	}
	for _, a := range actions {
		if err := j.redone(a, r.of(a.Path)); err != nil {
			return results, err
		}
	}
	return results, ctx.Err()
}

// nextUndoing numbers an undoing.
func (j *Journal) nextUndoing() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := uint64(0)
	for _, a := range j.actions {
		last = max(last, a.Undoing)
	}
	return last + 1
}

// latestUndoing gives the actions of the latest undoing, in the order of their undoing.
func (j *Journal) latestUndoing() []TaskAction {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := uint64(0)
	var out []TaskAction
	for _, id := range slices.Backward(j.order) {
		a := j.actions[id]
		if a.State != StateUndone || a.Undoing == 0 || a.Undoing < last {
			continue
		}
		if a.Undoing > last {
			last, out = a.Undoing, nil
		}
		out = append(out, a.clone())
	}
	return out
}

// redoing is one call of Redo.
type redoing struct {
	journal  *Journal
	operator *Operator
	files    undoFiles
	byPath   map[string]*redoFile
	order    []*redoFile
}

// redoFile is a file from the beginning to the end of an undoing.
type redoFile struct {
	path        string
	found, left ContentID // "": no file
	file        *undoFile
	how         UndoHow
	err         error
}

// note takes down what the undoing of an action did to its files.
func (r *redoing) note(a TaskAction) {
	r.noteFile(a.Path, a.Found, a.Left)
	if a.Kind == ActionRename {
		r.noteFile(a.NewPath, a.Moved, "")
	}
}

// noteFile joins what was done to a file: it found what the first found, and left what
// the last left.
func (r *redoing) noteFile(path string, found, left ContentID) {
	if f := r.of(path); f != nil {
		f.left = left
		return
	}
	f := &redoFile{path: path, found: found, left: left}
	if r.byPath == nil {
		r.byPath = map[string]*redoFile{}
	}
	r.byPath[path] = f
	r.order = append(r.order, f)
}

func (r *redoing) of(path string) *redoFile { return r.byPath[path] }

// bringBack works out what is to stand in the file.
func (f *redoFile) bringBack(ctx context.Context, r *redoing) {
	f.file, f.err = r.files.open(ctx, f.path)
	if f.err != nil {
		return
	}
	f.how, f.err = f.restore(r.journal)
	f.file.wanted = f.err == nil
}

// restore takes the undoing, from what it found to what it left, out of the file.
func (f *redoFile) restore(j *Journal) (UndoHow, error) {
	now := contentOf(f.file.now)
	switch {
	case now == f.found:
		return UndoAlready, nil
	case now != f.left && f.left == "":
		return "", ErrInTheWay
	case now != f.left && f.found == "":
		return "", fmt.Errorf("%w, so it is not deleted", ErrChangedSince)
	case f.found == "":
		f.file.now = nil
		return UndoRestored, nil
	case f.left == "":
		found, err := j.content(f.found)
		if err != nil {
			return "", err
		}
		f.file.now = found
		return UndoRestored, nil
	}
	text, how, err := j.unwrite(f.found, f.left, f.file.now)
	if err == nil {
		f.file.now = text
	}
	return how, err
}

// results says what came of each file, and how many were left alone.
func (r *redoing) results() (results []Undone, kept int) {
	slices.SortFunc(r.order, func(a, b *redoFile) int { return strings.Compare(a.path, b.path) })
	for _, f := range r.order {
		u := Undone{Path: f.path, Kind: ActionEdit, How: f.how}
		if f.err == nil && f.file.err != nil {
			f.err = f.file.err
		}
		if f.err != nil {
			u.How, u.Err = UndoKept, f.err
			kept++
		} else {
			u.Err = f.file.note
		}
		results = append(results, u)
	}
	return results, kept
}

// redone takes down that an action stands again; of one whose file was left alone, that
// it is not to be brought back any more.
func (j *Journal) redone(a TaskAction, f *redoFile) error {
	var left ContentID
	if f.err == nil {
		left = j.keep(f.file.left(), false)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now, ok := j.actions[a.ID]
	if !ok || now.State != StateUndone {
		return nil // forgotten meanwhile
	}
	next := now.clone()
	next.Undoing = 0
	if f.err == nil {
		if err := next.move(StateApplied, broughtBack); err != nil {
			return err
		}
		next.Found, next.Left, next.Moved = left, left, ""
	}
	j.put(&next)
	j.flush(false)
	return nil
}

// broughtBack is why an action is applied that was undone.
const broughtBack = "brought back after it was undone"
