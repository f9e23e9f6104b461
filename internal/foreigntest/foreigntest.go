// Package foreigntest is a test kit for tests with programs that others wrote. It installs
// them once into a folder of the user's cache, finds them there from then on, and skips a
// test in a way that nobody takes for a pass where one cannot be had.
//
// It must not know what is installed, nor by what: that is the caller's.
package foreigntest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/filelock"
)

// done is the file that stands in a folder once all of it is installed.
const done = "installed"

// Shelf is the folder in which a suite of tests keeps its programs.
type Shelf struct {
	Variable string // the environment variable that may name the folder
	Name     string // of the folder in the user's cache if it does not
}

// Dir gives the folder, which need not be there, as an absolute path.
func (s Shelf) Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(s.Variable)
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatalf("find a folder for what tests need (%s names one): %v", s.Variable, err)
		}
		dir = filepath.Join(cache, "kimi-acp", s.Name)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatalf("find the folder for what tests need: %v", err)
	}
	return dir
}

// Program is what a test needs.
type Program struct {
	Name   string        // as somebody reads it who has to get it
	Folder string        // on the shelf; another for each version
	Limit  time.Duration // after which an installation has failed
}

// Install gives the folder of a program. Unless that was done before, install fills it, in
// a context that ends after the limit; the test is skipped when that fails. It waits for
// other processes that are at it. What an install that failed or was killed left behind is
// removed before the next one.
func (s Shelf) Install(t testing.TB, p Program, install func(ctx context.Context, dir string) error) string {
	t.Helper()
	dir := filepath.Join(s.Dir(t), p.Folder)
	err := once(t.Context(), dir, p.Limit, func(ctx context.Context) error { return install(ctx, dir) })
	if err != nil {
		Skip(t, p.Name, err)
	}
	return dir
}

// once has install fill the folder dir, as Install says.
func once(ctx context.Context, dir string, limit time.Duration, install func(ctx context.Context) error) (err error) {
	if isThere(dir) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make a folder to install in: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if isThere(dir) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove what an earlier run left: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("make a folder to install in: %w", err)
	}
	if err := install(ctx); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, done), nil, 0o644); err != nil {
		return fmt.Errorf("note what was installed: %w", err)
	}
	return nil
}

func isThere(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, done))
	return !errors.Is(err, fs.ErrNotExist)
}

// lock takes the lock of a file, which stays there.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := filelock.Try(f)
		if err == nil {
			return func() {
				filelock.Release(f)
				_ = f.Close() // nothing was written
			}, nil
		}
		if errors.Is(err, filelock.ErrLocked) {
			select {
			case <-tick.C:
				continue
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
}

// Run runs a program in a folder, with variables added to the environment. The error has
// the end of what it printed.
func Run(ctx context.Context, dir string, env []string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, Tail(string(out), 4096))
	}
	return nil
}

// Skip skips a test since a program cannot be had.
func Skip(t testing.TB, program string, why error) {
	t.Helper()
	rule := strings.Repeat("!", 78)
	fmt.Fprintf(os.Stderr, "\n%s\n!! NOT TESTED: %s\n!! %s could not be installed:\n", rule, t.Name(), program)
	for line := range strings.Lines(strings.TrimSpace(why.Error()) + "\n") {
		fmt.Fprint(os.Stderr, "!!   ", line)
	}
	fmt.Fprintf(os.Stderr, "%s\n\n", rule)
	t.Skipf("%s could not be installed: %v", program, why)
}

// Tail is the end of a text, at most n bytes of it.
func Tail(s string, n int) string {
	if len(s) > n {
		s = "…" + s[len(s)-n:]
	}
	return s
}
