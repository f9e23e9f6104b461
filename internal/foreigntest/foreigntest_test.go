package foreigntest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestDir(t *testing.T) {
	shelf := Shelf{Variable: "KIMI_TEST_DIR", Name: "x"}
	t.Setenv("KIMI_TEST_DIR", "here")
	if dir := shelf.Dir(t); !filepath.IsAbs(dir) || filepath.Base(dir) != "here" {
		t.Errorf("%q", dir)
	}
	t.Setenv("KIMI_TEST_DIR", "")
	if dir := shelf.Dir(t); !filepath.IsAbs(dir) || !strings.HasSuffix(dir, filepath.Join("kimi-acp", "x")) {
		t.Errorf("%q", dir)
	}
}

func TestInstalledOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "program")
	var runs atomic.Int32
	install := func(context.Context) error {
		runs.Add(1)
		return os.WriteFile(filepath.Join(dir, "it"), nil, 0o600)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := once(t.Context(), dir, time.Minute, install); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(filepath.Join(dir, "it")); err != nil || runs.Load() != 1 {
		t.Errorf("installed %d times: %v", runs.Load(), err)
	}
}

// What fails is tried again, from an empty folder.
func TestInstallFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "program")
	failed := errors.New("no network")
	for range 2 {
		err := once(t.Context(), dir, time.Minute, func(context.Context) error {
			half := filepath.Join(dir, "half")
			if _, err := os.Stat(half); err == nil {
				t.Error("half of it is still there")
			}
			return errors.Join(failed, os.WriteFile(half, nil, 0o600))
		})
		if !errors.Is(err, failed) {
			t.Errorf("installed with %v", err)
		}
	}
}

func TestInstall(t *testing.T) {
	root := t.TempDir()
	t.Setenv("KIMI_TEST_DIR", root)
	shelf := Shelf{Variable: "KIMI_TEST_DIR"}
	want := filepath.Join(root, "program-1")
	got := shelf.Install(t, Program{Name: "it", Folder: "program-1", Limit: time.Minute}, func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "it"), nil, 0o600)
	})
	if _, err := os.Stat(filepath.Join(want, "it")); got != want || err != nil {
		t.Errorf("it is in %s, want %s: %v", got, want, err)
	}
}

func TestTail(t *testing.T) {
	for want, s := range map[string]string{"": "", "abcd": "abcd", "…bcde": "abcde"} {
		if got := Tail(s, 4); got != want {
			t.Errorf("the end of %q is %q", s, got)
		}
	}
}
