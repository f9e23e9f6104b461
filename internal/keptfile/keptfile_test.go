package keptfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// countEnv makes the test binary a process that counts in the file that it names.
const countEnv = "KIMI_ACP_TEST_COUNT"

const rounds = 25

func TestMain(m *testing.M) {
	if path := os.Getenv(countEnv); path != "" {
		for range rounds {
			if err := Update(path, 100, addOne); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func addOne(old []byte) ([]byte, error) {
	n, _ := strconv.Atoi(string(old))
	return []byte(strconv.Itoa(n + 1)), nil
}

// Nothing is lost when several goroutines of several processes change a file at once.
func TestUpdateInTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "f")
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), countEnv+"="+path)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
		all.Go(func() {
			for range rounds {
				if err := Update(path, 100, addOne); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got, err := Read(path, 100)
	if want := strconv.Itoa(4 * rounds); err != nil || string(got) != want {
		t.Errorf("counted %q, want %s (%v)", got, want, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for place, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(place); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v (%v)", place, info.Mode(), want, err)
		}
	}
}

func TestReadNothing(t *testing.T) {
	for _, path := range []string{"f", "no/folder/f"} {
		if data, err := Read(filepath.Join(t.TempDir(), path), 10); data != nil || err != nil {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
}

// What cannot be vouched for is neither read nor replaced.
func TestRefusedFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(path string) error
		want string
	}{
		"a link": {func(path string) error {
			target := filepath.Join(filepath.Dir(path), "target")
			return errors.Join(os.WriteFile(target, []byte("x"), 0o600), os.Symlink("target", path))
		}, "not a regular file"},
		"a folder": {func(path string) error { return os.Mkdir(path, 0o700) }, "not a regular file"},
		"too large": {func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("x"), 11), 0o600)
		}, "more than 10 bytes"},
		"others may write": {func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chmod(path, 0o622))
		}, "others may write"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "others may write" && runtime.GOOS == "windows" {
				t.Skip("modes say nothing of others here")
			}
			path := filepath.Join(t.TempDir(), "f")
			if err := tt.make(path); err != nil {
				t.Skip("cannot be made here:", err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if data, err := Read(path, 10); data != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("read %q, %v", data, err)
			}
			if err := Update(path, 10, func([]byte) ([]byte, error) { return []byte("y"), nil }); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("replaced: %v", err)
			}
			if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
				t.Errorf("another file stands there: %v", err)
			}
		})
	}
}

// An update that fails leaves the file as it was, and nothing beside it.
func TestUpdateFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put := func(text string) func([]byte) ([]byte, error) {
		return func([]byte) ([]byte, error) { return []byte(text), nil }
	}
	if err := Update(path, 10, put("kept")); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	if err := Update(path, 10, func([]byte) ([]byte, error) { return nil, no }); !errors.Is(err, no) {
		t.Error(err)
	}
	if err := Update(path, 10, put("much too long")); err == nil {
		t.Error("a file that is too large is written")
	}
	if data, err := Read(path, 10); string(data) != "kept" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(names) != 2 { // the file and its lock
		t.Errorf("%q, %v", names, err)
	}
}
