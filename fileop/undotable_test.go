package fileop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

// The agent's edit in the table: of three lines it changes the second.
const (
	tableBefore = "one\ntwo\nthree\nfour\nfive\n"
	tableAfter  = "one\nTWO\nthree\nfour\nfive\n"
)

// moments are when the user may come between.
var moments = []string{"before it reads", "between reading and asking", "while it asks", "while it writes", "after it has read back"}

// doings are what the user may do, from the text that he sees.
var doings = []struct {
	name  string
	saves bool
	edit  func(string) string // nil: deletes the file
}{
	{"saves, another line", true, func(s string) string { return strings.Replace(s, "five", "FIVE by the user", 1) }},
	{"saves, the same line", true, sameLine},
	{"types, another line", false, func(s string) string { return strings.Replace(s, "five", "FIVE by the user", 1) }},
	{"types, the same line", false, sameLine},
	{"deletes the file", true, nil},
}

func sameLine(s string) string {
	lines := strings.SplitAfter(s, "\n")
	lines[1] = "two by the user\n"
	return strings.Join(lines, "")
}

// TestEveryOrder has the user come between at each moment, with each kind of editor,
// and undoes the edit then. What comes of it is the table in docs/files.md.
func TestEveryOrder(t *testing.T) {
	var table strings.Builder
	table.WriteString("| the user | when | no editor | editor reads | editor writes | editor does both |\n|---|---|---|---|---|---|\n")
	for _, doing := range doings {
		for _, moment := range moments {
			fmt.Fprintf(&table, "| %s | %s |", doing.name, moment)
			for _, way := range []string{"disk only", "reads only", "writes only", "both"} {
				outcome := ""
				t.Run(doing.name+"/"+moment+"/"+way, func(t *testing.T) {
					r := tableRun{desk: newDesk(t, ways[way]), moment: moment}
					r.user = func(path, shown string) {
						switch {
						case doing.edit == nil:
							if err := r.disk.Remove(t.Context(), path); err != nil && !r.gone() {
								t.Fatal(err)
							}
						case doing.saves:
							r.save(doing.edit(shown))
						default:
							r.editor.edit(path, doing.edit(shown))
						}
					}
					r.writes = doing.edit != nil
					outcome = r.run(ways[way])
				})
				fmt.Fprintf(&table, " %s |", outcome)
			}
			table.WriteString("\n")
		}
	}
	doc, err := os.ReadFile("../docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), table.String()) {
		t.Errorf("docs/files.md does not hold this table:\n%s", table.String())
	}
}

// tableRun is one row of the table with one kind of editor.
type tableRun struct {
	*desk
	moment string
	user   func(path, shown string)
	done   bool
	writes bool // the user writes something, rather than delete it
}

// at lets the user act if this is the moment.
func (r *tableRun) at(moment string) {
	if moment != r.moment || r.done {
		return
	}
	r.done = true
	shown, ok := r.editor.buffers[r.path]
	if !ok {
		data, err := r.disk.Read(r.Context(), r.path)
		if err != nil {
			r.Fatal(err)
		}
		shown = string(data)
	}
	r.user(r.path, shown)
}

func (r *tableRun) gone() bool {
	_, err := r.disk.Read(r.Context(), r.path)
	return err != nil
}

// everything is all that can be found of the file.
func (r *tableRun) everything() string {
	data, err := r.disk.Read(r.Context(), r.path)
	if err != nil {
		data = nil
	}
	return string(data) + r.editor.buffers[r.path]
}

// writeThen lets something happen after each write.
type writeThen struct {
	fileop.Store
	then func()
}

func (s writeThen) Write(ctx context.Context, path string, data []byte) error {
	err := s.Store.Write(ctx, path, data)
	s.then()
	return err
}

func (r *tableRun) run(w way) string {
	r.save(tableBefore)
	j := openMemJournal(r.T)
	then := func() { r.at("while it writes") }
	o := fileop.Options{Disk: r.disk, Roots: []string{r.root}, EditorReads: w.reads, EditorWrites: w.writes, Recorder: j}
	o.Disk = writeThen{r.disk, then}
	if w.reads || w.writes {
		o.Editor = writeThen{r.editor, then}
	}
	r.op = fileop.New(o)
	outcome := r.edit(j) + r.undo(j)
	if r.writes && !r.stands() {
		if _, err := j.Redo(r.Context(), r.op); err != nil {
			r.Fatal(err)
		}
		outcome += ", redo: the user's text"
	}
	if r.writes && !r.stands() {
		r.Error("what the user wrote is gone")
	}
	return outcome
}

// stands tells whether what the user wrote can be found.
func (r *tableRun) stands() bool {
	return strings.Contains(r.everything(), "by the user")
}

// edit is the agent at work.
func (r *tableRun) edit(j *fileop.Journal) string {
	r.at("before it reads")
	if _, err := r.op.Read(r.Context(), r.path); err != nil {
		return "not read: " + inShort(err)
	}
	r.at("between reading and asking")
	e := swap("two\n", "TWO\n")
	e.Path = r.path
	c, err := r.op.Plan(r.Context(), e)
	if err != nil {
		return "not written: " + inShort(err)
	}
	c = j.Propose(fileop.Cause{Turn: 1}, c)
	r.at("while it asks")
	if err := j.Approve(c.Action()); err != nil {
		r.Fatal(err)
	}
	result, err := r.op.Commit(r.Context(), c)
	if err != nil {
		return "not written: " + inShort(err)
	}
	r.at("after it has read back")
	if result.Adjusted {
		return "written, comes back different"
	}
	return "written"
}

func (r *tableRun) undo(j *fileop.Journal) string {
	results, err := j.Undo(r.Context(), r.op, fileop.Which{All: true})
	if err != nil {
		r.Fatal(err)
	}
	if len(results) == 0 {
		return ""
	}
	if results[0].How == fileop.UndoKept {
		return "; undo: kept, " + inShort(results[0].Err)
	}
	return "; undo: " + string(results[0].How)
}

// inShort is the error that a program would match.
func inShort(err error) string {
	for _, known := range []error{
		fileop.ErrConflict, fileop.ErrGone, fileop.ErrStale, fileop.ErrNoMatch, fileop.ErrDirtyBuffer, fs.ErrNotExist, fileop.ErrRefused,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

func openMemJournal(t testing.TB) *fileop.Journal {
	t.Helper()
	j, err := fileop.OpenJournal(fileop.JournalOptions{File: io.Discard, Contents: fileop.NewMemContents(fileop.ContentLimits{})})
	if err != nil {
		t.Fatal(err)
	}
	return j
}
