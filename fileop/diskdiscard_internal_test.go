package fileop

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestDiscard holds Discard of both stores to its word, also where a system cannot do
// what it is built on.
func TestDiscard(t *testing.T) {
	root := t.TempDir()
	open := func() *Disk {
		d, err := OpenDisk(root)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return d
	}
	without := open()
	without.before = func(s step) error {
		if s == stepAside {
			return errNoExchange
		}
		return nil
	}
	path := filepath.Join(root, "a.txt")
	for name, store := range map[string]interface {
		Store
		Discard(ctx context.Context, path string, old [sha256.Size]byte) error
	}{"disk": open(), "disk without free renames": without, "memory": NewMem(root)} {
		t.Run(name, func(t *testing.T) {
			if err := store.Discard(t.Context(), path, digestOf([]byte("a"))); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("what is not there: %v", err)
			}
			if err := store.Write(t.Context(), path, []byte("a")); err != nil {
				t.Fatal(err)
			}
			if err := store.Discard(t.Context(), path, digestOf([]byte("b"))); !errors.Is(err, ErrStale) {
				t.Errorf("another text: %v", err)
			}
			if got, err := store.Read(t.Context(), path); err != nil || string(got) != "a" {
				t.Errorf("it holds %q, %v", got, err)
			}
			if err := store.Discard(t.Context(), path, digestOf([]byte("a"))); err != nil {
				t.Error(err)
			}
			if _, err := store.Read(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it is still there: %v", err)
			}
			if left, err := os.ReadDir(root); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestDiscardIsOvertaken: what somebody saves in the last moment is found, and stays.
func TestDiscardIsOvertaken(t *testing.T) {
	root := t.TempDir()
	d, err := OpenDisk(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // nothing was written through it that could be lost
	path := filepath.Join(root, "a.txt")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.before = func(s step) error {
		if s != stepAside {
			return nil
		}
		return os.WriteFile(path, []byte("saved"), 0o600)
	}
	if err := d.Discard(t.Context(), path, digestOf([]byte("old"))); !errors.Is(err, ErrStale) {
		t.Errorf("it was deleted: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "saved" {
		t.Errorf("it holds %q, %v", got, err)
	}
}
