//go:build unix

package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestRunOutcome(t *testing.T) {
	tests := []struct {
		name    string
		command Command
		want    Outcome
	}{
		{"merged in order", Command{Shell: "echo a; echo b >&2; echo c"}, Outcome{Output: "a\nb\nc\n", Bytes: 6}},
		{"exit code", Command{Shell: "exit 7"}, Outcome{ExitCode: 7}},
		{"signal", Command{Shell: "kill -KILL $$"}, Outcome{ExitCode: -1, Signal: "SIGKILL"}},
		{"no input", Command{Shell: "cat; echo end"}, Outcome{Output: "end\n", Bytes: 4}},
		{"no such program", Command{Shell: "exec 2>/dev/null; no-such-program-here"}, Outcome{ExitCode: 127}},
		{
			"quiet environment",
			Command{Shell: `echo "$PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $TERM"`},
			Outcome{Output: "cat cat 0 dumb\n", Bytes: 15},
		},
		{
			"own entries win and may hold newlines",
			Command{Shell: `echo "$TERM,$BASE,$X"`, Env: []string{"TERM=vt100", "X=a\nb"}},
			Outcome{Output: "vt100,base,a\nb\n", Bytes: 15},
		},
		{"plain text", Command{Shell: `printf '\033[31mred\033[0m 1%%\r2%%\n\377'`}, Outcome{Output: "2%\n\uFFFD", Bytes: 20}},
		{
			"timeout",
			Command{Shell: "echo before; exec sleep 300", Timeout: 300 * time.Millisecond},
			Outcome{ExitCode: -1, Signal: "SIGTERM", TimedOut: true, Output: "before\n", Bytes: 7},
		},
		{"left in the background", Command{Shell: "sleep 300 >/dev/null 2>&1 & echo x"}, Outcome{Output: "x\n", Bytes: 2, Leftover: true}},
		{"left holding the pipe", Command{Shell: "sleep 300 & echo x"}, Outcome{Output: "x\n", Bytes: 2, Leftover: true}},
		{"background ends by itself", Command{Shell: "(sleep 0.1; echo late) & echo x"}, Outcome{Output: "x\nlate\n", Bytes: 7}},
	}
	r := NewRunner(Options{Environ: []string{"PATH=" + os.Getenv("PATH"), "BASE=base", "TERM=xterm"}})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.Run(t.Context(), tt.command)
			if err != nil {
				t.Fatal(err)
			}
			if got.Duration <= 0 {
				t.Errorf("duration %v", got.Duration)
			}
			got.Duration = 0
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestRunInFolder(t *testing.T) {
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	r := NewRunner(Options{Environ: append(os.Environ(), "PWD=/elsewhere")})
	o, err := r.Run(t.Context(), Command{Shell: "pwd", Dir: link})
	if err != nil || o.Output != link+"\n" {
		t.Errorf("pwd gave %q, %v; want the path as it was given", o.Output, err)
	}
}

func TestRunRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name    string
		ctx     context.Context
		command Command
		want    string
	}{
		{"empty", t.Context(), Command{Shell: " \n"}, "run a command: the command is empty"},
		{
			"no folder", t.Context(),
			Command{Shell: "true", Dir: file + "/none"},
			"run a command: the folder to run in cannot be used: stat " + file + "/none: not a directory",
		},
		{
			"a file as folder", t.Context(),
			Command{Shell: "true", Dir: file},
			"run a command: the folder to run in cannot be used: " + file + " is not a folder",
		},
		{"bad environment", t.Context(), Command{Shell: "true", Env: []string{"A=\x00"}}, "run a command: start the shell: exec: environment variable contains NUL"},
		{"context over", ended, Command{Shell: "true"}, "context canceled"},
	}
	r := NewRunner(Options{Environ: os.Environ()})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := r.Run(tt.ctx, tt.command)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			if want := (Outcome{ExitCode: -1}); o != want {
				t.Errorf("outcome %+v", o)
			}
		})
	}
	r.Close()
	if _, err := r.Run(t.Context(), Command{Shell: "true"}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// witness is a named pipe that a command's processes hold open.
type witness struct {
	path string
	gone chan error
}

// newWitness makes a pipe for a command to open for writing. Its wait returns once the
// last process that held it is gone.
func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{path: filepath.Join(t.TempDir(), "witness"), gone: make(chan error, 1)}
	if err := unix.Mkfifo(w.path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.Open(w.path) // waits for the first writer
		if err == nil {
			_, err = io.Copy(io.Discard, f)
			f.Close()
		}
		w.gone <- err
	}()
	return w
}

func (w *witness) wait(t *testing.T) {
	t.Helper()
	if err := <-w.gone; err != nil {
		t.Fatal(err)
	}
}

// onUp gives an Output function that calls f once, when the output says "up".
func onUp(f func()) func(string) {
	called := false
	return func(s string) {
		if !called && strings.Contains(s, "up\n") {
			called = true
			f()
		}
	}
}

func TestCancelEndsTheWholeGroup(t *testing.T) {
	tests := []struct {
		name, shell string
		heeds       bool
	}{
		{"on request", "sleep 300 & (sleep 300 & sleep 300) & echo up; wait", true},
		{"by force", "trap '' TERM; sleep 300 & (sleep 300 & sleep 300) & echo up; wait", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWitness(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := NewRunner(Options{Environ: os.Environ(), Grace: 200 * time.Millisecond})
			o, err := r.Run(ctx, Command{
				Shell:  "exec 9>" + w.path + "; " + tt.shell,
				Output: onUp(cancel),
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if o.ExitCode != -1 || o.TimedOut || o.Unended || o.Output != "up\n" {
				t.Errorf("outcome %+v", o)
			}
			// A caller who has left does not wait for a command that takes its time.
			if tt.heeds && o.Gone == nil && o.Signal != "SIGTERM" || !tt.heeds && o.Gone == nil {
				t.Errorf("outcome %+v", o)
			}
			if o.Gone != nil {
				<-o.Gone
			}
			w.wait(t)
		})
	}
}

// A daemon that left the group holds the output pipe; the call must not wait for it.
func TestDaemonDoesNotHoldTheCall(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid here")
	}
	r := NewRunner(Options{Environ: os.Environ()})
	o, err := r.Run(t.Context(), Command{Shell: "setsid sleep 300 & echo $!", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(o.Output))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Errorf("the daemon was ended although it had left the group: %v", err)
	}
	if o.Leftover || o.ExitCode != 0 {
		t.Errorf("outcome %+v", o)
	}
}

func TestMuchOutputIsBounded(t *testing.T) {
	r := NewRunner(Options{Environ: os.Environ(), MaxOutput: 1000})
	o, err := r.Run(t.Context(), Command{Shell: "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last"})
	if err != nil {
		t.Fatal(err)
	}
	if !o.Truncated || o.Bytes != 3_000_012 {
		t.Errorf("truncated %v, %d bytes", o.Truncated, o.Bytes)
	}
	want := "first\n" + strings.Repeat("x", 494) + "\n[2999012 bytes of output left out]\n" + strings.Repeat("x", 494) + "\nlast\n"
	if o.Output != want {
		t.Errorf("got %d bytes:\n%s", len(o.Output), o.Output)
	}
}

func TestLastSnapshotIsTheOutput(t *testing.T) {
	var last string
	r := NewRunner(Options{Environ: os.Environ()})
	o, err := r.Run(t.Context(), Command{Shell: "echo a; echo b", Output: func(s string) { last = s }})
	if err != nil || last != "a\nb\n" || last != o.Output {
		t.Errorf("last snapshot %q, output %q, %v", last, o.Output, err)
	}
}

func TestRunRaw(t *testing.T) {
	r := NewRunner(Options{Environ: os.Environ()})
	defer r.Close()
	var raw []byte
	o, err := r.Run(t.Context(), Command{Shell: `printf 'a\033[31mb\033[0m\n'; printf c >&2`, Raw: func(p []byte) { raw = append(raw, p...) }})
	if err != nil || o.Output != "ab\nc" {
		t.Errorf("output %q, %v", o.Output, err)
	}
	if string(raw) != "a\x1b[31mb\x1b[0m\nc" {
		t.Errorf("raw %q: escape sequences are the watcher's to keep", raw)
	}
}
