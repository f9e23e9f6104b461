package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	if err := Try(first); err != nil {
		t.Fatalf("a file that nobody has: %v", err)
	}
	if err := Try(second); !errors.Is(err, ErrLocked) {
		t.Fatalf("a file that is locked: %v", err)
	}
	Release(first)
	if err := Try(second); err != nil {
		t.Fatalf("a file that was given back: %v", err)
	}
}
