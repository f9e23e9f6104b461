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
	t.Setenv("KIMI_TEST_DIR", "here")
	if dir, err := Dir("KIMI_TEST_DIR", "x"); err != nil || !filepath.IsAbs(dir) || filepath.Base(dir) != "here" {
		t.Errorf("%q, %v", dir, err)
	}
	t.Setenv("KIMI_TEST_DIR", "")
	if dir, err := Dir("KIMI_TEST_DIR", "x"); err != nil || !strings.HasSuffix(dir, filepath.Join("kimi-acp", "x")) {
		t.Errorf("%q, %v", dir, err)
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
			if err := Once(t.Context(), dir, time.Minute, install); err != nil {
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
		err := Once(t.Context(), dir, time.Minute, func(context.Context) error {
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

func TestTail(t *testing.T) {
	for want, s := range map[string]string{"": "", "abcd": "abcd", "…bcde": "abcde"} {
		if got := Tail(s, 4); got != want {
			t.Errorf("the end of %q is %q", s, got)
		}
	}
}
