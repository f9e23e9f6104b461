package obs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestTrace(t *testing.T) {
	for _, there := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "a", "logs")
		if there {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		f, err := Trace(dir, "wire-1.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, "{}\n"); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		path := filepath.Join(dir, "wire-1.jsonl")
		if got, err := os.ReadFile(path); err != nil || string(got) != "{}\n" {
			t.Errorf("the file has %q, %v", got, err)
		}
		if runtime.GOOS == "windows" {
			continue // no permission bits
		}
		for path, want := range map[string]fs.FileMode{dir: 0o700, path: 0o600} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != want {
				t.Errorf("%s: %v", path, info.Mode())
			}
		}
	}
}

func TestTraceKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "old")
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Trace(dir, "old"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "kept" {
		t.Errorf("the file has %q, %v", got, err)
	}
	if _, err := Trace(path, "x"); err == nil {
		t.Error("a trace in a folder that is a file")
	}
}

func TestTraceTakesNoPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", ".", "..", "../x", "a/x", filepath.Join(dir, "x"), "x/"} {
		if f, err := Trace(filepath.Join(dir, "logs"), name); err == nil {
			t.Errorf("%q was taken", name)
			_ = f.Close()
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file beside the folder: %v", err)
	}
}
