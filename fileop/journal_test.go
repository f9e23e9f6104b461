package fileop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kimi-acp/fileop"
	"kimi-acp/fileop/storetest"
)

// ledger is a desk with a journal.
type ledger struct {
	*desk
	journal *fileop.Journal
	file    *bytes.Buffer // the journal's
	kept    fileop.Contents
}

func newLedger(t *testing.T, w way) *ledger {
	l := &ledger{desk: newDesk(t, w), file: &bytes.Buffer{}, kept: fileop.NewMemContents(fileop.ContentLimits{})}
	l.reopen(w)
	return l
}

// reopen goes on as after a restart.
func (l *ledger) reopen(w way) {
	l.Helper()
	l.journal = l.open(strings.NewReader(l.file.String()), l.file)
	l.op = fileop.New(fileop.Options{
		Disk: l.disk, Editor: l.editor, EditorReads: w.reads, EditorWrites: w.writes, Roots: []string{l.root}, Recorder: l.journal,
	})
}

func (l *ledger) open(old io.Reader, file io.Writer) *fileop.Journal {
	l.Helper()
	j, err := fileop.OpenJournal(fileop.JournalOptions{
		Old: old, File: file, Contents: l.kept, Now: func() time.Time { return time.Unix(1_000_000_000, 0).UTC() },
	})
	if err != nil {
		l.Fatal(err)
	}
	return j
}

// edits proposes an edit, has it approved and commits it.
func (l *ledger) edits(turn, step int, e fileop.Edit) fileop.ActionID {
	l.Helper()
	if e.Path == "" {
		e.Path = l.path
	}
	c, err := l.op.Plan(l.Context(), e)
	if err != nil {
		l.Fatal(err)
	}
	c = l.journal.Propose(fileop.Cause{Session: "s", Turn: turn, Step: step, ToolCall: "call", Tool: "WriteFile"}, c)
	if err := l.journal.Approve(c.Action()); err != nil {
		l.Fatal(err)
	}
	if _, err := l.op.Commit(l.Context(), c); err != nil {
		l.Fatal(err)
	}
	return c.Action()
}

func (l *ledger) action(id fileop.ActionID) fileop.TaskAction {
	l.Helper()
	a, err := l.journal.Action(id)
	if err != nil {
		l.Fatal(err)
	}
	return a
}

func (l *ledger) wantState(id fileop.ActionID, want fileop.ActionState) {
	l.Helper()
	if a := l.action(id); a.State != want {
		l.Errorf("%s is %s (%s), want %s", id, a.State, a.Reason, want)
	}
}

func (l *ledger) undo(which fileop.Which) []fileop.Undone {
	l.Helper()
	results, err := l.journal.Undo(l.Context(), l.op, which)
	if err != nil {
		l.Fatal(err)
	}
	return results
}

// TestJournalFile checks the bytes of a journal.
func TestJournalFile(t *testing.T) {
	l := newLedger(t, ways["disk only"])
	l.save("a\n")
	l.edits(1, 2, content("b\n"))
	const (
		a = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
		b = "0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f"
	)
	common := `"kind":"edit","path":"` + l.path + `","cause":{"session":"s","turn":1,"step":2,"tool_call":"call","tool":"WriteFile"},`
	tail := `"confidence":1,"at":"2001-09-09T01:46:40Z"}`
	want := []string{
		`{"id":"a1","seq":1,` + common + `"state":"proposed",` + tail,
		`{"id":"a1","seq":2,` + common + `"state":"approved",` + tail,
		`{"id":"a1","seq":3,` + common + `"state":"approved","before":"` + a + `","after":"` + b + `",` + tail,
		`{"id":"a1","seq":4,` + common + `"state":"applied","before":"` + a + `","after":"` + b +
			`","hunks":[{"id":1,"old_start":1,"old_lines":1,"new_start":1,"new_lines":1}],` + tail,
	}
	lines := strings.Split(strings.TrimSuffix(l.file.String(), "\n"), "\n")
	for i, line := range lines {
		_, action, _ := strings.Cut(line, `"action":`)
		lines[i] = strings.TrimSuffix(action, "}")
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if prefix := `{"crc32c":"`; !strings.HasPrefix(l.file.String(), prefix) {
		t.Errorf("no sum in %s", l.file)
	}
}

// TestJournalStates follows actions to each of their ends.
func TestJournalStates(t *testing.T) {
	t.Run("rejected", func(t *testing.T) {
		l := newLedger(t, ways["disk only"])
		c := l.journal.Propose(fileop.Cause{Turn: 1}, l.plan(content("b\n")))
		if err := l.journal.Reject(c.Action(), "not now"); err != nil {
			t.Fatal(err)
		}
		l.wantState(c.Action(), fileop.StateRejected)
		var bug *fileop.MoveError
		if err := l.journal.Approve(c.Action()); !errors.As(err, &bug) || bug.From != fileop.StateRejected {
			t.Errorf("approved after it was rejected: %v", err)
		}
	})
	t.Run("stale", func(t *testing.T) {
		l := newLedger(t, ways["disk only"])
		c := l.journal.Propose(fileop.Cause{Turn: 1}, l.plan(content("b\n")))
		l.save("the user's\n")
		if _, err := l.op.Commit(t.Context(), c); !errors.Is(err, fileop.ErrStale) {
			t.Fatal(err)
		}
		l.wantState(c.Action(), fileop.StateStale)
	})
	t.Run("not proposed", func(t *testing.T) {
		l := newLedger(t, ways["disk only"])
		c := l.plan(content("b\n"))
		if c.Action() != "" {
			t.Errorf("it has the id %q", c.Action())
		}
		l.commit(c)
		if a := l.action("a1"); a.State != fileop.StateApplied || a.Kind != fileop.ActionCreate || a.Before != "" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("committed twice", func(t *testing.T) {
		l := newLedger(t, ways["disk only"])
		l.save("a\n")
		c := l.journal.Propose(fileop.Cause{Turn: 7}, l.plan(content("b\n")))
		l.commit(c)
		l.save("a\n")
		l.commit(c)
		l.wantState("a1", fileop.StateApplied)
		l.wantState("a2", fileop.StateApplied)
		if a := l.action("a2"); a.Cause.Turn != 7 {
			t.Errorf("the second has the cause %+v", a.Cause)
		}
	})
	t.Run("not taken by the editor", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("a\n")
		c := l.journal.Propose(fileop.Cause{}, l.plan(content("b\n")))
		l.editor.drops = true
		l.commit(c)
		l.wantState(c.Action(), fileop.StateRejected)
		c = l.journal.Propose(fileop.Cause{}, l.plan(content("b\n")))
		l.editor.drops = false
		l.editor.onWrite = func() error { return errors.Join(l.disk.Write(t.Context(), l.path, []byte("a\n")), errors.New("no")) }
		if _, err := l.op.Commit(t.Context(), c); !errors.Is(err, fileop.ErrRefused) {
			t.Fatal(err)
		}
		l.wantState(c.Action(), fileop.StateRejected)
	})
	t.Run("deleted while it was written", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("a\n")
		c := l.journal.Propose(fileop.Cause{}, l.plan(content("b\n")))
		l.editor.onWrite = func() error { return errors.Join(l.disk.Remove(t.Context(), l.path), errors.New("no")) }
		if _, err := l.op.Commit(t.Context(), c); !errors.Is(err, fileop.ErrUnconfirmed) {
			t.Fatal(err)
		}
		l.wantState(c.Action(), fileop.StateRejected)
	})
	t.Run("written, and the answer lost", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("a\n")
		c := l.journal.Propose(fileop.Cause{}, l.plan(content("b\n")))
		l.editor.onWrite = func() error { return errors.New("no") }
		if _, err := l.op.Commit(t.Context(), c); !errors.Is(err, fileop.ErrUnconfirmed) {
			t.Fatal(err)
		}
		l.wantState(c.Action(), fileop.StateApplied)
		l.editor.onWrite = nil
		l.undo(fileop.Which{Action: c.Action()})
		l.wantDisk("a\n")
	})
	t.Run("nobody saw the end", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("a\n")
		c := l.journal.Propose(fileop.Cause{}, l.plan(content("b\n")))
		l.editor.onWrite = func() error { l.editor.refuses = errors.New("closed"); return l.editor.refuses }
		if _, err := l.op.Commit(t.Context(), c); err == nil {
			t.Fatal("no error")
		}
		l.editor.onWrite, l.editor.refuses = nil, nil
		l.wantState(c.Action(), fileop.StateApproved)
		l.reopen(ways["both"])
		if r := l.undo(fileop.Which{All: true}); len(r) != 1 || r[0].How != fileop.UndoRestored {
			t.Errorf("%+v", r)
		}
		l.wantDisk("a\n")
		l.wantState(c.Action(), fileop.StateUndone)
	})
	t.Run("unknown", func(t *testing.T) {
		l := newLedger(t, ways["disk only"])
		for _, err := range []error{l.journal.Approve("a1"), l.journal.Reject("", "x"), l.journal.Keep("a7")} {
			if !errors.Is(err, fileop.ErrNoAction) {
				t.Errorf("%v, want ErrNoAction", err)
			}
		}
		if _, err := l.journal.Diff("a1"); !errors.Is(err, fileop.ErrNoAction) {
			t.Errorf("%v, want ErrNoAction", err)
		}
	})
}

// TestJournalBeforeTheWrite: what is needed for undoing is written down while the
// file still holds the old text.
func TestJournalBeforeTheWrite(t *testing.T) {
	l := newLedger(t, ways["both"])
	l.save("a\n")
	var then string
	l.editor.onWrite = func() error { then = l.file.String(); return nil }
	id := l.edits(1, 1, content("b\n"))
	dead := l.open(strings.NewReader(then), io.Discard)
	a, err := dead.Action(id)
	if err != nil || a.State != fileop.StateApproved || a.Before == "" {
		t.Errorf("a journal that ends during the write has %+v, %v", a, err)
	}
}

// failing is a journal's file that fails while err is set, after some bytes.
type failing struct {
	bytes.Buffer
	err   error
	after int
}

func (f *failing) Write(p []byte) (int, error) {
	if f.err == nil {
		return f.Buffer.Write(p)
	}
	n, _ := f.Buffer.Write(p[:min(f.after, len(p))])
	return n, f.err
}

// TestJournalCannotBeWritten makes a change that cannot be written down all the same,
// can undo it, and makes up for what it could not write once it can.
func TestJournalCannotBeWritten(t *testing.T) {
	l := newLedger(t, ways["disk only"])
	file := &failing{}
	l.journal = l.open(nil, file)
	l.op = fileop.New(fileop.Options{Disk: l.disk, Roots: []string{l.root}, Recorder: l.journal})
	l.save("a\n")
	full := errors.New("no space left")
	file.err, file.after = full, 10
	c := l.journal.Propose(fileop.Cause{}, l.plan(content("b\n")))
	if _, err := l.op.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	l.wantDisk("b\n")
	l.wantState(c.Action(), fileop.StateApplied)
	if r := l.undo(fileop.Which{All: true}); len(r) != 1 || r[0].How != fileop.UndoRestored || r[0].Err != nil {
		t.Errorf("%+v", r)
	}
	l.wantDisk("a\n")
	if h := l.journal.Health(); !errors.Is(h.Err, full) || h.Unwritten != 1 {
		t.Errorf("health %+v", h)
	}
	file.err = nil
	id := l.edits(1, 1, content("c\n"))
	if h := l.journal.Health(); h != (fileop.Health{}) {
		t.Errorf("health %+v", h)
	}
	later := l.open(&file.Buffer, io.Discard)
	if h := later.Health(); h.Damaged != 4 { // as many attempts were cut off
		t.Errorf("health %+v of\n%s", h, file)
	}
	want := []fileop.TaskAction{l.action(c.Action()), l.action(id)}
	if diff := cmp.Diff(want, later.Actions(fileop.Which{All: true})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// brokenContents cannot keep anything.
type brokenContents struct{ fileop.Contents }

func (brokenContents) Put([]byte, bool) (fileop.ContentID, error) { return "", errors.New("broken") }

func TestContentsCannotBeKept(t *testing.T) {
	for name, test := range map[string]struct {
		contents fileop.Contents
		undone   bool
		healthy  bool
	}{
		"broken": {brokenContents{fileop.NewMemContents(fileop.ContentLimits{})}, true, false},
		"full":   {fileop.NewMemContents(fileop.ContentLimits{Bytes: 1}), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t, ways["disk only"])
			l.kept = test.contents
			l.reopen(ways["disk only"])
			l.save("a\n")
			if _, err := l.op.Commit(t.Context(), l.plan(content("b\n"))); err != nil {
				t.Fatal(err)
			}
			l.wantDisk("b\n")
			if h := l.journal.Health(); (h.Err == nil) != test.healthy {
				t.Errorf("health %+v", h)
			}
			r := l.undo(fileop.Which{All: true})
			if test.undone {
				l.wantDisk("a\n")
				l.wantState("a1", fileop.StateUndone)
				return
			}
			if len(r) != 1 || !errors.Is(r[0].Err, fileop.ErrContentLost) {
				t.Errorf("%+v", r)
			}
			l.wantDisk("b\n")
			l.wantState("a1", fileop.StateApplied)
		})
	}
}

// TestJournalReopened cuts the file all over the place: what was whole is there, what was
// cut off is left out, and the journal goes on behind it.
func TestJournalReopened(t *testing.T) {
	l := newLedger(t, ways["disk only"])
	l.save("a\n")
	l.edits(1, 1, content("b\n"))
	l.edits(1, 2, content("c\n"))
	l.undo(fileop.Which{Step: 2, Turn: 1})
	whole := l.file.String()
	for cut := 0; cut <= len(whole); cut += 7 {
		file := bytes.NewBufferString(whole[:cut])
		j := l.open(strings.NewReader(whole[:cut]), file)
		actions := j.Actions(fileop.Which{All: true})
		c := j.Propose(fileop.Cause{}, fileop.Change{Path: "/new"})
		for _, a := range actions {
			if a.ID == c.Action() {
				t.Fatalf("cut at %d: the id %s is given twice", cut, a.ID)
			}
		}
		again := l.open(file, io.Discard).Actions(fileop.Which{All: true})
		if len(again) != len(actions)+1 || again[len(actions)].ID != c.Action() {
			t.Fatalf("cut at %d: %d actions became %d", cut, len(actions), len(again))
		}
		if diff := cmp.Diff(actions, again[:len(actions)], cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("cut at %d (-want +got):\n%s", cut, diff)
		}
	}
	if diff := cmp.Diff(l.journal.Actions(fileop.Which{All: true}), l.open(strings.NewReader(whole), io.Discard).Actions(fileop.Which{All: true})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJournalDamaged(t *testing.T) {
	l := newLedger(t, ways["disk only"])
	l.save("a\n")
	l.edits(1, 1, content("b\n"))
	whole := l.file.String()
	for name, old := range map[string]string{
		"a changed byte":  strings.Replace(whole, `"state":"applied"`, `"state":"applies"`, 1),
		"zeros":           whole + strings.Repeat("\x00", 512) + "\n",
		"a long line":     whole + strings.Repeat("x", 2<<20) + "\n",
		"other JSON":      whole + "{}\n[1]\nnull\n",
		"an empty action": whole + `{"crc32c":"a3e4b4e7","action":{}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			j := l.open(strings.NewReader(old), io.Discard)
			if h := j.Health(); h.Damaged == 0 {
				t.Errorf("health %+v", h)
			}
			if _, err := j.Action("a1"); err != nil {
				t.Error(err)
			}
		})
	}
	broken := errors.New("broken")
	_, err := fileop.OpenJournal(fileop.JournalOptions{Old: io.MultiReader(strings.NewReader(whole), brokenReader{broken}), File: io.Discard, Contents: l.kept})
	if !errors.Is(err, broken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

type brokenReader struct{ error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.error }

// TestJournalDiff shows a change as people read it.
func TestJournalDiff(t *testing.T) {
	l := newLedger(t, ways["disk only"])
	created := l.edits(1, 1, content("a\r\n"))
	edited := l.edits(1, 1, content("b\r\n"))
	for id, want := range map[fileop.ActionID]string{
		created: "--- /dev/null\n+++ PATH\n@@ -0,0 +1 @@\n+a\n",
		edited:  "--- PATH\n+++ PATH\n@@ -1 +1 @@\n-a\n+b\n",
	} {
		got, err := l.journal.Diff(id)
		if err != nil || strings.ReplaceAll(got, l.path, "PATH") != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}

// TestJournalSideBySide has many edits at once.
func TestJournalSideBySide(t *testing.T) {
	l := newLedger(t, ways["disk only"])
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 5 {
				text := fmt.Sprintln(n, i)
				c, err := l.op.Plan(t.Context(), fileop.Edit{Path: fmt.Sprint(l.root, "/", n), Content: &text})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := l.op.Commit(t.Context(), l.journal.Propose(fileop.Cause{Turn: 1, Step: n + 1}, c)); err != nil {
					t.Error(err)
				}
				l.journal.Actions(fileop.Which{Turn: 1})
			}
		})
	}
	wg.Wait()
	for n := range 8 {
		wg.Go(func() {
			if _, err := l.journal.Undo(t.Context(), l.op, fileop.Which{Turn: 1, Step: n + 1}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for n := range 8 {
		if data, err := l.disk.Read(t.Context(), fmt.Sprint(l.root, "/", n)); err == nil {
			t.Errorf("%d is still there: %q", n, data)
		}
	}
}

// TestCommitFaultsJournaled lets each operation of a commit fail. What the journal
// says then is what is in the file, and undoing gives the old text.
func TestCommitFaultsJournaled(t *testing.T) {
	for name, fault := range map[string]func(fileop.Store, int, error) *storetest.Fault{"before": storetest.FailBefore, "after": storetest.FailAfter} {
		for _, old := range []string{"a\n", "-"} {
			for n := range 5 {
				t.Run(fmt.Sprint(name, " ", n+1, " ", old), func(t *testing.T) {
					l := newLedger(t, ways["disk only"])
					if old != "-" {
						l.save(old)
					}
					c := l.journal.Propose(fileop.Cause{Turn: 1}, l.plan(content("b\n")))
					op := fileop.New(fileop.Options{Disk: fault(l.disk, n+1, errors.New("broken")), Roots: []string{l.root}, Recorder: l.journal})
					_, err := op.Commit(t.Context(), c)
					now, _ := l.disk.Read(context.Background(), l.path)
					a := l.action(c.Action())
					if stands := a.State == fileop.StateApplied; stands != (string(now) == "b\n") && a.State != fileop.StateApproved {
						t.Errorf("%+v, but the file holds %q; error %v", a, now, err)
					}
					l.undo(fileop.Which{All: true})
					now, err = l.disk.Read(context.Background(), l.path)
					if old == "-" && err == nil || old != "-" && string(now) != old {
						t.Errorf("undone to %q, %v", now, err)
					}
				})
			}
		}
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("{\"crc32c\":\"00000000\",\"action\":{}}\n"))
	f.Add([]byte("{\"crc32c\":\"a3e4b4e7\",\"action\":{\"id\":\"a1\"}}"))
	f.Fuzz(func(t *testing.T, old []byte) {
		o := fileop.JournalOptions{Old: bytes.NewReader(old), Contents: fileop.NewMemContents(fileop.ContentLimits{})}
		file := bytes.NewBuffer(bytes.Clone(old))
		o.File = file
		j, err := fileop.OpenJournal(o)
		if err != nil {
			t.Fatal(err)
		}
		c := j.Propose(fileop.Cause{}, fileop.Change{Path: "/new"})
		o.Old, o.File = file, io.Discard
		again, err := fileop.OpenJournal(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.Action(c.Action()); err != nil {
			t.Fatalf("what was written behind %q is not found: %v", old, err)
		}
	})
}
