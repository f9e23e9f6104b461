package tool

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kimi-acp/fileop"
)

// Journal keeps the changes of a session, turn by turn, and takes them back. It may
// be used by several goroutines at once.
type Journal struct {
	journal  *fileop.Journal
	operator *fileop.Operator // the way on which edits are written, and taken back
	scans    *fileop.CommandScans
	folder   *fileop.JournalFolder // nil: in memory
	roots    []string
	changes  gate // held while anything of the session changes files

	mu     sync.Mutex
	turn   int // of the edits that are made now, from 1
	step   int // of that turn; 0: none was begun
	mark   fileop.Mark
	gaps   []gap
	cut    int  // how many of the latest scans in a row did not reach all files
	warned bool // the user knows that not everything could be kept
}

// journalBytes bounds the contents that a journal in memory keeps.
const journalBytes = 64 << 20

// scratchBytes bounds what such a journal keeps of the files around a command.
const scratchBytes = 16 << 20

// NewMemoryJournal makes a journal that ends with the process, and the Operator
// whose edits it records. o needs no Recorder. There is nothing to close.
func NewMemoryJournal(o fileop.Options) (*Journal, error) {
	j, err := fileop.OpenJournal(fileop.JournalOptions{File: io.Discard, Contents: fileop.NewMemContents(fileop.ContentLimits{Bytes: journalBytes})})
	if err != nil {
		return nil, fmt.Errorf("open a journal: %w", err)
	}
	return newJournal(j, &memoryScratch{}, fileop.ScanLimits{Bytes: scratchBytes}, o), nil
}

// OpenJournal opens the journal in a folder of the session's, which nobody else has
// open, and makes both where there are none. What was edited in an earlier process can
// be undone, and its turns are counted on from. o needs no Recorder. What cannot be
// written is kept in memory, and Notice says so. Close lets go of it.
func OpenJournal(dir string, o fileop.Options) (*Journal, error) {
	j, err := NewMemoryJournal(o)
	if err != nil {
		return nil, err
	}
	if err := j.Open(dir); err != nil {
		return nil, err
	}
	return j, nil
}

// Open makes a journal in which nothing was taken down yet, or one that was closed,
// that of a folder; see OpenJournal. An error leaves it as it was. It must not be
// called while anything else of the journal is.
func (j *Journal) Open(dir string) error {
	f, err := fileop.OpenJournalFolder(dir, fileop.ContentLimits{})
	if err != nil {
		return fmt.Errorf("open the session's journal: %w", err)
	}
	j.journal, j.folder, j.mark = f.Journal, f, f.Told()
	j.scans = fileop.NewCommandScans(j.operator, f.Journal, f.Scratch, fileop.ScanLimits{})
	all := f.Journal.Actions(fileop.Which{All: true})
	for _, a := range all {
		j.turn = max(j.turn, a.Cause.Turn)
	}
	j.tidy(all[max(0, len(all)-latestActions):])
	return nil
}

// latestActions are those of which a program that was killed may have left something
// half done.
const latestActions = 8

// tidy removes what was left half written where the journal's latest changes are.
func (j *Journal) tidy(latest []fileop.TaskAction) {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
	defer cancel()
	folders := map[string]bool{}
	for _, a := range latest {
		if dir := filepath.Dir(a.Path); !folders[dir] {
			folders[dir] = true
			j.operator.Tidy(ctx, a.Path)
		}
	}
}

// tidyTime bounds how long that may take: a prompt waits for it.
const tidyTime = 200 * time.Millisecond

func newJournal(j *fileop.Journal, s fileop.Scratch, l fileop.ScanLimits, o fileop.Options) *Journal {
	t := &Journal{journal: j, roots: o.Roots, changes: newGate(1)}
	o.Recorder = latest{t}
	t.operator = fileop.New(o)
	t.scans = fileop.NewCommandScans(t.operator, j, s, l)
	return t
}

// latest records in the journal that is open at the time.
type latest struct{ *Journal }

// Begin implements fileop.Recorder.
func (l latest) Begin(c fileop.Change, before []byte) (func(fileop.Outcome), error) {
	return l.journal.Begin(c, before)
}

// Stale implements fileop.Recorder.
func (l latest) Stale(c fileop.Change) { l.journal.Stale(c) }

// Close lets go of the journal's files. Only Open may be called afterwards.
func (j *Journal) Close() error {
	if j.folder == nil {
		return nil
	}
	f := j.folder
	j.folder = nil
	return f.Close()
}

// Notice is, once, a sentence for the user when not everything could be kept on disk;
// else "".
func (j *Journal) Notice() string {
	err := j.journal.Health().Err
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil || j.warned {
		return ""
	}
	j.warned = true
	return fmt.Sprintf("The changes of this session cannot be kept on disk (%v). They go on and can be undone until the agent ends, and no longer.", err)
}

// Operator is the Operator whose edits are recorded.
func (j *Journal) Operator() *fileop.Operator { return j.operator }

// BeginTurn says that what is edited from here on belongs to a new turn.
func (j *Journal) BeginTurn() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.turn, j.step = j.turn+1, 0
}

// BeginStep says that what is edited from here on belongs to a step of the turn, a
// number > 0 that grows.
func (j *Journal) BeginStep(step int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.step = step
}

// Turn is the turn to which edits belong now, from 1.
func (j *Journal) Turn() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return max(j.turn, 1)
}

// propose takes down a planned edit of a call.
func (j *Journal) propose(c *Invocation, change fileop.Change) fileop.Change {
	if j == nil {
		return change
	}
	return j.journal.Propose(j.cause(c), change)
}

// cause is that of what a call changes.
func (j *Journal) cause(c *Invocation) fileop.Cause {
	turn := j.Turn()
	j.mu.Lock()
	defer j.mu.Unlock()
	return fileop.Cause{Turn: turn, Step: j.step, ToolCall: c.ID, Tool: c.Name}
}

// rejected takes down that a proposed edit was turned down.
func (j *Journal) rejected(change fileop.Change, reason error) {
	if j != nil {
		// One that is not in the journal, as when it was full, has nothing to take down.
		_ = j.journal.Reject(change.Action(), reason.Error())
	}
}

// Changes lists the edits that stand, a line each.
func (j *Journal) Changes() string {
	applied, gaps := j.applied(), j.gapLines()
	if gaps != "" {
		gaps = "Of commands:\n" + gaps
	}
	if len(applied) == 0 {
		return "No edit of this session stands.\n" + gaps
	}
	var out strings.Builder
	out.WriteString("Edits that stand, the oldest first:\n")
	for _, a := range applied {
		fmt.Fprintf(&out, "- %s, turn %d: %s (%s)\n", a.ID, a.Cause.Turn, j.what(a), by(a))
	}
	out.WriteString(gaps)
	out.WriteString("`/undo` takes back those of the last turn, `/undo N` those of the last N, `/undo step` those of the last step, `/undo change a1` one, `/undo file PATH` those of a file, `/undo all` all. `/redo` brings back what was taken back last.")
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
	defer j.mu.Unlock()
	j.mark = next
	if j.folder != nil && len(findings) > 0 {
		// What is not taken down is told once more after the next start.
		_ = j.folder.SetTold(next)
	}
	return fileop.Report(findings)
}

// what names a change for people.
func (j *Journal) what(a fileop.TaskAction) string {
	if a.NewPath != "" {
		return fmt.Sprintf("%s `%s` to `%s`", a.Kind, j.short(a.Path), j.short(a.NewPath))
	}
	return fmt.Sprintf("%s `%s`", a.Kind, j.short(a.Path))
}

// by names what made a change for people.
func by(a fileop.TaskAction) string {
	switch {
	case a.Cause.Command && a.Confidence < surelyTheCommands:
		return "by a command, it seems"
	case a.Cause.Command:
		return "by a command"
	}
	return a.Cause.Tool
}

// surelyTheCommands is the confidence from which on a change is said to be a
// command's without a doubt.
const surelyTheCommands = 0.9

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
