package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"kimi-acp/fileop"
	"kimi-acp/internal/policy"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

// keptWorld is an Executor on a folder on disk, with a journal in another one.
type keptWorld struct {
	*testing.T
	root, dir string
	journal   *Journal
	executor  *Executor
	runner    *fakeRunner
	calls     int
}

func newKeptWorld(t *testing.T, guard *Guard) *keptWorld {
	w := &keptWorld{T: t, root: t.TempDir(), dir: filepath.Join(t.TempDir(), "journal"), runner: &fakeRunner{}}
	w.open(guard)
	return w
}

// open begins as a process does that goes on with the session.
func (w *keptWorld) open(guard *Guard) {
	w.Helper()
	disk, err := fileop.OpenDisk(w.root)
	if err != nil {
		w.Fatal(err)
	}
	if w.journal, err = OpenJournal(w.dir, fileop.Options{Disk: disk, Roots: []string{w.root}}); err != nil {
		w.Fatal(err)
	}
	journal := w.journal
	w.Cleanup(func() {
		_ = journal.Close() // a test may have closed it
		if err := disk.Close(); err != nil {
			w.Error(err)
		}
	})
	if guard != nil {
		guard.Context.Roots = []string{w.root}
	}
	w.executor = NewExecutor(Options{Operator: w.journal.Operator(), Journal: w.journal, Runner: w.runner, Cwd: w.root, Guard: guard})
	if err := w.executor.SetMode(ModeYolo); err != nil {
		w.Fatal(err)
	}
}

// again ends the process and begins the next one.
func (w *keptWorld) again() {
	w.Helper()
	if err := w.journal.Close(); err != nil {
		w.Fatal(err)
	}
	w.open(nil)
}

func (w *keptWorld) call(name string, arguments map[string]any) wire.ToolReturnValue {
	w.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		w.Fatal(err)
	}
	w.calls++
	text := string(raw)
	return w.executor.CallTool(w.Context(), wire.ToolCallRequest{ID: "c", Name: name, Arguments: &text})
}

func (w *keptWorld) writes(name, text string) {
	w.Helper()
	if r := w.call("WriteFile", map[string]any{"path": filepath.Join(w.root, name), "content": text}); r.IsError {
		w.Fatalf("%+v", r)
	}
}

// runs lets a command do something to the files.
func (w *keptWorld) runs(command string, do func()) wire.ToolReturnValue {
	w.Helper()
	w.runner.run = func(context.Context, proc.Command) (proc.Outcome, error) {
		do()
		return proc.Outcome{}, nil
	}
	return w.call("Shell", map[string]any{"command": command})
}

func (w *keptWorld) put(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w *keptWorld) want(name, text string) {
	w.Helper()
	got, err := os.ReadFile(filepath.Join(w.root, name))
	if err != nil {
		got = []byte("none")
	}
	if string(got) != text {
		w.Errorf("%s holds %q, want %q", name, got, text)
	}
}

func (w *keptWorld) wantIn(got string, parts ...string) {
	w.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			w.Errorf("%q is not in %q", part, got)
		}
	}
}

// TestOpenJournal edits in one process and undoes in the next ones: turns are counted
// on, and the model is told once of what became of its edits.
func TestOpenJournal(t *testing.T) {
	w := newKeptWorld(t, nil)
	w.put("a.txt", "one\n")
	w.journal.BeginTurn()
	w.writes("a.txt", "two\n")
	w.again()
	w.journal.BeginTurn()
	w.writes("a.txt", "three\n")
	w.writes("b.txt", "new\n")
	w.wantIn(w.journal.Changes(), "turn 1: edit `a.txt`", "turn 2: edit `a.txt`", "turn 2: create `b.txt`")
	w.again()
	w.wantIn(w.journal.Undo(t.Context(), 1), "`a.txt`: as it was before", "`b.txt`: as it was before")
	w.want("a.txt", "two\n")
	w.want("b.txt", "none")
	w.again()
	w.wantIn(w.journal.Findings(t.Context()), "a.txt", "b.txt")
	w.again()
	if got := w.journal.Findings(t.Context()); got != "" {
		t.Errorf("the model is told twice: %q", got)
	}
	w.wantIn(w.journal.Undo(t.Context(), 1), "`a.txt`: as it was before")
	w.want("a.txt", "one\n")
	if n := w.journal.Notice(); n != "" {
		t.Errorf("the user is told %q", n)
	}
}

// TestJournalWithoutDisk takes the journal's folder away: edits are made and undone
// all the same, and the user is told once.
func TestJournalWithoutDisk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder that is open cannot be taken away")
	}
	w := newKeptWorld(t, nil)
	w.put("a.txt", "one\n")
	if err := os.RemoveAll(filepath.Join(w.dir, "contents")); err != nil {
		t.Fatal(err)
	}
	w.journal.BeginTurn()
	w.writes("a.txt", "two\n")
	w.want("a.txt", "two\n")
	w.wantIn(w.journal.Notice(), "cannot be kept on disk", "until the agent ends")
	w.writes("a.txt", "three\n")
	if n := w.journal.Notice(); n != "" {
		t.Errorf("the user is told twice: %q", n)
	}
	w.wantIn(w.journal.Undo(t.Context(), 1), "as it was before")
	w.want("a.txt", "one\n")
}

// TestCommandsAreJournaled runs commands that edit, make, delete and move files. Their
// changes are listed and undone, also after a restart.
func TestCommandsAreJournaled(t *testing.T) {
	w := newKeptWorld(t, nil)
	w.put("a.txt", "one\r\n")
	w.put("gone.txt", "was here\n")
	w.put("old.txt", "moves\n")
	w.journal.BeginTurn()
	r := w.runs("make", func() {
		w.put("a.txt", "two\r\n")
		w.put("new.txt", "new\n")
		if err := os.Remove(filepath.Join(w.root, "gone.txt")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(w.root, "old.txt"), filepath.Join(w.root, "moved.txt")); err != nil {
			t.Fatal(err)
		}
	})
	if r.IsError || r.Message != "Command executed successfully." {
		t.Errorf("%+v", r)
	}
	changes := w.journal.Changes()
	w.wantIn(changes, "edit `a.txt` (by a command)", "create `new.txt` (by a command)", "delete `gone.txt` (by a command)", "rename `old.txt` to `moved.txt` (by a command)")
	w.again()
	if got := w.journal.Changes(); got != changes {
		t.Errorf("after a restart: %s", got)
	}
	w.wantIn(w.journal.Undo(t.Context(), 1), "`a.txt`: as it was before")
	for name, text := range map[string]string{"a.txt": "one\r\n", "gone.txt": "was here\n", "old.txt": "moves\n", "moved.txt": "none", "new.txt": "none"} {
		w.want(name, text)
	}
}

// TestLookingCommandsAreNotWatched: what only looks costs no look at the files, and
// that a rule allows a command does not make it such a one.
func TestLookingCommandsAreNotWatched(t *testing.T) {
	for command, watched := range map[string]bool{
		"ls -la": false, "git status && cat a.txt | head -3": false,
		"tidyup": true, "ls > a.txt": true, "go fmt ./...": true, "true; tidyup": true,
	} {
		t.Run(command, func(t *testing.T) {
			guard := &Guard{Engine: sync.OnceValues(func() (*policy.Engine, error) {
				rules, err := policy.ParseRules("allow shell tidyup\n")
				if err != nil {
					return nil, err
				}
				return policy.New(policy.Options{Layers: []policy.Layer{{Scope: policy.User, Name: "test", Rules: rules}}})
			})}
			if _, err := guard.Engine(); err != nil {
				t.Fatal(err)
			}
			guard.Context.Trusted = true
			w := newKeptWorld(t, guard)
			w.put("a.txt", "one\n")
			w.journal.BeginTurn()
			w.runs(command, func() { w.put("a.txt", "two\n") })
			if got := strings.Contains(w.journal.Changes(), "by a command"); got != watched {
				t.Errorf("watched: %v", got)
			}
		})
	}
}

// TestUncoveredIsSaidOnce has a command change a file whose contents are too large to
// be kept beforehand.
func TestUncoveredIsSaidOnce(t *testing.T) {
	w := newKeptWorld(t, nil)
	large := strings.Repeat("x", 2<<20)
	w.put("large", large)
	w.journal.BeginTurn()
	r := w.runs("make", func() { w.put("large", large+"y") })
	w.wantIn(r.Message, "Not every change by this command can be undone")
	r = w.runs("make", func() { w.put("large", large+"yz") })
	if strings.Contains(r.Message, "Not every change") {
		t.Errorf("it is said again: %s", r.Message)
	}
	w.wantIn(w.journal.Changes(), "edit `large` (by a command, it seems)", "turn 1: Not every change by this command can be undone")
	w.wantIn(w.journal.Undo(t.Context(), 1), "`large`: left as it is")
	w.want("large", large+"yz")
}
