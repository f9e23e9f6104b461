//go:build unix

package fileop_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"kimi-acp/fileop"
)

// TestScanDoesNotWaitForPipes: a pipe is no file, also when it is named.
func TestScanDoesNotWaitForPipes(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{"f": "text"})
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := openDisk(t, root)
	for path, want := range map[string]int{"": 1, "pipe": 0} {
		visits := 0
		err := d.Scan(t.Context(), path, fileop.ScanOptions{
			Want:  func(fileop.Entry) bool { return true },
			Visit: func(_ int, _ fileop.Entry, _ []byte, _ error) { visits++ },
		})
		if err != nil || visits != want {
			t.Errorf("%q: %d visits, %v", path, visits, err)
		}
	}
}

// TestScanOfExchangedFile: what is no regular file any more when it is opened is an
// error of its visit.
func TestScanOfExchangedFile(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{"f": "text"})
	d := openDisk(t, root)
	err := d.Scan(t.Context(), "", fileop.ScanOptions{
		Want: func(e fileop.Entry) bool {
			if err := syscall.Unlink(e.Path); err != nil {
				t.Error(err)
			}
			if err := syscall.Mkfifo(e.Path, 0o644); err != nil {
				t.Error(err)
			}
			return true
		},
		Visit: func(_ int, _ fileop.Entry, _ []byte, err error) {
			if !errors.Is(err, fileop.ErrNotRegular) {
				t.Errorf("error %v, want %v", err, fileop.ErrNotRegular)
			}
		},
	})
	if err != nil {
		t.Error(err)
	}
}
