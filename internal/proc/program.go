package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// Program is a program that is run with arguments of its own, without a shell, for
// what it writes.
type Program struct {
	Args      []string // Args[0] is the program, found by PATH when it has no slash
	Dir       string   // absolute path to run in
	Environ   []string // its whole environment, KEY=value
	Stdin     []byte   // nil: the null device
	MaxOutput int      // bytes of standard output that are kept; 0: 1 MiB
}

// Written is what came of a Program.
type Written struct {
	Stdout    []byte
	Stderr    string // its beginning
	ExitCode  int
	Truncated bool // there was more than MaxOutput; the rest was read and dropped
}

const (
	defaultWritten = 1 << 20
	maxComplaint   = 4 << 10
	// pipesOpen is how long pipes may stay open behind a program that has ended.
	pipesOpen = 500 * time.Millisecond
)

// Output runs a program in a group of its own and waits for it. That it ended with a
// code other than 0 is no error. An error says that it could not be started, or is
// ctx's: then the whole group was killed.
func Output(ctx context.Context, p Program) (Written, error) {
	if err := ctx.Err(); err != nil {
		return Written{ExitCode: -1}, err
	}
	limit := p.MaxOutput
	if limit <= 0 {
		limit = defaultWritten
	}
	stdout, stderr := head{left: limit}, head{left: maxComplaint}
	cmd := exec.CommandContext(ctx, p.Args[0], p.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, p.Environ, &stdout, &stderr
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	if p.Stdin != nil {
		cmd.Stdin = bytes.NewReader(p.Stdin)
	}
	ownGroup(cmd)
	cmd.Cancel = func() error {
		killGroup(cmd.Process.Pid)
		return nil
	}
	cmd.WaitDelay = pipesOpen
	err := cmd.Run()
	w := Written{Stdout: stdout.kept, Stderr: string(stderr.kept), ExitCode: -1, Truncated: stdout.dropped}
	if cmd.ProcessState != nil {
		w.ExitCode = cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return w, fmt.Errorf("run %s: %w", p.Args[0], context.Cause(ctx))
	case err == nil, errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return w, nil
	case cmd.ProcessState != nil:
		return w, nil // it did not read its input to the end
	}
	return w, fmt.Errorf("run %s: %w", p.Args[0], err)
}

// head keeps the beginning of what is written to it.
type head struct {
	kept    []byte
	left    int
	dropped bool
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.left)
	h.kept = append(h.kept, p[:n]...)
	h.left -= n
	h.dropped = h.dropped || n < len(p)
	return len(p), nil
}
