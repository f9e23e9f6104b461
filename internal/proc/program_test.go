//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOutput(t *testing.T) {
	path := []string{"PATH=" + os.Getenv("PATH")}
	for _, c := range []struct {
		name    string
		program Program
		want    string
		code    int
		stderr  string
		cut     bool
	}{
		{"what it writes", Program{Args: []string{"sh", "-c", "echo out; echo err >&2; exit 3"}}, "out\n", 3, "err\n", false},
		{"arguments are not taken apart", Program{Args: []string{"printf", "%s", "a b;$(c)"}}, "a b;$(c)", 0, "", false},
		{"its input", Program{Args: []string{"cat"}, Stdin: []byte("hello")}, "hello", 0, "", false},
		{"input that nobody reads", Program{Args: []string{"true"}, Stdin: make([]byte, 1<<20)}, "", 0, "", false},
		{"no input", Program{Args: []string{"cat"}}, "", 0, "", false},
		{"more than is kept", Program{Args: []string{"sh", "-c", "printf 0123456789"}, MaxOutput: 4}, "0123", 0, "", true},
		{"its environment", Program{Args: []string{"sh", "-c", "echo $HOME-"}}, "-\n", 0, "", false},
	} {
		c.program.Environ = path
		w, err := Output(t.Context(), c.program)
		if err != nil || string(w.Stdout) != c.want || w.ExitCode != c.code || w.Stderr != c.stderr || w.Truncated != c.cut {
			t.Errorf("%s: %+v, %v", c.name, w, err)
		}
	}
	if _, err := Output(t.Context(), Program{Args: []string{"/no/such/program"}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such program: %v", err)
	}
}

func TestOutputEndsTheGroup(t *testing.T) {
	w := newWitness(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	up := filepath.Join(t.TempDir(), "up")
	if err := unix.Mkfifo(up, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		// The child in the background would hold the pipe and live on.
		_, err := Output(ctx, Program{Args: []string{"sh", "-c", "exec 9>" + w.path + "; sleep 1000 & echo up > " + up + "; wait"}, Environ: []string{"PATH=" + os.Getenv("PATH")}})
		done <- err
	}()
	if _, err := os.ReadFile(up); err != nil { // until the script has written
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	w.wait(t)
}
