package fileop_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kimi-acp/fileop"
)

func TestOpenDisk(t *testing.T) {
	if _, err := fileop.OpenDisk("relative"); !errors.Is(err, fileop.ErrPath) {
		t.Errorf("a relative root: %v", err)
	}
	if _, err := fileop.OpenDisk(t.TempDir(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing root: %v", err)
	}
}

func TestReadTooLarge(t *testing.T) {
	root := t.TempDir()
	d := openDisk(t, root)
	path := filepath.Join(root, "big")
	if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, fileop.MaxFile+1)); err != nil {
		t.Fatal(err)
	}
	_, err := d.Read(t.Context(), path)
	var size *fileop.SizeError
	if !errors.As(err, &size) || size.Size != fileop.MaxFile+1 || size.Max != fileop.MaxFile {
		t.Errorf("error %v, want a SizeError with the numbers", err)
	}
}

// TestNestedRoots has one root inside another and one reached by a link.
func TestNestedRoots(t *testing.T) {
	outer := t.TempDir()
	inner := filepath.Join(outer, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	alias := filepath.Join(t.TempDir(), "alias")
	other := t.TempDir()
	if err := os.Symlink(other, alias); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	d := openDisk(t, outer, inner, alias)
	for _, path := range []string{
		filepath.Join(outer, "a"), filepath.Join(inner, "b"),
		filepath.Join(alias, "c"), filepath.Join(other, "d"),
	} {
		if err := d.Write(t.Context(), path, []byte(path)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != path {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
}
