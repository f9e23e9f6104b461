package facts

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if !FolderAt(at("a")).Is(Folder{}) {
		t.Error("a folder that is not there is one")
	}
	do(os.Mkdir(at("a"), 0o700))
	first := FolderAt(at("a"))
	if !first.Is(FolderAt(at("a"))) || first.Is(Folder{}) || (Folder{}).Is(first) {
		t.Error("a folder is not itself")
	}
	do(os.Rename(at("a"), at("b")))
	do(os.Mkdir(at("a"), 0o700))
	if first.Is(FolderAt(at("a"))) {
		t.Error("a new folder is the old one")
	}
	if !first.Is(FolderAt(at("b"))) {
		t.Error("a renamed folder is another one")
	}
	do(os.Remove(at("a")))
	if err := os.Symlink(at("b"), at("a")); err != nil {
		t.Skipf("SKIPPED: no links here: %v", err)
	}
	if !first.Is(FolderAt(at("a"))) {
		t.Error("a link to the folder leads elsewhere")
	}
}
