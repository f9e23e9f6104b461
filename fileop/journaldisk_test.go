package fileop_test

import (
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
