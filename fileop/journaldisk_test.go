package fileop_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kimi-acp/fileop"
)

// TestJournalFolder undoes after a restart what was done before it, with everything
// on disk.
func TestJournalFolder(t *testing.T) {
	dir, root := filepath.Join(t.TempDir(), "state", "s1"), t.TempDir()
	disk := openDisk(t, root)
	path := filepath.Join(root, "file")
	if err := os.WriteFile(path, []byte("a\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	open := func() (*fileop.JournalFolder, *fileop.Operator) {
		f, err := fileop.OpenJournalFolder(dir, fileop.ContentLimits{})
		if err != nil {
			t.Fatal(err)
		}
		return f, fileop.New(fileop.Options{Disk: disk, Roots: []string{root}, Recorder: f.Journal})
	}
	f, op := open()
	scan, err := fileop.NewCommandScans(op, f.Journal, f.Scratch, fileop.ScanLimits{}).Before(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("b\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := scan.After(t.Context(), fileop.Cause{Turn: 1}); err != nil {
		t.Fatal(err)
	}
	c, err := op.Plan(t.Context(), fileop.Edit{Path: path, Content: ptr("c\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := op.Commit(t.Context(), f.Journal.Propose(fileop.Cause{Turn: 1}, c)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "journal.jsonl": 0o600, "contents": 0o700, "scratch": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want && os.PathSeparator == '/' {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "scratch")); err == nil {
		t.Error("the scratch file is still there")
	}

	f, op = open()
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	if h := f.Journal.Health(); h != (fileop.Health{}) {
		t.Errorf("health %+v", h)
	}
	results, err := f.Journal.Undo(t.Context(), op, fileop.Which{Turn: 1})
	if err != nil || len(results) != 2 {
		t.Errorf("%+v, %v", results, err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "a\r\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestJournalFolderRefusesLinks(t *testing.T) {
	away := filepath.Join(t.TempDir(), "away")
	if err := os.WriteFile(away, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"journal.jsonl", "scratch", "contents"} {
		dir := t.TempDir()
		if err := os.Symlink(away, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
		if _, err := fileop.OpenJournalFolder(dir, fileop.ContentLimits{}); err == nil {
			t.Errorf("%s was opened through a link", name)
		}
	}
	if got, err := os.ReadFile(away); err != nil || string(got) != "kept" {
		t.Errorf("the link's target holds %q, %v", got, err)
	}
	if _, err := fileop.OpenJournalFolder(away, fileop.ContentLimits{}); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file as folder: %v", err)
	}
}

// TestJournalFolderTold: up to where the model was told outlasts a restart, and is
// forgotten when it cannot be read.
func TestJournalFolderTold(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	op := fileop.New(fileop.Options{Disk: openDisk(t, root), Roots: []string{root}})
	open := func() *fileop.JournalFolder {
		f, err := fileop.OpenJournalFolder(dir, fileop.ContentLimits{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	tell := func(f *fileop.JournalFolder) (int, fileop.Mark) {
		found, mark, err := f.Journal.Since(t.Context(), op, f.Told())
		if err != nil {
			t.Fatal(err)
		}
		return len(found), mark
	}
	f := open()
	c, err := op.Plan(t.Context(), fileop.Edit{Path: "new", Content: ptr("new\n")})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Journal.Reject(f.Journal.Propose(fileop.Cause{}, c).Action(), "no"); err != nil {
		t.Fatal(err)
	}
	n, mark := tell(f)
	if err := f.SetTold(mark); n != 1 || err != nil {
		t.Errorf("%d findings, %v", n, err)
	}
	for _, test := range []struct {
		file string // what stands in it then; "": it stays
		want int
	}{{"", 0}, {"{", 1}, {`{"seq":999}`, 0}} {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if test.file != "" {
			if err := os.WriteFile(filepath.Join(dir, "told.json"), []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f = open()
		if n, _ := tell(f); n != test.want {
			t.Errorf("after %q in the file: %d findings, want %d", test.file, n, test.want)
		}
	}
	// That mark lay beyond the journal, as when its latest records were lost; what comes
	// now is told all the same.
	mark = f.Told()
	if err := f.Journal.Reject(f.Journal.Propose(fileop.Cause{}, c).Action(), "no"); err != nil {
		t.Fatal(err)
	}
	if found, _, err := f.Journal.Since(t.Context(), op, mark); len(found) != 1 || err != nil {
		t.Errorf("%+v, %v", found, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestJournalFolderIsShortened: a journal that has grown long keeps the latest state of
// each action when it is opened, and goes on.
func TestJournalFolderIsShortened(t *testing.T) {
	dir := t.TempDir()
	reopen := func(f *fileop.JournalFolder) *fileop.JournalFolder {
		if f != nil {
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		f, err := fileop.OpenJournalFolder(dir, fileop.ContentLimits{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := reopen(nil)
	id := f.Journal.Propose(fileop.Cause{Turn: 3}, fileop.Change{Path: "/a"}).Action()
	path := filepath.Join(dir, "journal.jsonl")
	line, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Repeat(line, 17<<20/len(line)), 0o600); err != nil {
		t.Fatal(err)
	}
	f = reopen(f)
	if err := f.Journal.Reject(id, "no"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > 2000 {
		t.Errorf("the journal has %d bytes, %v", info.Size(), err)
	}
	f = reopen(f)
	a, err := f.Journal.Action(id)
	if err != nil || a.State != fileop.StateRejected || a.Cause.Turn != 3 || len(f.Journal.Actions(fileop.Which{All: true})) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
