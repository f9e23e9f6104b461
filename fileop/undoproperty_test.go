package fileop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kimi-acp/fileop"
	"kimi-acp/fileop/storetest"
)

// undoWorld is a folder that an agent, its commands and the user change, and a model
// of what the folder would be like had there only been the user.
type undoWorld struct {
	*rapid.T
	ctx     context.Context
	store   fileop.Store
	root    string
	op      *fileop.Operator
	journal *fileop.Journal
	scans   *fileop.CommandScans // nil: the store cannot be walked
	editor  *editor              // nil: there is none
	model   map[string][]string  // by name; lines with their ends
	end     string
	fresh   int
	turn    int
}

func newUndoWorld(ctx context.Context, t *rapid.T, store fileop.Store, root string, e *editor) *undoWorld {
	j, err := fileop.OpenJournal(fileop.JournalOptions{File: io.Discard, Contents: fileop.NewMemContents(fileop.ContentLimits{})})
	if err != nil {
		t.Fatal(err)
	}
	w := &undoWorld{
		T: t, ctx: ctx, store: store, root: root, journal: j, model: map[string][]string{}, turn: 1,
		editor: e,
		end:    rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end"),
	}
	w.op = w.operator(store, j)
	if _, ok := store.(*fileop.Disk); ok {
		w.scans = fileop.NewCommandScans(w.op, j, &memScratch{}, fileop.ScanLimits{})
	}
	mark := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark")
	for n := range rapid.IntRange(1, 3).Draw(t, "files") {
		var lines []string
		for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
			// The agent's lines and the user's, with a line between them that stays.
			lines = append(lines, w.line("agent", n, i), w.line("agent", n, i), w.line("stays", n, i), w.line("user", n, i), w.line("stays", n, i))
		}
		lines[0] = mark + lines[0]
		w.put(fmt.Sprintf("file%d", n), lines)
		w.model[fmt.Sprintf("file%d", n)] = lines
	}
	return w
}

// operator works on a store, and through the editor where there is one.
func (w *undoWorld) operator(disk fileop.Store, rec fileop.Recorder) *fileop.Operator {
	o := fileop.Options{Disk: disk, Roots: []string{w.root}, Recorder: rec}
	if w.editor != nil {
		o.Editor, o.EditorReads, o.EditorWrites = w.editor, true, true
	}
	return fileop.New(o)
}

func (w *undoWorld) line(whose string, at ...int) string {
	w.fresh++
	return fmt.Sprintf("%s %v %d%s", whose, at, w.fresh, w.end)
}

func (w *undoWorld) path(name string) string { return filepath.Join(w.root, name) }

// put writes as a program does: on disk into the file that is there.
func (w *undoWorld) put(name string, lines []string) {
	data := []byte(strings.Join(lines, ""))
	write := func() error { return w.store.Write(w.ctx, w.path(name), data) }
	if _, ok := w.store.(*fileop.Disk); ok {
		write = func() error { return os.WriteFile(w.path(name), data, 0o644) }
	}
	if err := write(); err != nil {
		w.Fatal(err)
	}
}

// see reads a file as the user sees it.
func (w *undoWorld) see(name string) ([]byte, error) {
	if w.editor != nil {
		return w.editor.Read(w.ctx, w.path(name))
	}
	return w.store.Read(w.ctx, w.path(name))
}

// save saves what is typed and not saved, as a user does who is about to run
// something.
func (w *undoWorld) save() {
	if w.editor == nil {
		return
	}
	for path, text := range w.editor.buffers {
		w.put(filepath.Base(path), []string{text})
		delete(w.editor.buffers, path)
	}
}

func (w *undoWorld) lines(name string) []string {
	data, err := w.see(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		w.Fatal(err)
	}
	return strings.SplitAfter(string(data), "\n")
}

// files reads everything that is there.
func (w *undoWorld) files(names ...string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		if data, err := w.see(name); err == nil {
			out[name] = string(data)
		}
	}
	return out
}

var undoNames = []string{"file0", "file1", "file2", "new0", "new1", "moved"}

// rewrite changes lines that are somebody's: one is rewritten, joined by more, or
// deleted.
func (w *undoWorld) rewrite(lines []string, whose string) []string {
	var at []int
	for i, l := range lines {
		if strings.Contains(l, whose) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return lines
	}
	i := rapid.SampledFrom(at).Draw(w.T, "line")
	mark := ""
	if strings.HasPrefix(lines[i], "\ufeff") {
		mark = "\ufeff"
	}
	var with []string
	switch rapid.SampledFrom([]string{"rewrite", "more", "delete"}).Draw(w.T, "how") {
	case "rewrite":
		with = []string{mark + w.line(whose)}
	case "more":
		with = []string{lines[i], w.line(whose), w.line(whose)}
	case "delete":
		if mark != "" {
			with = []string{mark + w.line(whose)}
		}
	}
	return slices.Concat(lines[:i:i], with, lines[i+1:])
}

// agentEdits lets the agent edit or make a file by a tool.
func (w *undoWorld) agentEdits() {
	name := rapid.SampledFrom(undoNames[:5]).Draw(w.T, "file")
	lines := w.lines(name)
	made := w.rewrite(lines, "agent")
	if lines == nil {
		made = []string{w.line("agent new"), w.line("agent new")}
	}
	text := strings.Join(made, "")
	c, err := w.op.Plan(w.ctx, fileop.Edit{Path: w.path(name), Content: &text})
	if errors.Is(err, fileop.ErrNoChange) {
		return
	}
	if err != nil {
		w.Fatal(err)
	}
	c = w.journal.Propose(fileop.Cause{Turn: w.turn}, c)
	if _, err := w.op.Commit(w.ctx, c); err != nil {
		w.Fatal(err)
	}
}

// command changes, makes, deletes or moves a file behind the operator's back.
func (w *undoWorld) command() {
	if w.scans == nil {
		return
	}
	w.save()
	scan, err := w.scans.Before(w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	name := rapid.SampledFrom(undoNames).Draw(w.T, "file")
	lines := w.lines(name)
	switch how := rapid.SampledFrom([]string{"edit", "edit", "delete", "move"}).Draw(w.T, "command"); {
	case lines == nil:
		w.put(name, []string{w.line("agent new")})
	case how == "edit":
		w.put(name, w.rewrite(lines, "agent"))
	case how == "delete":
		if err := w.store.Remove(w.ctx, w.path(name)); err != nil {
			w.Fatal(err)
		}
	case how == "move" && w.lines("moved") == nil:
		if err := os.Rename(w.path(name), w.path("moved")); err != nil {
			w.Fatal(err)
		}
	}
	if _, _, err := scan.After(w.ctx, fileop.Cause{Turn: w.turn}); err != nil {
		w.Fatal(err)
	}
}

// user changes lines of his own, in the file and in the model. What was deleted or
// moved by then he leaves alone.
func (w *undoWorld) user() {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(w.model))).Draw(w.T, "file")
	lines := w.lines(name)
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "user") })
	if i < 0 {
		return
	}
	at := slices.Index(w.model[name], lines[i])
	with := w.line("user")
	w.model[name] = slices.Clone(w.model[name])
	w.model[name][at], lines[i] = with, with
	if w.editor != nil && rapid.Bool().Draw(w.T, "unsaved") {
		w.editor.edit(w.path(name), strings.Join(lines, ""))
		return
	}
	w.save()
	w.put(name, lines)
}

func (w *undoWorld) run() {
	for range rapid.IntRange(1, 8).Draw(w.T, "steps") {
		switch rapid.SampledFrom([]string{"edit", "edit", "command", "user", "turn"}).Draw(w.T, "step") {
		case "edit":
			w.agentEdits()
		case "command":
			w.command()
		case "user":
			w.user()
		case "turn":
			w.turn++
		}
	}
}

func (w *undoWorld) want() map[string]string {
	want := map[string]string{}
	for name, lines := range w.model {
		want[name] = strings.Join(lines, "")
	}
	return want
}

func (w *undoWorld) undo(o *fileop.Operator, which fileop.Which) []fileop.Undone {
	results, err := w.journal.Undo(w.ctx, o, which)
	if err != nil {
		w.Fatal(err)
	}
	return results
}

// checkUndo runs random sequences on each kind of store: in memory, on disk, and
// through an editor that reads and writes, over a disk. -rapid.checks=1000 runs a
// thousand on each and takes some minutes; without it there are a thousand in memory
// and a hundred on the others, which wait for the disk.
func checkUndo(t *testing.T, check func(*undoWorld)) {
	t.Run("memory", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			for range 10 {
				root := filepath.Join(string(filepath.Separator), "work")
				w := newUndoWorld(t.Context(), rt, fileop.NewMem(root), root, nil)
				check(w)
			}
		})
	})
	for name, edits := range map[string]bool{"disk": false, "editor": true} {
		t.Run(name, func(t *testing.T) {
			base, n := t.TempDir(), 0
			rapid.Check(t, func(rt *rapid.T) {
				n++
				root := filepath.Join(base, fmt.Sprint(n))
				if err := os.Mkdir(root, 0o755); err != nil {
					rt.Fatal(err)
				}
				d, err := fileop.OpenDisk(root)
				if err != nil {
					rt.Fatal(err)
				}
				var e *editor
				if edits {
					e = &editor{disk: d}
				}
				check(newUndoWorld(t.Context(), rt, d, root, e))
				if err := d.Close(); err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}

// TestUndoGivesTheUsersBytes: once everything is undone, the files are what the user
// alone would have made of them, byte for byte; all at once, or turn by turn.
func TestUndoGivesTheUsersBytes(t *testing.T) {
	checkUndo(t, func(w *undoWorld) {
		w.run()
		before := w.files(undoNames...)
		var results []fileop.Undone
		if rapid.Bool().Draw(w.T, "turn by turn") {
			for ; w.turn > 0; w.turn-- {
				results = append(results, w.undo(w.op, fileop.Which{Turn: w.turn})...)
			}
		} else {
			results = w.undo(w.op, fileop.Which{All: true})
		}
		if diff := cmp.Diff(w.want(), w.files(undoNames...)); diff != "" {
			w.Fatalf("undone: %v\nfrom %q\n(-want +got):\n%s", results, before, diff)
		}
		for _, r := range results {
			if r.How == fileop.UndoKept || r.Err != nil {
				w.Fatalf("%+v", r)
			}
		}
		if again := w.undo(w.op, fileop.Which{All: true}); len(again) > 0 {
			w.Fatalf("undone twice: %v", again)
		}
	})
}

// diskFaults are what operating systems say when a file cannot be written.
var diskFaults = []error{
	&fs.PathError{Op: "write", Path: "file", Err: syscall.ENOSPC},
	&fs.PathError{Op: "read", Path: "file", Err: syscall.EIO},
	&fs.PathError{Op: "open", Path: "file", Err: syscall.EACCES},
	&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EXDEV},
	io.ErrShortWrite,
}

// TestUndoWithFaults lets one operation of the store fail, before or after it has
// done its work. Each file is old or new then, what is said to be undone is, and
// undoing again gives the user's bytes.
func TestUndoWithFaults(t *testing.T) {
	checkUndo(t, func(w *undoWorld) {
		w.run()
		old := w.files(undoNames...)
		fault := storetest.FailBefore
		if rapid.Bool().Draw(w.T, "after its work") {
			fault = storetest.FailAfter
		}
		at := rapid.IntRange(1, 20).Draw(w.T, "operation")
		why := rapid.SampledFrom(diskFaults).Draw(w.T, "fault")
		broken := w.operator(fault(w.store, at, why), nil)
		results := w.undo(broken, fileop.Which{All: true})
		now, want := w.files(undoNames...), w.want()
		kept := w.keptPaths(results)
		for _, name := range undoNames {
			text, there := now[name]
			undone, stays := want[name]
			if text == undone && there == stays {
				continue
			}
			was, wasThere := old[name]
			if !kept[w.path(name)] || !kept["moved"] && (text != was || there != wasThere) {
				w.Fatalf("%s is %q\nold %q\nnew %q\n%v", name, text, was, undone, results)
			}
		}
		w.undo(w.op, fileop.Which{All: true})
		if diff := cmp.Diff(want, w.files(undoNames...)); diff != "" {
			w.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// keptPaths are the files to which something was done that was not taken back. When a
// file was moved, "moved" is among them: then part of the way may have been gone.
func (w *undoWorld) keptPaths(results []fileop.Undone) map[string]bool {
	kept := map[string]bool{}
	for _, r := range results {
		a, err := w.journal.Action(r.Action)
		if err != nil {
			w.Fatal(err)
		}
		if r.How == fileop.UndoKept {
			kept[a.Path], kept[a.NewPath] = true, true
		}
		if a.Kind == fileop.ActionRename {
			kept["moved"] = true
		}
	}
	return kept
}

// TestUndoLosesNothing lets the user write anywhere. Whatever he wrote is still there
// after undoing, and a file of which nothing could be taken back is untouched.
func TestUndoLosesNothing(t *testing.T) {
	checkUndo(t, func(w *undoWorld) {
		w.run()
		for range rapid.IntRange(1, 4).Draw(w.T, "changes") {
			name := rapid.SampledFrom(undoNames).Draw(w.T, "file")
			lines := w.lines(name)
			at := rapid.IntRange(0, len(lines)).Draw(w.T, "at")
			upTo := rapid.IntRange(at, min(at+2, len(lines))).Draw(w.T, "up to")
			w.put(name, slices.Concat(lines[:at:at], []string{w.line("precious")}, lines[upTo:]))
			if rapid.IntRange(0, 5).Draw(w.T, "agent too") == 0 {
				w.agentEdits()
			}
		}
		old := w.files(undoNames...)
		results := w.undo(w.op, fileop.Which{All: true})
		now := w.files(undoNames...)
		all := strings.Join(slices.Collect(maps.Values(now)), "")
		for name, text := range old {
			for l := range strings.SplitAfterSeq(text, "\n") {
				if strings.Contains(l, "precious") && !strings.Contains(all, l) {
					w.Fatalf("%s lost %q\nold %q\nnew %q\n%v", name, l, text, now[name], results)
				}
			}
			taken := slices.ContainsFunc(results, func(r fileop.Undone) bool { return r.How != fileop.UndoKept })
			if !taken && now[name] != text {
				w.Fatalf("%s was to be kept and was not: %q, now %q\n%v", name, text, now[name], results)
			}
		}
	})
}

// memScratch is a Scratch in memory.
type memScratch struct{ data []byte }

func (m *memScratch) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memScratch) WriteAt(p []byte, at int64) (int, error) {
	if grow := int(at) + len(p) - len(m.data); grow > 0 {
		m.data = append(m.data, make([]byte, grow)...)
	}
	return copy(m.data[at:], p), nil
}

func (m *memScratch) Truncate(size int64) error {
	m.data = m.data[:size]
	return nil
}
