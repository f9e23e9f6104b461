package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/fileop"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

func ptr(s string) *string { return &s }

func TestEditShowsAsksAndCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.files.set("/w/a", "one\ntwo\n")
		done := w.start(t.Context(), "1", "StrReplaceFile", `{"path":"a","edit":{"old":"two","new":"2"}}`)
		synctest.Wait()
		r := w.pending()["1"]
		if r.Sender != "StrReplaceFile" || r.Action != "edit file" || r.Description != "Edit file `/w/a`" {
			t.Errorf("the request is %+v", r)
		}
		files := []wire.FileChange{{Path: "/w/a", Old: ptr("one\ntwo\n"), New: "one\n2\n", Line: 2}}
		blocks := []wire.Block{{Type: wire.BlockDiff, Diff: &wire.DiffBlock{Path: "/w/a", OldText: "one\ntwo", NewText: "one\n2", OldStart: 1, NewStart: 1}}}
		if diff := cmp.Diff(files, r.Files); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(blocks, r.Display); diff != "" {
			t.Error(diff)
		}
		if got := w.told("1"); got != "waits+input waits+files" {
			t.Errorf("before the answer: %s", got)
		}
		if got, _ := w.files.get("/w/a"); got != "one\ntwo\n" {
			t.Errorf("written before the answer: %q", got)
		}
		w.answer("1", wire.ApprovalApprove, "")
		v := <-done
		if diff := cmp.Diff(wire.ToolReturnValue{Message: "Edited /w/a: 1 replacement made.", Files: files, Display: blocks}, v); diff != "" {
			t.Error(diff)
		}
		if got := w.told("1"); got != "waits+input waits+files runs" {
			t.Errorf("progress: %s", got)
		}
	})
}

func TestWriteFileMessages(t *testing.T) {
	w := newWorld(t, yes)
	for _, c := range []struct{ args, message, text string }{
		{`{"path":"n","content":"a\n"}`, "Made the file /w/n with 2 bytes.", "a\n"},
		{`{"path":"n","content":"b\n","mode":"append"}`, "Added 2 bytes to the end of /w/n.", "a\nb\n"},
		{`{"path":"n","content":"c"}`, "Replaced the text of /w/n by 1 byte.", "c"},
	} {
		v := w.call(t.Context(), "1", "WriteFile", c.args)
		if got, _ := w.files.get("/w/n"); v.IsError || v.Message != c.message || got != c.text {
			t.Errorf("%s: %q, text %q", c.args, v.Message, got)
		}
	}
}

func TestEditErrors(t *testing.T) {
	w := newWorld(t, yes)
	w.files.set("/w/a", "x")
	for _, c := range []struct{ name, args, message string }{
		{"StrReplaceFile", `{"path":"a","edit":{"old":"z","new":"y"}}`, "/w/a: text not found."},
		{"WriteFile", `{"path":"../a","content":""}`, "../a: outside the workspace."},
	} {
		v := w.call(t.Context(), "1", c.name, c.args)
		if !v.IsError || v.Message != c.message || brief(t, v) != c.message || v.Files != nil {
			t.Errorf("result %+v", v)
		}
	}
}

func TestEditorAdjusts(t *testing.T) {
	w := newWorld(t, yes)
	w.files.set("/w/a", "old\n")
	w.files.format = func(s string) string { return strings.ReplaceAll(s, "'", `"`) }
	v := w.call(t.Context(), "1", "WriteFile", `{"path":"a","content":"say('x')\n"}`)
	if v.IsError {
		t.Fatal(v.Message)
	}
	mustContain(t, v.Message, "the editor formatted it")
	mustContain(t, v.Output.Text, "-say('x')\n", "+say(\"x\")\n")
	want := []wire.FileChange{{Path: "/w/a", Old: ptr("old\n"), New: "say(\"x\")\n", Line: 1}}
	if diff := cmp.Diff(want, v.Files); diff != "" {
		t.Error(diff)
	}

	w.files.format = func(string) string { return "say(\"x\")\n" }
	v = w.call(t.Context(), "2", "WriteFile", `{"path":"a","content":"other\n"}`)
	if !v.IsError || v.Files != nil || brief(t, v) != "Not kept by the editor" {
		t.Errorf("an edit that left nothing: %+v", v)
	}
}

// TestStaleEdit changes the file between plan and commit, some times or always.
func TestStaleEdit(t *testing.T) {
	for _, c := range []struct {
		name   string
		meddle []string // the text at each commit, before the write; "=": left alone, "touch": stale with the same text
		asked  int
		want   string // the file's text at the end
		failed bool
	}{
		{"left alone", []string{"="}, 1, "head\nNEW\n", false},
		{"changed elsewhere once", []string{"HEAD\nold\n", "="}, 2, "HEAD\nNEW\n", false},
		{"same bytes", []string{"touch", "="}, 1, "head\nNEW\n", false},
		{"changed twice", []string{"1\nold\n", "2\nold\n"}, 2, "2\nold\n", true},
		{"the place is gone", []string{"other\n"}, 1, "other\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				w.files.set("/w/a", "head\nold\n")
				commits := 0
				w.files.onCommit = func(context.Context, fileop.Change) error {
					text := c.meddle[commits]
					commits++
					switch text {
					case "=":
					case "touch":
						return fmt.Errorf("/w/a: %w", fileop.ErrStale)
					default:
						w.files.set("/w/a", text)
					}
					return nil
				}
				done := w.start(t.Context(), "1", "StrReplaceFile", `{"path":"a","edit":{"old":"old","new":"NEW"}}`)
				for range c.asked {
					synctest.Wait()
					r := w.pending()["1"]
					now, _ := w.files.get("/w/a")
					if len(r.Files) != 1 || *r.Files[0].Old != now {
						t.Errorf("shown on %+v, the file is %q", r.Files, now)
					}
					w.answer("1", wire.ApprovalApprove, "")
				}
				v := <-done
				if got, _ := w.files.get("/w/a"); got != c.want || v.IsError != c.failed || commits != len(c.meddle) {
					t.Errorf("text %q after %d commits, result %+v", got, commits, v)
				}
				if strings.HasPrefix(c.name, "changed twice") {
					mustContain(t, v.Message, "nothing was written", "read it afresh")
				}
			})
		})
	}
}

// TestEditsOfOnePath: the second is planned on what the first has left.
func TestEditsOfOnePath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.files.set("/w/a", "12")
		first := w.start(t.Context(), "1", "StrReplaceFile", `{"path":"a","edit":{"old":"1","new":"one "}}`)
		synctest.Wait()
		second := w.start(t.Context(), "2", "StrReplaceFile", `{"path":"/w/a","edit":{"old":"2","new":"two"}}`)
		synctest.Wait()
		if open := w.pending(); len(open) != 1 || open["1"].ID == "" {
			t.Fatalf("open: %v", open)
		}
		w.answer("1", wire.ApprovalApprove, "")
		<-first
		synctest.Wait()
		if got := *w.pending()["2"].Files[0].Old; got != "one 2" {
			t.Errorf("the second edit is shown on %q", got)
		}
		w.answer("2", wire.ApprovalApprove, "")
		if v := <-second; v.IsError {
			t.Error(v.Message)
		}
		if got, _ := w.files.get("/w/a"); got != "one two" {
			t.Errorf("the text is %q", got)
		}
		if n := len(w.executor.edits.paths); n != 0 {
			t.Errorf("%d paths are kept", n)
		}
	})
}

// TestApprovalsSideBySide: edits of two paths are open at once and answered in
// reverse order, and reads go on meanwhile.
func TestApprovalsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		a := w.start(t.Context(), "a", "WriteFile", `{"path":"a","content":"x"}`)
		b := w.start(t.Context(), "b", "WriteFile", `{"path":"b","content":"x"}`)
		synctest.Wait()
		if len(w.pending()) != 2 {
			t.Fatalf("open: %v", w.pending())
		}
		w.files.set("/w/c", "c")
		if v := w.call(t.Context(), "r", "ReadFile", `{"path":"c"}`); v.IsError {
			t.Error(v.Message)
		}
		w.answer("b", wire.ApprovalApprove, "")
		<-b
		w.answer("a", wire.ApprovalApprove, "")
		<-a
		if diff := cmp.Diff([]string{"/w/b", "/w/a"}, w.files.writes); diff != "" {
			t.Error(diff)
		}
	})
}

// TestChangesGoOneAfterTheOther: a command that runs holds up a commit, not a read.
func TestChangesGoOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, yes)
		w.files.set("/w/c", "c")
		release := make(chan struct{})
		w.runner.run = func(context.Context, proc.Command) (proc.Outcome, error) {
			<-release
			return proc.Outcome{}, nil
		}
		command := w.start(t.Context(), "s", "Shell", `{"command":"make"}`)
		synctest.Wait()
		edit := w.start(t.Context(), "e", "WriteFile", `{"path":"a","content":"x"}`)
		synctest.Wait()
		if len(w.files.writes) != 0 || w.told("e") != "waits+input waits+files" {
			t.Errorf("wrote %q while a command ran; told %s", w.files.writes, w.told("e"))
		}
		if v := w.call(t.Context(), "r", "ReadFile", `{"path":"c"}`); v.IsError {
			t.Error(v.Message)
		}
		close(release)
		<-command
		if v := <-edit; v.IsError {
			t.Error(v.Message)
		}
	})
}

// TestCancelDuringCommit: a write that has begun gets a moment to end, so that
// what it did is told.
func TestCancelDuringCommit(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration
	}{{"it ends in time", commitGrace / 2}, {"it hangs", commitGrace * 2}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, yes)
				w.files.onCommit = func(ctx context.Context, _ fileop.Change) error {
					select {
					case <-time.After(c.takes):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := w.start(ctx, "1", "WriteFile", `{"path":"a","content":"x"}`)
				synctest.Wait()
				cancel()
				start := time.Now()
				v := <-done
				if c.takes < commitGrace {
					if v.IsError || len(v.Files) != 1 {
						t.Errorf("result %+v", v)
					}
					return
				}
				if took := time.Since(start); took != commitGrace {
					t.Errorf("returned after %v", took)
				}
				mustContain(t, v.Message, "it is not known whether it was")
				if !v.IsError || strings.Contains(v.Message, "before it had done anything") {
					t.Errorf("result %+v", v)
				}
			})
		})
	}
}

func TestWhatIsKnownAfterAWrite(t *testing.T) {
	w := newWorld(t, yes)
	w.files.unsaved = true
	v := w.call(t.Context(), "1", "WriteFile", `{"path":"a","content":"x"}`)
	mustContain(t, v.Message, "Made the file /w/a with 1 byte.", "has not saved it")
	w.files.unsaved, w.files.readBack = false, errors.New("gone")
	v = w.call(t.Context(), "2", "WriteFile", `{"path":"a","content":"y"}`)
	mustContain(t, v.Message, "could not be read back (gone)")
	if v.IsError || strings.Contains(v.Message, "has not saved") {
		t.Errorf("result %+v", v)
	}
}

func TestUnconfirmedWrite(t *testing.T) {
	w := newWorld(t, yes)
	w.files.onCommit = func(context.Context, fileop.Change) error {
		return fmt.Errorf("%w: %w", errors.New("the answer was lost"), fileop.ErrUnconfirmed)
	}
	v := w.call(t.Context(), "1", "WriteFile", `{"path":"a","content":"x"}`)
	if !v.IsError || brief(t, v) != "Written, but not confirmed" || len(v.Files) != 1 || v.Files[0].New != "x" {
		t.Errorf("result %+v", v)
	}
}

// TestWithRealOperator runs the edits through fileop.
func TestWithRealOperator(t *testing.T) {
	store := fileop.NewMem("/w")
	if err := store.Write(t.Context(), "/w/a", []byte("one\r\ntwo\r\n")); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) {
			o.Operator = fileop.New(fileop.Options{Disk: store, Roots: []string{"/w"}})
		})
		done := w.start(t.Context(), "1", "StrReplaceFile", `{"path":"a","edit":{"old":"one\ntwo","new":"1\n2"}}`)
		synctest.Wait()
		// The user changes the file while the approval is open.
		if err := store.Write(t.Context(), "/w/a", []byte("one\r\ntwo\r\nthree\r\n")); err != nil {
			t.Fatal(err)
		}
		w.answer("1", wire.ApprovalApprove, "")
		synctest.Wait()
		if got := w.pending()["1"].Files[0].New; got != "1\n2\nthree\n" {
			t.Errorf("asked again for %q", got)
		}
		w.answer("1", wire.ApprovalApprove, "")
		if v := <-done; v.IsError {
			t.Error(v.Message)
		}
		if got, err := store.Read(t.Context(), "/w/a"); err != nil || string(got) != "1\r\n2\r\nthree\r\n" {
			t.Errorf("the file is %q, %v", got, err)
		}
		v := w.call(t.Context(), "2", "ReadFile", `{"path":"a","line_offset":-1}`)
		if v.Output.Text != "     3\tthree\n" {
			t.Errorf("read %q, %s", v.Output.Text, v.Message)
		}
		v = w.call(t.Context(), "3", "StrReplaceFile", `{"path":"a","edit":[{"old":"1","new":"x"},{"old":"nowhere","new":"y"}]}`)
		mustContain(t, v.Message, "replacement 2 of 2", "Nothing was changed")
	})
}

func TestCountReplacements(t *testing.T) {
	before := "a a\nb a\n"
	for _, test := range []struct {
		rs   []fileop.Replacement
		want int
	}{
		{[]fileop.Replacement{{Old: "b", New: "c"}}, 1},
		{[]fileop.Replacement{{Old: "a", New: "x", All: true}}, 3},
		{[]fileop.Replacement{{Old: "b", New: "a"}, {Old: "a", New: "x", All: true}}, 5},
		{[]fileop.Replacement{{Old: "a\r\nb", New: "z"}, {Old: "a", New: "x", All: true}}, 3},
	} {
		if got := countReplacements(fileop.Change{Before: &before}, test.rs); got != test.want {
			t.Errorf("%+v: %d, want %d", test.rs, got, test.want)
		}
	}
}
