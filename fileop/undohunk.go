package fileop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Keep takes down that the user keeps parts of an applied change; without numbers all
// that are open, or the whole of a change without parts. No file is written. Errors
// are ErrNoAction, ErrNoHunk and ErrNotApplied.
func (j *Journal) Keep(id ActionID, hunks ...int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	a, ok := j.actions[id]
	if !ok {
		return fmt.Errorf("%q: %w", id, ErrNoAction)
	}
	next := a.clone()
	if err := next.keep(hunks, j.seq+1); err != nil {
		return err
	}
	j.put(&next)
	j.flush(false)
	return nil
}

// Refuse takes parts of an applied edit out of the file; without numbers all that
// are open. What was changed since is merged, or everything is kept as it is and the
// result says why. Hunks of a create, which is one part, are refused by deleting the
// file. Errors are those of Keep and ctx's.
func (j *Journal) Refuse(ctx context.Context, o *Operator, id ActionID, hunks ...int) (Undone, error) {
	j.reviews.Lock()
	defer j.reviews.Unlock()
	a, err := j.Action(id)
	if err != nil {
		return Undone{}, err
	}
	chosen, err := a.choose(hunks)
	if err != nil {
		return Undone{}, err
	}
	result := Undone{Action: a.ID, Kind: a.Kind, Path: a.Path, How: UndoAlready}
	if len(chosen) == 0 {
		return result, nil
	}
	files := undoFiles{operator: o}
	f, err := files.open(ctx, a.Path)
	if err == nil {
		result.How, err = j.refuse(f, a, chosen)
	}
	if err == nil {
		f.wanted = true
		files.flush(ctx)
		err = f.err
	}
	if err != nil {
		result.How, result.Err = UndoKept, err
		return result, ctx.Err()
	}
	result.Err = errors.Join(f.note, j.refused(a.ID, chosen, f))
	return result, nil
}

// keep gives hunks the verdict, or the whole when there are none.
func (a *TaskAction) keep(ids []int, seq uint64) error {
	if len(a.Hunks) == 0 && len(ids) == 0 && a.State == StateApplied {
		return a.move(StateReviewed, "")
	}
	if len(a.Hunks) == 0 && len(ids) == 0 && a.State == StateReviewed {
		return nil
	}
	chosen, err := a.choose(ids)
	if err != nil {
		return err
	}
	return a.review(chosen, VerdictKept, seq)
}

// choose gives the indexes of hunks that are named by number; none named: those that
// are open.
func (a TaskAction) choose(ids []int) ([]int, error) {
	if a.State != StateApplied && a.State != StateReviewed {
		return nil, fmt.Errorf("%s is %s: %w", a.ID, a.State, ErrNotApplied)
	}
	var chosen []int
	for i, h := range a.Hunks {
		if slices.Contains(ids, h.ID) || len(ids) == 0 && h.Verdict == "" {
			chosen = append(chosen, i)
		}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(a.Hunks, func(h ActionHunk) bool { return h.ID == id }) {
			return nil, fmt.Errorf("%s has no part %d: %w", a.ID, id, ErrNoHunk)
		}
	}
	if len(chosen) == 0 && len(a.Hunks) == 0 {
		return nil, fmt.Errorf("%s has no parts, undo the whole: %w", a.ID, ErrNoHunk)
	}
	return chosen, nil
}

// refuse works out the file without the chosen hunks.
func (j *Journal) refuse(f *undoFile, a TaskAction, chosen []int) (UndoHow, error) {
	if a.Kind == ActionCreate {
		return uncreate(f, a)
	}
	if f.now == nil {
		return "", ErrGone
	}
	before, after, err := j.images(a)
	if err != nil {
		return "", err
	}
	var hunks []ActionHunk
	for _, i := range chosen {
		hunks = append(hunks, a.Hunks[i])
	}
	without, ok := withoutHunks(before, after, hunks)
	if !ok {
		return "", ErrContentLost
	}
	merged, ok := mergeBytes(after, without, f.now)
	switch {
	case !ok:
		return "", ErrConflict
	case bytes.Equal(merged, f.now):
		return UndoAlready, nil
	}
	f.now = merged
	if bytes.Equal(merged, without) {
		return UndoRestored, nil
	}
	return UndoMerged, nil
}

// refused takes down that hunks were refused.
func (j *Journal) refused(id ActionID, chosen []int, f *undoFile) error {
	found, left := j.keep(f.was, false), j.keep(f.left(), false)
	j.mu.Lock()
	defer j.mu.Unlock()
	a, ok := j.actions[id]
	if !ok {
		return nil // forgotten meanwhile
	}
	next := a.clone()
	if err := next.review(chosen, VerdictRefused, j.seq+1); err != nil {
		return err
	}
	next.Found, next.Left = found, left
	j.put(&next)
	j.flush(false)
	return nil
}

// review gives hunks a verdict. When none is open any more the action is reviewed,
// and when all were refused it is undone.
func (a *TaskAction) review(chosen []int, v Verdict, seq uint64) error {
	for _, i := range chosen {
		if a.Hunks[i].Verdict == VerdictRefused && v == VerdictKept {
			return fmt.Errorf("part %d of %s was refused and is no longer there: %w", a.Hunks[i].ID, a.ID, ErrNotApplied)
		}
	}
	for _, i := range chosen {
		a.Hunks[i].Verdict, a.Hunks[i].Decided = v, seq
	}
	switch open := a.count(""); {
	case a.count(VerdictRefused) == len(a.Hunks):
		return a.move(StateUndone, "all of its parts were refused")
	case open == 0 && a.State == StateApplied:
		return a.move(StateReviewed, "")
	}
	return nil
}
