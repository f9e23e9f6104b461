package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kimi-acp/fileop"
)

// ErrBusy is the error of taking something back while a command or an edit runs.
var ErrBusy = errors.New("a command or an edit is under way; try again when it has ended")

// busyWait is how long taking something back waits for what is under way.
const busyWait = 2 * time.Second

// Reviewed names the changes that a person decides about: those of Action, or all that
// stand in the file Path; with Action only the numbered Hunks of it, if any.
type Reviewed struct {
	Action fileop.ActionID
	Path   string
	Hunks  []int
}

// List gives the changes of the session, the oldest first; without all, only those
// that stand.
func (j *Journal) List(all bool) []fileop.TaskAction {
	if all {
		return j.journal.Actions(fileop.Which{All: true})
	}
	return j.applied()
}

// Diff is a change as a unified diff; "" when its contents are no longer kept.
func (j *Journal) Diff(id fileop.ActionID) string {
	diff, err := j.journal.Diff(id)
	if err != nil {
		return ""
	}
	return diff
}

// Uncovered says of which commands not every change could be found, a sentence each.
func (j *Journal) Uncovered() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	notes := make([]string, 0, len(j.gaps))
	for _, g := range j.gaps {
		notes = append(notes, fmt.Sprintf("turn %d: %s", g.turn, g.note))
	}
	return notes
}

// Accept takes down that the user keeps what is named, and gives the changes as they
// are then. No file is written. Errors are fileop.ErrNoAction, also for a file in which
// no change stands, fileop.ErrNoHunk and fileop.ErrNotApplied.
func (j *Journal) Accept(r Reviewed) ([]fileop.TaskAction, error) {
	ids, err := j.reviewed(r)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := j.journal.Keep(id, r.Hunks...); err != nil {
			return nil, err
		}
	}
	return j.actions(ids), nil
}

// Reject takes what is named out of the files, the newest first, on the way on which
// edits are written: what the user changed since stays. It gives what came of each and
// the changes as they are then. Errors are those of Accept, ErrBusy and ctx's.
func (j *Journal) Reject(ctx context.Context, r Reviewed) ([]fileop.Undone, []fileop.TaskAction, error) {
	leave, err := j.alone(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	ids, err := j.reviewed(r)
	if err != nil {
		return nil, nil, err
	}
	var results []fileop.Undone
	switch {
	case len(r.Hunks) > 0:
		var one fileop.Undone
		one, err = j.journal.Refuse(ctx, j.operator, r.Action, r.Hunks...)
		results = append(results, one)
	case r.Action != "":
		results, err = j.journal.Undo(ctx, j.operator, fileop.Which{Action: r.Action})
	default:
		path, _ := j.operator.Resolve(r.Path) // reviewed has found changes under it
		results, err = j.journal.Undo(ctx, j.operator, fileop.Which{Path: path})
	}
	if err != nil {
		return nil, nil, err
	}
	return results, j.actions(ids), nil
}

// alone waits until nothing else of the session changes files, for a moment.
func (j *Journal) alone(ctx context.Context) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, busyWait)
	defer cancel()
	if err := j.changes.enter(waiting); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, ErrBusy
	}
	return j.changes.leave, nil
}

// reviewed lists the changes that are named.
func (j *Journal) reviewed(r Reviewed) ([]fileop.ActionID, error) {
	if r.Action != "" {
		_, err := j.journal.Action(r.Action)
		return []fileop.ActionID{r.Action}, err
	}
	path, err := j.operator.Resolve(r.Path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fileop.ErrNoAction, err)
	}
	var ids []fileop.ActionID
	for _, a := range j.applied() {
		if a.Path == path || a.NewPath == path {
			ids = append(ids, a.ID)
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("no change of %s stands: %w", j.short(path), fileop.ErrNoAction)
	}
	return ids, nil
}

func (j *Journal) actions(ids []fileop.ActionID) []fileop.TaskAction {
	var out []fileop.TaskAction
	for _, id := range ids {
		if a, err := j.journal.Action(id); err == nil { // else it was forgotten meanwhile
			out = append(out, a)
		}
	}
	return out
}
