package fileop_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/fileop"
	"kimi-acp/fileop/storetest"
)

// TestDeleteAndMove deletes and moves a file on each way, and takes it back.
func TestDeleteAndMove(t *testing.T) {
	tests := []struct {
		name string
		edit fileop.Edit
		file string // where it is then, "": nowhere
		want string
		kind fileop.ActionKind
	}{
		{"delete", fileop.Edit{Delete: true}, "", "", fileop.ActionDelete},
		{"delete by a patch", fileop.Edit{Delete: true, Patch: []fileop.Passage{{Old: []string{"a", "b"}}}}, "", "", fileop.ActionDelete},
		{"move", fileop.Edit{MoveTo: "sub/new.txt"}, "sub/new.txt", "a\r\nb\r\n", fileop.ActionRename},
		{"move and edit", fileop.Edit{MoveTo: "new.txt", Patch: []fileop.Passage{{Old: []string{"b"}, New: []string{"B"}}}}, "new.txt", "a\r\nB\r\n", fileop.ActionRename},
	}
	for _, test := range tests {
		for name, w := range ways {
			t.Run(test.name+", "+name, func(t *testing.T) {
				l := newLedger(t, w)
				l.save("a\r\nb\r\n")
				c := l.plan(test.edit)
				if c.Kind != test.kind || c.Before == nil || *c.Before != "a\nb\n" || c.Size != 6 {
					t.Errorf("planned %+v", c)
				}
				l.wantDisk("a\r\nb\r\n")
				l.commit(l.journal.Propose(fileop.Cause{Turn: 1}, c))
				if _, err := l.disk.Read(t.Context(), l.path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the old path: %v", err)
				}
				if test.file != "" {
					got, err := l.disk.Read(t.Context(), filepath.Join(l.root, test.file))
					if err != nil || string(got) != test.want {
						t.Errorf("the new path: %q, %v", got, err)
					}
				}
				actions := l.journal.Actions(fileop.Which{All: true})
				if len(actions) != 1 || actions[0].Kind != test.kind || actions[0].State != fileop.StateApplied {
					t.Errorf("recorded %+v", actions)
				}
				r := l.undo(fileop.Which{All: true})
				if len(r) != 1 || r[0].How != fileop.UndoRestored || r[0].Err != nil {
					t.Errorf("undone %+v", r)
				}
				l.wantDisk("a\r\nb\r\n")
				if test.file != "" {
					if _, err := l.disk.Read(t.Context(), filepath.Join(l.root, test.file)); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("the new path after undo: %v", err)
					}
				}
			})
		}
	}
}

func TestDeleteAndMoveRefused(t *testing.T) {
	remove, move := fileop.Edit{Delete: true}, fileop.Edit{MoveTo: "new.txt"}
	tests := []struct {
		name   string
		way    way
		disk   string
		buffer string
		edit   fileop.Edit
		want   error
	}{
		{"not there", way{}, "-", "-", remove, fs.ErrNotExist},
		{"not there to move", way{}, "-", "-", move, fs.ErrNotExist},
		{"unsaved", way{reads: true, writes: true}, "a", "b", remove, fileop.ErrDirtyBuffer},
		{"unsaved to move", way{reads: true, writes: true}, "a", "b", move, fileop.ErrDirtyBuffer},
		{"only in the editor", way{reads: true, writes: true}, "-", "b", remove, fileop.ErrDirtyBuffer},
		{"to itself", way{}, "a", "-", fileop.Edit{MoveTo: "file.txt"}, fileop.ErrNoChange},
		{"outside", way{}, "a", "-", fileop.Edit{MoveTo: "../new.txt"}, fileop.ErrOutside},
		{"onto a file", way{}, "a", "-", fileop.Edit{MoveTo: "taken.txt"}, fileop.ErrInTheWay},
		{"onto what is no text", way{}, "a", "-", fileop.Edit{MoveTo: "taken.bin"}, fileop.ErrInTheWay},
		{"new where one is", way{}, "a", "-", fileop.Edit{Content: ptr("b"), New: true}, fileop.ErrInTheWay},
		{"both", way{}, "a", "-", fileop.Edit{Delete: true, MoveTo: "new.txt"}, fileop.ErrBadEdit},
		{"content and move", way{}, "a", "-", fileop.Edit{Content: ptr("b"), MoveTo: "new.txt"}, fileop.ErrBadEdit},
		{"patch leaves a line", way{}, "a\nb\n", "-", fileop.Edit{Delete: true, Patch: []fileop.Passage{{Old: []string{"a"}}}}, fileop.ErrNoMatch},
		{"patch of what is no text", way{}, "a\x00", "-", fileop.Edit{MoveTo: "new.txt", Patch: []fileop.Passage{{Old: []string{"a"}}}}, fileop.ErrBinary},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, test.way)
			for name, text := range map[string]string{"taken.txt": "x", "taken.bin": "\x00"} {
				if err := d.disk.Write(t.Context(), filepath.Join(d.root, name), []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if test.disk != "-" {
				d.save(test.disk)
			}
			if test.buffer != "-" {
				d.editor.edit(d.path, test.buffer)
			}
			if _, err := d.op.Plan(t.Context(), withPath(test.edit, d.path)); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}

// TestDeleteAndMoveStale lets something happen between plan and commit.
func TestDeleteAndMoveStale(t *testing.T) {
	happens := map[string]struct {
		do   func(*desk)
		want error
	}{
		"changed": {func(d *desk) { d.save("b") }, fileop.ErrStale},
		"typed":   {func(d *desk) { d.editor.edit(d.path, "b") }, fileop.ErrDirtyBuffer},
		"deleted": {func(d *desk) { d.Must(d.disk.Remove(d.Context(), d.path)) }, fileop.ErrStale},
		"taken":   {func(d *desk) { d.Must(d.disk.Write(d.Context(), d.root+"/new.txt", []byte("x"))) }, fileop.ErrInTheWay},
	}
	for name, h := range happens {
		for kind, e := range map[string]fileop.Edit{"delete": {Delete: true}, "move": {MoveTo: "new.txt"}} {
			if name == "taken" && kind == "delete" {
				continue
			}
			t.Run(kind+" "+name, func(t *testing.T) {
				d := newDesk(t, ways["both"])
				d.save("a")
				c := d.plan(e)
				h.do(d)
				before, _ := d.disk.Read(t.Context(), d.path)
				if _, err := d.op.Commit(t.Context(), c); !errors.Is(err, h.want) {
					t.Errorf("error %v, want %v", err, h.want)
				}
				if after, _ := d.disk.Read(t.Context(), d.path); string(after) != string(before) {
					t.Errorf("the file became %q", after)
				}
			})
		}
	}
}

func (d *desk) Must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// TestDeleteLink refuses a link, which is not the file that it leads to.
func TestDeleteLink(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "file"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", filepath.Join(root, "link")); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	op := fileop.New(fileop.Options{Disk: openDisk(t, root), Roots: []string{root}})
	for _, e := range []fileop.Edit{{Path: "link", Delete: true}, {Path: "link", MoveTo: "x"}} {
		if _, err := op.Plan(t.Context(), e); !errors.Is(err, fileop.ErrNotRegular) || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

// TestDeleteBinary deletes what is no text and brings it back.
func TestDeleteBinary(t *testing.T) {
	l := newLedger(t, ways["both"])
	l.save("\x89PNG\x00\xff")
	c := l.plan(fileop.Edit{Delete: true})
	if !c.NotText || c.Size != 6 || *c.Before != "" {
		t.Errorf("planned %+v", c)
	}
	l.commit(c)
	if r := l.undo(fileop.Which{All: true}); len(r) != 1 || r[0].How != fileop.UndoRestored {
		t.Errorf("undone %+v", r)
	}
	l.wantDisk("\x89PNG\x00\xff")
}

// TestEditorKeepsDeleted: an editor that still shows a deleted file does not have an
// unsaved one.
func TestEditorKeepsDeleted(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.save("a\n")
	d.commit(d.plan(fileop.Edit{Delete: true}))
	d.editor.edit(d.path, "a\n")
	if s, err := d.op.Read(t.Context(), d.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read %+v, %v", s, err)
	}
	d.editor.edit(d.path, "a\ntyped\n")
	if s, err := d.op.Read(t.Context(), d.path); err != nil || s.Text != "a\ntyped\n" || !s.Dirty {
		t.Errorf("read %+v, %v", s, err)
	}
}

// TestRelocateFaults lets each operation of a deletion and of a move fail, before or
// after it did its work. The file is as it was or as it is to be, in one place.
func TestRelocateFaults(t *testing.T) {
	injected := errors.New("injected")
	edits := map[string]fileop.Edit{
		"delete":        {Delete: true},
		"move":          {MoveTo: "new.txt"},
		"move and edit": {MoveTo: "new.txt", Replace: []fileop.Replacement{{Old: "old", New: "new"}}},
	}
	for kind, fail := range map[string]func(fileop.Store, int, error) *storetest.Fault{"before": storetest.FailBefore, "after": storetest.FailAfter} {
		for name, e := range edits {
			for wayName, w := range ways {
				for _, moves := range []bool{true, false} {
					t.Run(strings.Join([]string{name, kind, wayName}, "/"), func(t *testing.T) {
						for n := 1; ; n++ {
							d := newDesk(t, w)
							d.save("old\n")
							disk := fail(d.disk, n, injected)
							var store fileop.Store = disk
							if !moves {
								store = struct{ fileop.Store }{disk} // copies and removes
							}
							op := fileop.New(fileop.Options{Disk: store, Editor: d.editor, EditorReads: w.reads, EditorWrites: w.writes, Roots: []string{d.root}})
							checkRelocated(t.Context(), d, op, e, n)
							if disk.Calls() < n {
								return
							}
						}
					})
				}
			}
		}
	}
}

func checkRelocated(ctx context.Context, d *desk, op *fileop.Operator, e fileop.Edit, n int) {
	d.Helper()
	c, err := op.Plan(ctx, withPath(e, d.path))
	if err == nil {
		_, err = op.Commit(ctx, c)
	}
	at := func(path string) string {
		data, err := d.disk.Read(ctx, path)
		if err != nil {
			return "-"
		}
		return string(data)
	}
	now := at(d.path) + " " + at(d.root+"/new.txt")
	want := map[string]string{"": "- -", "new.txt": "- old\n"}[e.MoveTo]
	if len(e.Replace) > 0 {
		want = "- new\n"
	}
	switch {
	case now == "old\n -" && err != nil:
	case now == want && (err == nil || errors.Is(err, fileop.ErrUnconfirmed)):
	default:
		d.Errorf("operation %d: the files are %q, and the error %v", n, now, err)
	}
}
