package fileop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Which says which actions are meant: one, or those of a file, of a step, of a turn, or
// all. The zero value means none.
type Which struct {
	Action ActionID
	Path   string // all of the file that is there, or was
	Turn   int    // all of this turn
	Step   int    // with Turn: of this step alone
	Later  bool   // with Turn: also what came later than that step or turn
	All    bool
}

func (w Which) means(a TaskAction) bool {
	c := a.Cause
	switch {
	case w.All:
		return true
	case w.Action != "":
		return a.ID == w.Action
	case w.Path != "":
		return a.Path == w.Path || a.NewPath == w.Path
	case w.Turn == 0:
		return false
	case c.Turn == w.Turn:
		return w.Step == 0 || c.Step == w.Step || w.Later && c.Step > w.Step
	}
	return w.Later && c.Turn > w.Turn
}

// UndoHow says what came of undoing an action.
type UndoHow string

// What can come of it.
const (
	UndoRestored UndoHow = "restored" // the bytes are those from before
	UndoMerged   UndoHow = "merged"   // taken out from among what was changed since
	UndoAlready  UndoHow = "already"  // somebody had taken it back; nothing was written
	UndoKept     UndoHow = "kept"     // nothing was done; Err says why
)

// Undone is what came of undoing one action.
type Undone struct {
	Action ActionID
	Kind   ActionKind
	Path   string // where the file is now, or was
	How    UndoHow
	// Err says why it was kept: ErrConflict, ErrGone, ErrInTheWay, ErrChangedSince,
	// ErrLaterChange, ErrContentLost, ErrUnderWay, ErrDirtyBuffer, or why the file
	// could not be read or written. With another How it is what was not as it should
	// be, or nil.
	Err error
}

// Undo takes actions back, the newest first, by the way on which edits are written.
// What was changed since stays: it is merged, or the action is kept and said why.
// All that is taken out of a file is written at once, but for what was done before and
// after a rename, so the file is as it was or as it is to be. The results come in the
// order of undoing; actions that do not stand in a file give none.
//
// An error is ctx's, or ErrNoAction or ErrNotApplied for a single action; results
// that come with it hold. Undoing again takes up what was left.
func (j *Journal) Undo(ctx context.Context, o *Operator, which Which) ([]Undone, error) {
	j.reviews.Lock()
	defer j.reviews.Unlock()
	if which.Action != "" && !which.All {
		a, err := j.Action(which.Action)
		if err != nil {
			return nil, err
		}
		if !a.standing() {
			return nil, fmt.Errorf("%s is %s: %w", a.ID, a.State, ErrNotApplied)
		}
	}
	u := undoing{journal: j, operator: o, files: undoFiles{operator: o}, hidden: j.hidden(), broken: map[string]error{}, number: j.nextUndoing()}
	actions := j.Actions(which)
	slices.Reverse(actions)
	for _, a := range actions {
		if !a.standing() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return u.results, err
		}
		u.takeBack(ctx, a)
		if a.Kind == ActionRename {
			u.flush(ctx) // what comes next needs to know where the file is
		}
	}
	u.flush(ctx)
	return u.results, ctx.Err()
}

// undoing is one call of Undo: first everything is worked out on the files as they
// are, then each is written.
type undoing struct {
	journal  *Journal
	operator *Operator
	number   uint64                  // of this undoing
	hidden   map[string][]TaskAction // by path: what has moved or deleted the file and stands
	broken   map[string]error        // by path: why the file cannot be read or written
	files    undoFiles
	steps    []undoStep
	results  []Undone
}

// hidden lists, by path, the standing actions after which a file is not there.
func (j *Journal) hidden() map[string][]TaskAction {
	hidden := map[string][]TaskAction{}
	for _, a := range j.Actions(Which{All: true}) {
		if a.standing() && (a.Kind == ActionRename || a.Kind == ActionDelete) {
			hidden[a.Path] = append(hidden[a.Path], a)
		}
	}
	return hidden
}

// reached tells whether nothing that stands has moved or deleted the file since.
func (u *undoing) reached(a TaskAction) bool {
	return !slices.ContainsFunc(u.hidden[a.Path], func(later TaskAction) bool { return later.after(a) })
}

// after tells whether an action was made after another one.
func (a TaskAction) after(other TaskAction) bool {
	n, _ := a.number()
	m, _ := other.number()
	return n > m
}

// undoStep is an action on its way back.
type undoStep struct {
	action TaskAction
	result Undone
	files  []*undoFile // that have to be written for it; nil: it is kept
}

func (u *undoing) takeBack(ctx context.Context, a TaskAction) {
	s := undoStep{action: a, result: Undone{Action: a.ID, Kind: a.Kind, Path: a.Path}}
	how, files, err := u.inverse(ctx, a)
	if err != nil {
		how, files = UndoKept, nil
		if a.Kind == ActionRename {
			s.result.Path = a.NewPath
		}
	}
	for _, f := range files {
		f.wanted = true
	}
	if err == nil && a.Kind == ActionDelete {
		u.uncover(a) // earlier changes of the file are taken out before it is written
	}
	s.result.How, s.result.Err, s.files = how, err, files
	u.steps = append(u.steps, s)
}

// inverse works out an action's way back. On an error no file has changed its mind.
func (u *undoing) inverse(ctx context.Context, a TaskAction) (UndoHow, []*undoFile, error) {
	if u.journal.isBegun(a.ID) {
		return "", nil, ErrUnderWay
	}
	if !u.reached(a) {
		return "", nil, ErrLaterChange
	}
	if err := u.broken[a.Path]; err != nil {
		return "", nil, err // or an earlier change would be taken back before a later one
	}
	f, err := u.files.open(ctx, a.Path)
	if err != nil {
		return "", nil, err
	}
	var how UndoHow
	switch a.Kind {
	case ActionCreate:
		how, err = uncreate(f, a)
	case ActionDelete:
		how, err = u.undelete(f, a)
	case ActionRename:
		return u.unrename(ctx, f, a)
	default:
		how, err = u.unedit(f, a)
	}
	return how, []*undoFile{f}, err
}

func uncreate(f *undoFile, a TaskAction) (UndoHow, error) {
	switch contentOf(f.now) {
	case "":
		return UndoAlready, nil
	case a.After:
		f.now = nil
		return UndoRestored, nil
	}
	return "", fmt.Errorf("%w, so it is not deleted", ErrChangedSince)
}

func (u *undoing) undelete(f *undoFile, a TaskAction) (UndoHow, error) {
	if f.now != nil {
		if contentID(f.now) == a.Before {
			return UndoAlready, nil
		}
		return "", ErrInTheWay
	}
	before, err := u.journal.content(a.Before)
	if err != nil {
		return "", err
	}
	f.now = before
	return UndoRestored, nil
}

func (u *undoing) unedit(f *undoFile, a TaskAction) (UndoHow, error) {
	now, how, err := u.journal.unwrite(a.Before, a.After, f.now)
	if err == nil {
		f.now = now
	}
	return how, err
}

// unwrite takes an edit, from the content before to that after it, out of what stands
// there now.
func (j *Journal) unwrite(before, after ContentID, now []byte) ([]byte, UndoHow, error) {
	switch contentOf(now) {
	case "":
		return nil, "", ErrGone
	case before:
		return now, UndoAlready, nil
	}
	old, err := j.content(before)
	if err != nil {
		return nil, "", err
	}
	if contentID(now) == after {
		return old, UndoRestored, nil
	}
	edited, err := j.content(after)
	if err != nil {
		return nil, "", err
	}
	merged, ok := mergeBytes(edited, old, now)
	switch {
	case !ok:
		return nil, "", ErrConflict
	case bytes.Equal(merged, now):
		return now, UndoAlready, nil
	}
	return merged, UndoMerged, nil
}

// unrename moves a file back, with what was changed in it since.
func (u *undoing) unrename(ctx context.Context, old *undoFile, a TaskAction) (UndoHow, []*undoFile, error) {
	moved, err := u.files.open(ctx, a.NewPath)
	if err != nil {
		return "", nil, err
	}
	switch {
	case moved.now == nil && contentOf(old.now) == a.Before && old.now != nil:
		return UndoAlready, []*undoFile{old, moved}, nil
	case moved.now == nil:
		return "", nil, ErrGone
	}
	text, how := moved.now, UndoRestored
	if a.Before != a.After {
		if text, how, err = u.journal.unwrite(a.Before, a.After, moved.now); err != nil {
			return "", nil, err
		}
	}
	if how == UndoAlready || contentID(text) != a.Before && a.Before != "" {
		how = UndoMerged
	}
	if old.now != nil && !bytes.Equal(old.now, text) {
		return "", nil, fmt.Errorf("%s: %w", old.path, ErrInTheWay)
	}
	old.now, moved.now, moved.goesTo = text, nil, old
	return how, []*undoFile{old, moved}, nil
}

// flush writes the files, says what came of each step, and takes it down.
func (u *undoing) flush(ctx context.Context) {
	u.files.flush(ctx)
	for _, f := range u.files.order {
		if f.err != nil {
			u.broken[f.path] = f.err
		}
	}
	for _, s := range u.steps {
		for _, f := range s.files {
			if f.err != nil {
				s.result.How, s.result.Err = UndoKept, f.err
				break
			}
			s.result.Err = errors.Join(s.result.Err, f.note)
		}
		if s.result.How != UndoKept {
			u.uncover(s.action)
			if err := u.journal.undone(s, u.number); err != nil {
				s.result.Err = errors.Join(s.result.Err, err)
			}
		}
		u.results = append(u.results, s.result)
	}
	u.steps, u.files = nil, undoFiles{operator: u.operator}
}

// uncover forgets that an action has moved or deleted its file.
func (u *undoing) uncover(a TaskAction) {
	u.hidden[a.Path] = slices.DeleteFunc(u.hidden[a.Path], func(h TaskAction) bool { return h.ID == a.ID })
}

// undone takes down that an action was taken back, by which undoing.
func (j *Journal) undone(s undoStep, number uint64) error {
	f := s.files[0]
	found, left, moved := j.keep(f.was, false), j.keep(f.left(), false), ContentID("")
	if len(s.files) > 1 {
		moved = j.keep(s.files[1].was, false)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	a, ok := j.actions[s.action.ID]
	if !ok {
		return nil // forgotten meanwhile
	}
	next := *a
	if err := next.move(StateUndone, string(s.result.How)); err != nil {
		return err
	}
	next.Found, next.Left, next.Moved, next.Undoing = found, left, moved, 0
	if s.result.How != UndoAlready {
		next.Undoing = number
	}
	j.put(&next)
	j.flush(false)
	return nil
}

func (j *Journal) isBegun(id ActionID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.begun[id]
}
