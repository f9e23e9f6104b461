package fileop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

// TestUndoKinds undoes what a tool or a command did, after somebody else came by.
// A text of "-" is no file.
func TestUndoKinds(t *testing.T) {
	const five = "1\n2\n3\n4\n5\n"
	for _, test := range []struct {
		name          string
		before, after string // what the action found and left
		since         string // what is there when it is undone
		want          string
		how           fileop.UndoHow
		err           error

		renamed, sinceAtOld string // a rename: the text at the new path, and what stands at the old one then
		wantRenamed         string
	}{
		{name: "edit", before: five, after: "1\nX\n3\n4\n5\n", since: "1\nX\n3\n4\n5\n", want: five, how: fileop.UndoRestored},
		{name: "edit, others since", before: five, after: "1\nX\n3\n4\n5\n", since: "1\nX\n3\n4\nY\n", want: "1\n2\n3\n4\nY\n", how: fileop.UndoMerged},
		{name: "edit, conflict", before: five, after: "1\nX\n3\n4\n5\n", since: "1\nY\n3\n4\n5\n", want: "1\nY\n3\n4\n5\n", how: fileop.UndoKept, err: fileop.ErrConflict},
		{name: "edit, taken back by hand", before: five, after: "1\nX\n3\n4\n5\n", since: five, want: five, how: fileop.UndoAlready},
		{name: "edit, taken back by hand, others", before: five, after: "1\nX\n3\n4\n5\n", since: "1\n2\n3\n4\nY\n", want: "1\n2\n3\n4\nY\n", how: fileop.UndoAlready},
		{name: "edit, deleted since", before: five, after: "1\n", since: "-", want: "-", how: fileop.UndoKept, err: fileop.ErrGone},
		{name: "edit to nothing", before: five, after: "", since: "", want: five, how: fileop.UndoRestored},
		{name: "edit of nothing", before: "", after: five, since: five, want: "", how: fileop.UndoRestored},
		{name: "edit, not text since", before: five, after: "1\n", since: "1\x00", want: "1\x00", how: fileop.UndoKept, err: fileop.ErrConflict},
		{name: "edit, from what is no text", before: "\x00\xff", after: five, since: five, want: "\x00\xff", how: fileop.UndoRestored},
		{name: "edit, between what is no text", before: "\x00\xff", after: "\x00\xfe", since: "\x00\xfe", want: "\x00\xff", how: fileop.UndoRestored},
		{name: "edit, mark and CRLF", before: "\ufeff1\r\n2\r\n", after: "1\n2\n", since: "1\n2\n", want: "\ufeff1\r\n2\r\n", how: fileop.UndoRestored},
		{name: "create", before: "-", after: five, since: five, want: "-", how: fileop.UndoRestored},
		{name: "create, changed since", before: "-", after: five, since: "1\n", want: "1\n", how: fileop.UndoKept, err: fileop.ErrChangedSince},
		{name: "create, deleted since", before: "-", after: five, since: "-", want: "-", how: fileop.UndoAlready},
		{name: "create, empty", before: "-", after: "", since: "", want: "-", how: fileop.UndoRestored},
		{name: "create of what is no text", before: "-", after: "\x00", since: "\x00", want: "-", how: fileop.UndoRestored},
		{name: "create of what is no text, changed since", before: "-", after: "\x00", since: "\x01\x00", want: "\x01\x00", how: fileop.UndoKept, err: fileop.ErrChangedSince},
		{name: "delete", before: five, after: "-", since: "-", want: five, how: fileop.UndoRestored},
		{name: "delete of nothing in it", before: "", after: "-", since: "-", want: "", how: fileop.UndoRestored},
		{name: "delete of what is no text", before: "\x00", after: "-", since: "-", want: "\x00", how: fileop.UndoRestored},
		{name: "delete, another since", before: five, after: "-", since: "1\n", want: "1\n", how: fileop.UndoKept, err: fileop.ErrInTheWay},
		{name: "delete, the same since", before: five, after: "-", since: five, want: five, how: fileop.UndoAlready},
		{name: "rename", before: five, after: "-", renamed: five, since: "-", sinceAtOld: five, want: five, wantRenamed: "-", how: fileop.UndoRestored},
		{name: "rename, changed since", before: five, after: "-", renamed: five, since: "-", sinceAtOld: "1\n", want: "1\n", wantRenamed: "-", how: fileop.UndoMerged},
		{name: "rename, deleted since", before: five, after: "-", renamed: five, since: "-", sinceAtOld: "-", want: "-", wantRenamed: "-", how: fileop.UndoKept, err: fileop.ErrGone},
		{name: "rename, another at the old path", before: five, after: "-", renamed: five, since: "1\n", sinceAtOld: five, want: "1\n", wantRenamed: five, how: fileop.UndoKept, err: fileop.ErrInTheWay},
		{name: "rename, moved back by hand", before: five, after: "-", renamed: five, since: five, sinceAtOld: "-", want: five, wantRenamed: "-", how: fileop.UndoAlready},
		{name: "rename, copied back by hand", before: five, after: "-", renamed: five, since: five, sinceAtOld: five, want: five, wantRenamed: "-", how: fileop.UndoRestored},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScanDesk(t)
			path, moved := s.at("file"), s.at("moved")
			s.put(path, test.before)
			found := s.command(func() {
				s.put(path, test.after)
				if test.renamed != "" {
					s.put(moved, test.renamed)
				}
			})
			if len(found) != 1 {
				t.Fatalf("found %+v", found)
			}
			s.put(path, test.since)
			if test.sinceAtOld != "" {
				s.put(moved, test.sinceAtOld)
			}
			results := s.undo(fileop.Which{Action: found[0].ID})
			if len(results) != 1 || results[0].How != test.how || !errors.Is(results[0].Err, test.err) {
				t.Errorf("results %+v, want %s, %v", results, test.how, test.err)
			}
			s.want(path, test.want)
			if test.wantRenamed != "" {
				s.want(moved, test.wantRenamed)
			}
			state := fileop.StateUndone
			if test.how == fileop.UndoKept {
				state = fileop.StateApplied
			}
			if a, err := s.journal.Action(found[0].ID); err != nil || a.State != state {
				t.Errorf("it is %s, %v, want %s", a.State, err, state)
			}
		})
	}
}

// TestUndoWhich takes back what is meant and nothing else.
func TestUndoWhich(t *testing.T) {
	for _, test := range []struct {
		name  string
		which fileop.Which
		want  string
	}{
		{"nothing", fileop.Which{}, "1.1 1.2 2.1 2.2 3.1"},
		{"an action", fileop.Which{Action: "a2"}, "1.1 2.1 2.2 3.1"},
		{"a step", fileop.Which{Turn: 2, Step: 1}, "1.1 1.2 2.2 3.1"},
		{"a turn", fileop.Which{Turn: 2}, "1.1 1.2 3.1"},
		{"a step and what came later", fileop.Which{Turn: 2, Step: 2, Later: true}, "1.1 1.2 2.1"},
		{"a turn and what came later", fileop.Which{Turn: 2, Later: true}, "1.1 1.2"},
		{"everything", fileop.Which{All: true}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLedger(t, ways["disk only"])
			for _, at := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}} {
				text := fmt.Sprintf("%d.%d", at[0], at[1])
				l.edits(at[0], at[1], fileop.Edit{Path: filepath.Join(l.root, text), Content: &text})
			}
			l.undo(test.which)
			got := ""
			for _, name := range []string{"1.1", "1.2", "2.1", "2.2", "3.1"} {
				if _, err := l.disk.Read(t.Context(), filepath.Join(l.root, name)); err == nil {
					got += " " + name
				}
			}
			if got = strings.TrimSpace(got); got != test.want {
				t.Errorf("left are %q, want %q", got, test.want)
			}
		})
	}
}

// TestUndoInTheMiddle takes an older edit out from under newer ones, in any order.
func TestUndoInTheMiddle(t *testing.T) {
	for _, order := range [][]fileop.ActionID{{"a1", "a2", "a3"}, {"a2", "a1", "a3"}, {"a2", "a3", "a1"}, {"a3", "a1", "a2"}} {
		l := newLedger(t, ways["both"])
		l.save("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n")
		for n, e := range []fileop.Edit{swap("1\n", "one\n"), swap("4\n", "four\nand more\n"), swap("7\n", "")} {
			l.edits(1, n+1, e)
		}
		for _, id := range order {
			if r := l.undo(fileop.Which{Action: id}); len(r) != 1 || r[0].How == fileop.UndoKept {
				t.Errorf("%v: %+v", order, r)
			}
		}
		l.wantDisk("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n")
	}
}

// TestUndoWritesOnce takes a whole turn out of a file with one write.
func TestUndoWritesOnce(t *testing.T) {
	l := newLedger(t, ways["both"])
	l.save("1\n2\n3\n")
	for _, e := range []fileop.Edit{swap("1", "one"), swap("2", "two"), swap("3", "three"), swap("one", "eins")} {
		l.edits(1, 1, e)
	}
	l.editor.written = nil
	l.undo(fileop.Which{Turn: 1})
	if len(l.editor.written) != 1 || l.editor.written[0] != "1\n2\n3\n" {
		t.Errorf("the editor was sent %q", l.editor.written)
	}
}

// TestUndoThroughTheEditor has an editor with habits of its own.
func TestUndoThroughTheEditor(t *testing.T) {
	t.Run("formats", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("a\n")
		l.editor.format = func(s string) string { return s + "// formatted\n" }
		l.edits(1, 1, content("b\n"))
		l.wantDisk("b\n// formatted\n")
		l.editor.format = nil
		if r := l.undo(fileop.Which{All: true}); r[0].How != fileop.UndoRestored || r[0].Err != nil {
			t.Errorf("%+v", r)
		}
		l.wantDisk("a\n")
	})
	t.Run("formats what is written back", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("a\n")
		l.edits(1, 1, content("b\n"))
		l.editor.format = func(s string) string { return s + "// formatted\n" }
		if r := l.undo(fileop.Which{All: true}); r[0].How != fileop.UndoRestored || r[0].Err == nil {
			t.Errorf("%+v", r)
		}
	})
	t.Run("does not keep what is written back", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("a\n")
		id := l.edits(1, 1, content("b\n"))
		l.editor.drops = true
		if r := l.undo(fileop.Which{All: true}); r[0].How != fileop.UndoKept || !errors.Is(r[0].Err, fileop.ErrRefused) {
			t.Errorf("%+v", r)
		}
		l.wantState(id, fileop.StateApplied)
	})
	t.Run("refuses", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("a\n")
		l.edits(1, 1, content("b\n"))
		l.editor.refuses = errors.New("no")
		if r := l.undo(fileop.Which{All: true}); r[0].How != fileop.UndoKept || !errors.Is(r[0].Err, fileop.ErrRefused) {
			t.Errorf("%+v", r)
		}
		l.wantDisk("b\n")
	})
	t.Run("does not save", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.editor.hidesStyle, l.editor.keepsDirty = true, true
		l.save("\ufeffa\r\n")
		l.edits(1, 1, content("b\n"))
		if r := l.undo(fileop.Which{All: true}); r[0].How != fileop.UndoRestored {
			t.Errorf("%+v", r)
		}
		if got := l.editor.buffers[l.path]; plain(got) != "a\n" {
			t.Errorf("the editor shows %q", got)
		}
		l.wantDisk("\ufeffa\r\n")
	})
	t.Run("a created file that is not saved", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.editor.keepsDirty = true
		l.edits(1, 1, content("b\n"))
		if r := l.undo(fileop.Which{All: true}); r[0].How != fileop.UndoKept || !errors.Is(r[0].Err, fileop.ErrDirtyBuffer) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("typed back, not saved", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("a\n")
		l.edits(1, 1, content("b\n"))
		l.editor.edit(l.path, "a\n")
		if r := l.undo(fileop.Which{All: true}); r[0].How != fileop.UndoAlready {
			t.Errorf("%+v", r)
		}
		l.wantDisk("a\n")
	})
	t.Run("cannot write these bytes", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.save("caf\xe9\n")
		j := l.journal
		scan := l.commandOnDisk(func() { l.save("cafe\n") })
		if len(scan) != 1 {
			t.Fatalf("%+v", scan)
		}
		r, err := j.Undo(t.Context(), l.op, fileop.Which{All: true})
		if err != nil || r[0].How != fileop.UndoKept || !errors.Is(r[0].Err, fileop.ErrEncoding) {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("hides mark and line ends", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		l.editor.hidesStyle = true
		l.save("\ufeff1\r\n2\r\n3\r\n4\r\n")
		l.edits(1, 1, swap("2", "two"))
		l.editor.edit(l.path, "1\ntwo\n3\nfour, typed\n")
		if r := l.undo(fileop.Which{All: true}); r[0].How != fileop.UndoMerged {
			t.Errorf("%+v", r)
		}
		l.wantDisk("\ufeff1\r\n2\r\n3\r\nfour, typed\r\n")
	})
}

// TestUndoWhatMovedOn keeps earlier changes of a file that a later one has moved.
func TestUndoWhatMovedOn(t *testing.T) {
	s := newScanDesk(t)
	s.put(s.at("file"), "1\n2\n3\n")
	edit := s.command(func() { s.put(s.at("file"), "1\ntwo\n3\n") })[0]
	move := s.command(func() {
		if err := os.Rename(s.at("file"), s.at("moved")); err != nil {
			t.Fatal(err)
		}
	})[0]
	later := s.command(func() { s.put(s.at("moved"), "1\ntwo\nthree\n") })[0]
	if move.Kind != fileop.ActionRename || move.NewPath != s.at("moved") || move.Confidence != 0.9 {
		t.Fatalf("%+v", move)
	}
	if r := s.undo(fileop.Which{Action: edit.ID}); !errors.Is(r[0].Err, fileop.ErrLaterChange) {
		t.Errorf("%+v", r)
	}
	s.put(s.at("file"), "somebody else's\n")
	r := s.undo(fileop.Which{All: true})
	if len(r) != 3 || r[0].Action != later.ID || r[0].How != fileop.UndoRestored || !errors.Is(r[1].Err, fileop.ErrInTheWay) || !errors.Is(r[2].Err, fileop.ErrLaterChange) {
		t.Errorf("%+v", r)
	}
	s.want(s.at("file"), "somebody else's\n")
	s.want(s.at("moved"), "1\ntwo\n3\n")
	s.put(s.at("file"), "-")
	if r := s.undo(fileop.Which{All: true}); len(r) != 2 || r[0].How != fileop.UndoRestored || r[1].How != fileop.UndoRestored {
		t.Errorf("%+v", r)
	}
	s.want(s.at("file"), "1\n2\n3\n")
	s.want(s.at("moved"), "-")
}

func TestUndoErrors(t *testing.T) {
	l := newLedger(t, ways["disk only"])
	id := l.edits(1, 1, content("b\n"))
	if _, err := l.journal.Undo(t.Context(), l.op, fileop.Which{Action: "a9"}); !errors.Is(err, fileop.ErrNoAction) {
		t.Errorf("of no action: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := l.journal.Undo(ctx, l.op, fileop.Which{All: true}); !errors.Is(err, context.Canceled) || len(r) > 0 {
		t.Errorf("after the context: %v, %v", r, err)
	}
	l.wantDisk("b\n")
	l.undo(fileop.Which{Action: id})
	if _, err := l.journal.Undo(t.Context(), l.op, fileop.Which{Action: id}); !errors.Is(err, fileop.ErrNotApplied) {
		t.Errorf("twice: %v", err)
	}
	outside := fileop.New(fileop.Options{Disk: l.disk, Roots: []string{t.TempDir()}})
	l.edits(1, 1, content("c\n"))
	if r, err := l.journal.Undo(t.Context(), outside, fileop.Which{All: true}); err != nil || !errors.Is(r[0].Err, fileop.ErrOutside) {
		t.Errorf("in a workspace that has lost the folder: %+v, %v", r, err)
	}
}

// TestUndoWhileWriting leaves a change alone that is being written.
func TestUndoWhileWriting(t *testing.T) {
	l := newLedger(t, ways["both"])
	l.save("a\n")
	var during []fileop.Undone
	l.editor.onWrite = func() error {
		var err error
		during, err = l.journal.Undo(t.Context(), l.op, fileop.Which{All: true})
		return err
	}
	id := l.edits(1, 1, content("b\n"))
	if len(during) != 1 || !errors.Is(during[0].Err, fileop.ErrUnderWay) {
		t.Errorf("%+v", during)
	}
	l.wantState(id, fileop.StateApplied)
}
