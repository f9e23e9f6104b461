package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// file gives a file's text, "-" when there is none.
func (p *place) file(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	if err != nil {
		return "-"
	}
	return string(data)
}

const severalFiles = "*** Begin Patch\n*** Update File: a.go\n@@\n-old\n+new\n*** Add File: sub/b.go\n+made\n*** Delete File: c.go\n*** Update File: d.go\n*** Move to: e.go\n*** End Patch\n"

func TestApplyPatch(t *testing.T) {
	p := newPlace(t, map[string]string{"a.go": "x\r\nold\r\n", "c.go": "gone\n", "d.go": "moved\n"}, yes)
	v := p.ok("ApplyPatch", jsonText(t, map[string]string{"patch": severalFiles}))
	for name, want := range map[string]string{"a.go": "x\r\nnew\r\n", "sub/b.go": "made\n", "c.go": "-", "d.go": "-", "e.go": "moved\n"} {
		if got := p.file(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	mustContain(t, v.Message, "Edited ", "Made the file ", "Deleted ", "Moved ", "e.go")
	if len(v.Files) != 3 || !v.Files[2].Deleted || v.Files[2].New != "" {
		t.Errorf("files %+v", v.Files)
	}
	if got := p.told("1"); !strings.HasPrefix(got, "waits+input waits+files waits+files ") {
		t.Errorf("told %q", got)
	}
}

// TestApplyPatchAllOrNone changes nothing where one file does not fit.
func TestApplyPatchAllOrNone(t *testing.T) {
	p := newPlace(t, map[string]string{"a.go": "old\n", "c.go": "gone\n", "e.go": "in the way\n"}, yes)
	p.fails("ApplyPatch", jsonText(t, map[string]string{"patch": severalFiles}),
		"nothing was changed", "1 file of 4", "d.go")
	if p.file("a.go") != "old\n" || p.file("c.go") != "gone\n" || p.file("sub/b.go") != "-" {
		t.Error("something was changed")
	}
	p.fails("ApplyPatch", `{"patch":"x"}`, "unusable patch")
	p.fails("ApplyPatch", jsonText(t, map[string]string{"patch": "*** Update File: a.go\n-\told\n+new"}), "a.go: part 1 of 1: its lines do not occur", "Closest:\nline 1: old")
}

// TestApplyPatchFileByFile rejects one file of three: the others are changed.
func TestApplyPatchFileByFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t, map[string]string{"a.go": "old\n", "b.go": "old\n", "c.go": "old\n"}, nil)
		patch, names := "", []string{"a.go", "b.go", "c.go"}
		for _, name := range names {
			patch += "*** Update File: " + name + "\n-old\n+new\n"
		}
		done := p.start(t.Context(), "1", "ApplyPatch", jsonText(t, map[string]string{"patch": patch}))
		for i, answer := range []wire.Approval{wire.ApprovalApprove, wire.ApprovalReject, wire.ApprovalApprove} {
			synctest.Wait()
			r := p.pending()["1"]
			if len(r.Files) != 1 || filepath.Base(r.Files[0].Path) != names[i] || !strings.Contains(r.Description, r.Files[0].Path) {
				t.Fatalf("asked for %+v", r)
			}
			p.answer("1", answer, "leave it")
		}
		v := <-done
		if got := p.file("a.go") + p.file("b.go") + p.file("c.go"); got != "new\nold\nnew\n" {
			t.Errorf("the files are %q", got)
		}
		if !v.IsError || len(v.Files) != 2 {
			t.Errorf("%+v", v)
		}
		mustContain(t, v.Message, "2 of 3 files changed.", "Not changed:\nb.go: ", "leave it")
		if brief(t, v) != "2 of 3 files changed" {
			t.Errorf("brief %q", brief(t, v))
		}
	})
}

// TestDeleteAsksWhereEditsDoNot: accepted edits are no accepted deletions.
func TestDeleteAsksWhereEditsDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t, map[string]string{"c.bin": "\x00\xff"}, nil)
		if err := p.executor.SetMode(ModeAcceptEdits); err != nil {
			t.Fatal(err)
		}
		done := p.start(t.Context(), "1", "ApplyPatch", jsonText(t, map[string]string{"patch": "*** Delete File: c.bin"}))
		synctest.Wait()
		r := p.pending()["1"]
		if r.Action != "delete file" || !strings.HasSuffix(r.Description, "(no text, 2 bytes)") || r.Scope != "deletions in this workspace" {
			t.Errorf("asked for %+v", r)
		}
		p.answer("1", wire.ApprovalReject, "")
		if v := <-done; !v.IsError || p.file("c.bin") == "-" {
			t.Errorf("%+v", v)
		}
	})
}

func TestPatchCard(t *testing.T) {
	tests := []struct{ patch, title, kind string }{
		{"*** Update File: a.go\n-x\n", "Edit `a.go`", "edit"},
		{"*** Delete File: a.go\n*** Delete File: /w/b.go", "Delete `a.go`, `b.go`", "delete"},
		{"*** Update File: a.go\n*** Move to: b.go", "Move `a.go` to `b.go`", "move"},
		{"*** Delete File: a\n*** Add File: b\n+x\n*** Delete File: c\n*** Delete File: d\n*** Delete File: e", "Patch `a`, `b`, `c`, and 2 more", "edit"},
		{"*** Update File: a.go\n", "Patch files", "edit"},
	}
	for _, test := range tests {
		card := CardOf("ApplyPatch", []byte(jsonText(t, map[string]string{"patch": test.patch})), "/w")
		if card.Title != test.title || card.Kind != test.kind {
			t.Errorf("%q: %+v", test.patch, card)
		}
	}
	card := CardOf("ApplyPatch", []byte(`{"patch":"*** Update File: x`), "/w")
	if card.Title != "Patch files" || card.Locations != nil {
		t.Errorf("breaks off: %+v", card)
	}
}

// TestApplyPatchUndone takes a whole patch back.
func TestApplyPatchUndone(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, root, map[string]string{"a.go": "old\n", "c.go": "gone\n", "d.go": "moved\n"})
	disk, err := fileop.OpenDisk(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = disk.Close() }()
	journal, err := NewMemoryJournal(fileop.Options{Disk: disk, Roots: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *Options) {
		yes(o)
		o.Operator, o.Journal, o.Cwd = journal.Operator(), journal, root
	})
	if v := w.call(t.Context(), "1", "ApplyPatch", jsonText(t, map[string]string{"patch": severalFiles})); v.IsError {
		t.Fatal(v.Message)
	}
	said := journal.Undo(t.Context(), 1)
	p := &place{world: w, root: root}
	for name, want := range map[string]string{"a.go": "old\n", "sub/b.go": "-", "c.go": "gone\n", "d.go": "moved\n", "e.go": "-"} {
		if got := p.file(name); got != want {
			t.Errorf("%s is %q, want %q, after %s", name, got, want, said)
		}
	}
}
