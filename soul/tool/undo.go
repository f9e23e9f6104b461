package tool

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kimi-acp/fileop"
)

// Undo takes back the edits of the last turns that made some, the newest first,
// and says what came of it, a line for each file. What the user did since stays.
func (j *Journal) Undo(ctx context.Context, turns int) string {
	if err := j.changes.enter(ctx); err != nil {
		return "Nothing was taken back: " + err.Error()
	}
	defer j.changes.leave()
	applied := j.applied()
	var numbers []int
	for _, a := range applied {
		if !slices.Contains(numbers, a.Cause.Turn) {
			numbers = append(numbers, a.Cause.Turn)
		}
	}
	if len(numbers) == 0 {
		return nothingStands
	}
	return "Taken back:\n" + j.undoSince(ctx, numbers[max(len(numbers)-turns, 0)], 0) + redoHint
}

// UndoSince takes back the edits of a turn and of those after it, the newest first,
// and says what came of it, a line for each file; "" when no edit of theirs stands. With
// a step, > 0, the edits of earlier steps of that turn stay.
func (j *Journal) UndoSince(ctx context.Context, first, step int) string {
	if err := j.changes.enter(ctx); err != nil {
		return "- Nothing was taken back: " + err.Error() + "\n"
	}
	defer j.changes.leave()
	return j.undoSince(ctx, first, step)
}

func (j *Journal) undoSince(ctx context.Context, first, step int) string {
	undone, err := j.journal.Undo(ctx, j.operator, fileop.Which{Turn: first, Step: step, Later: true})
	return j.takenBack(undone, err)
}

// UndoSteps takes back the edits of the last steps that made some, of whatever turns, the
// newest first, and says what came of it. A step is one answer of the model with its
// calls.
func (j *Journal) UndoSteps(ctx context.Context, steps int) string {
	if err := j.changes.enter(ctx); err != nil {
		return "Nothing was taken back: " + err.Error()
	}
	defer j.changes.leave()
	type step struct{ turn, step int }
	var made []step
	for _, a := range j.applied() {
		if s := (step{a.Cause.Turn, a.Cause.Step}); !slices.Contains(made, s) {
			made = append(made, s)
		}
	}
	if len(made) == 0 {
		return nothingStands
	}
	since := made[max(len(made)-steps, 0)]
	return "Taken back:\n" + j.undoSince(ctx, since.turn, since.step) + redoHint
}

const redoHint = "\n`/redo` brings back what stood in the files.\n"

const nothingStands = "There is nothing to take back: no edit of this session stands."

// Redo brings back what the last undoing took back, and says what came of it. Called
// again, it goes on with the undoing before.
func (j *Journal) Redo(ctx context.Context) string {
	leave, err := j.alone(ctx)
	if err != nil {
		return fmt.Sprintf("Nothing was brought back: %v.", err)
	}
	defer leave()
	back, err := j.journal.Redo(ctx, j.operator)
	if len(back) == 0 && err != nil {
		return fmt.Sprintf("There is nothing to bring back: %v.", err)
	}
	var out strings.Builder
	out.WriteString("Brought back:\n")
	for _, u := range back {
		fmt.Fprintf(&out, "- `%s`: %s\n", j.short(u.Path), howRedone(u))
	}
	if err != nil {
		fmt.Fprintf(&out, "- It broke off: %v\n", err)
	}
	return out.String()
}

func howRedone(u fileop.Undone) string {
	switch u.How {
	case fileop.UndoRestored:
		return "as it was before it was taken back"
	case fileop.UndoMerged:
		return "the edit is back, what was changed since stays"
	case fileop.UndoAlready:
		return "it was back already"
	}
	return "left as it is: " + u.Err.Error()
}

// UndoChange takes back one change, which is named as Changes does or by its number
// alone, and says what came of it.
func (j *Journal) UndoChange(ctx context.Context, id string) string {
	if _, err := strconv.Atoi(id); err == nil {
		id = "a" + id
	}
	return j.undoReviewed(ctx, Reviewed{Action: fileop.ActionID(id)})
}

// UndoFile takes back all changes that stand in a file, and says what came of them.
func (j *Journal) UndoFile(ctx context.Context, path string) string {
	return j.undoReviewed(ctx, Reviewed{Path: path})
}

func (j *Journal) undoReviewed(ctx context.Context, r Reviewed) string {
	undone, _, err := j.Reject(ctx, r)
	if err != nil {
		return fmt.Sprintf("Nothing was taken back: %v. `/changes` lists what stands.", err)
	}
	return j.takenBack(undone, nil) + redoHint
}

// takenBack says for people what came of undoing.
func (j *Journal) takenBack(undone []fileop.Undone, err error) string {
	var out strings.Builder
	for _, u := range undone {
		fmt.Fprintf(&out, "- `%s`: %s\n", j.short(u.Path), howUndone(u))
	}
	if err != nil {
		fmt.Fprintf(&out, "- It broke off: %v\n", err)
	}
	return out.String()
}

func howUndone(u fileop.Undone) string {
	switch {
	case u.How == fileop.UndoRestored:
		return "as it was before"
	case u.How == fileop.UndoMerged:
		return "the edit is taken out, what was changed since stays"
	case u.How == fileop.UndoAlready:
		return "it had been taken back already"
	case u.Err != nil:
		return "left as it is: " + u.Err.Error()
	}
	return "left as it is"
}
