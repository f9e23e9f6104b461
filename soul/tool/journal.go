package tool

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kimi-acp/fileop"
)

// Journal keeps the edits of a session, turn by turn, and takes them back. It may
// be used by several goroutines at once.
type Journal struct {
	journal  *fileop.Journal
	operator *fileop.Operator // the way on which edits are written, and taken back
	roots    []string

	mu   sync.Mutex
	turn int // of the edits that are made now, from 1
	mark fileop.Mark
}

// journalBytes bounds the contents that a journal in memory keeps.
const journalBytes = 64 << 20

// NewMemoryJournal makes a journal that ends with the process, and the Operator
// whose edits it records. o needs no Recorder.
func NewMemoryJournal(o fileop.Options) (*Journal, error) {
	j, err := fileop.OpenJournal(fileop.JournalOptions{File: io.Discard, Contents: fileop.NewMemContents(fileop.ContentLimits{Bytes: journalBytes})})
	if err != nil {
		return nil, fmt.Errorf("open a journal: %w", err)
	}
	o.Recorder = j
	return &Journal{journal: j, operator: fileop.New(o), roots: o.Roots}, nil
}

// Operator is the Operator whose edits are recorded.
func (j *Journal) Operator() *fileop.Operator { return j.operator }

// BeginTurn says that what is edited from here on belongs to a new turn.
func (j *Journal) BeginTurn() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.turn++
}

// propose takes down a planned edit of a call.
func (j *Journal) propose(c *Invocation, change fileop.Change) fileop.Change {
	if j == nil {
		return change
	}
	j.mu.Lock()
	turn := max(j.turn, 1)
	j.mu.Unlock()
	return j.journal.Propose(fileop.Cause{Turn: turn, ToolCall: c.ID, Tool: c.Name}, change)
}

// rejected takes down that a proposed edit was turned down.
func (j *Journal) rejected(change fileop.Change, reason error) {
	if j != nil {
		// One that is not in the journal, as when it was full, has nothing to take down.
		_ = j.journal.Reject(change.Action(), reason.Error())
	}
}

// Undo takes back the edits of the last turns that made some, the newest first,
// and says what came of it, a line for each file. What the user did since stays.
func (j *Journal) Undo(ctx context.Context, turns int) string {
	applied := j.applied()
	var numbers []int
	for _, a := range applied {
		if !slices.Contains(numbers, a.Cause.Turn) {
			numbers = append(numbers, a.Cause.Turn)
		}
	}
	if len(numbers) == 0 {
		return "There is nothing to take back: no edit of this session stands."
	}
	first := numbers[max(len(numbers)-turns, 0)]
	undone, err := j.journal.Undo(ctx, j.operator, fileop.Which{Turn: first, Later: true})
	var out strings.Builder
	for _, u := range undone {
		fmt.Fprintf(&out, "- `%s`: %s\n", j.short(u.Path), howUndone(u))
	}
	if err != nil {
		fmt.Fprintf(&out, "- It broke off: %v\n", err)
	}
	return "Taken back:\n" + out.String()
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

// Changes lists the edits that stand, a line each.
func (j *Journal) Changes() string {
	applied := j.applied()
	if len(applied) == 0 {
		return "No edit of this session stands."
	}
	var out strings.Builder
	out.WriteString("Edits that stand, the oldest first:\n")
	for _, a := range applied {
		fmt.Fprintf(&out, "- turn %d: %s `%s` (%s)\n", a.Cause.Turn, a.Kind, j.short(a.Path), a.Cause.Tool)
	}
	out.WriteString("`/undo` takes back those of the last turn, `/undo N` those of the last N.")
	return out.String()
}

// Findings tells, for the model, what the user made of its edits since it was told
// last: kept, changed, refused. "" is nothing. It reads the files concerned.
func (j *Journal) Findings(ctx context.Context) string {
	j.mu.Lock()
	mark := j.mark
	j.mu.Unlock()
	findings, next, err := j.journal.Since(ctx, j.operator, mark)
	if err != nil {
		return "" // it comes with the next prompt
	}
	j.mu.Lock()
	j.mark = next
	j.mu.Unlock()
	return fileop.Report(findings)
}

func (j *Journal) applied() (out []fileop.TaskAction) {
	for _, a := range j.journal.Actions(fileop.Which{All: true}) {
		if a.State == fileop.StateApplied || a.State == fileop.StateReviewed {
			out = append(out, a)
		}
	}
	return out
}

// short names a file relative to the root that holds it.
func (j *Journal) short(path string) string {
	for _, root := range j.roots {
		if rel, err := filepath.Rel(root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return rel
		}
	}
	return path
}
