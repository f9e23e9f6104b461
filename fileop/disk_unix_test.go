//go:build unix

package fileop_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kimi-acp/fileop"
)

// TestSpecialFiles reads and writes what is not a regular file. A pipe without a
// writer must not be waited for.
func TestSpecialFiles(t *testing.T) {
	root := t.TempDir()
	d := openDisk(t, root)
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(root, "socket"))
	if err != nil {
		t.Skipf("no sockets here: %v", err)
	}
	defer func() { _ = l.Close() }()
	for name, kind := range map[string]string{"pipe": "named pipe", "dir": "directory", "socket": "socket"} {
		path := filepath.Join(root, name)
		_, err := d.Read(t.Context(), path)
		if !errors.Is(err, fileop.ErrNotRegular) || !strings.Contains(err.Error(), kind) {
			t.Errorf("reading the %s: %v", name, err)
		}
		if err := d.Write(t.Context(), path, []byte("x")); !errors.Is(err, fileop.ErrNotRegular) {
			t.Errorf("writing the %s: %v", name, err)
		}
		if err := d.Remove(t.Context(), path); !errors.Is(err, fileop.ErrNotRegular) {
			t.Errorf("removing the %s: %v", name, err)
		}
	}
}

func TestDevice(t *testing.T) {
	d := openDisk(t, "/dev")
	if _, err := d.Read(t.Context(), "/dev/zero"); !errors.Is(err, fileop.ErrNotRegular) {
		t.Errorf("reading a device: %v", err)
	}
}

func TestWriteKeepsMode(t *testing.T) {
	root := t.TempDir()
	d := openDisk(t, root)
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o755, 0o640} {
		path := filepath.Join(root, mode.String())
		if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if err := d.Write(t.Context(), path, []byte("new")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != mode {
			t.Errorf("mode %v became %v", mode, info.Mode().Perm())
		}
	}
}

// TestNewFileMode compares with what the system itself gives a new file.
func TestNewFileMode(t *testing.T) {
	root := t.TempDir()
	d := openDisk(t, root)
	if err := d.Write(t.Context(), filepath.Join(root, "ours"), nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "theirs"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ours, err1 := os.Stat(filepath.Join(root, "ours"))
	theirs, err2 := os.Stat(filepath.Join(root, "theirs"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if ours.Mode() != theirs.Mode() {
		t.Errorf("mode %v, want %v", ours.Mode(), theirs.Mode())
	}
}

// TestReadOnly holds for every user: it is the file's mode that says no, which a
// rename would get past.
func TestReadOnly(t *testing.T) {
	root := t.TempDir()
	d := openDisk(t, root)
	path := filepath.Join(root, "file")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), path, []byte("new")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v, want fs.ErrPermission", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the file holds %q", got)
	}
}

// TestHardLink edits a file that has another name outside: that name keeps the text.
func TestHardLink(t *testing.T) {
	root, away := t.TempDir(), filepath.Join(t.TempDir(), "other name")
	path := filepath.Join(root, "file")
	if err := errors.Join(os.WriteFile(away, []byte("old\n"), 0o600), os.Link(away, path)); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	op := fileop.New(fileop.Options{Disk: openDisk(t, root), Roots: []string{root}})
	c, err := op.Plan(t.Context(), fileop.Edit{Path: path, Replace: []fileop.Replacement{{Old: "old", New: "new"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := op.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	here, _ := os.ReadFile(path)
	there, _ := os.ReadFile(away)
	if string(here) != "new\n" || string(there) != "old\n" {
		t.Errorf("here %q, under the other name %q", here, there)
	}
}
