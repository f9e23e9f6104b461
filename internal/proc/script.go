package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
)

// Script is a line for the shell that is run for what it answers: it reads its input,
// writes, and ends with a code.
type Script struct {
	Line      string   // the text handed to the shell
	Dir       string   // absolute path to run in
	Environ   []string // its whole environment, KEY=value
	Stdin     []byte
	MaxOutput int // bytes of standard output that are kept; 0: 1 MiB
}

// Script runs a line in a group of its own, supervised like commands, and waits for it.
// That it ended with a code other than 0, -1 for a signal, is no error. An error says that
// it could not be started, or is ctx's. What is left of the group is ended either way.
func (r *Runner) Script(ctx context.Context, s Script) (Written, error) {
	if err := ctx.Err(); err != nil {
		return Written{ExitCode: -1}, err
	}
	limit := s.MaxOutput
	if limit <= 0 {
		limit = defaultWritten
	}
	stdout, stderr := head{left: limit}, head{left: maxComplaint}
	cmd := r.shell.command(s.Line)
	cmd.Dir, cmd.Env = s.Dir, append(append([]string{}, cmd.Env...), s.Environ...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(s.Stdin), &stdout, &stderr
	cmd.WaitDelay = pipesOpen
	ownGroup(cmd)
	p, err := r.begin(cmd)
	if err != nil {
		return Written{ExitCode: -1}, fmt.Errorf("run a script: %w", err)
	}
	defer r.release(p)
	select {
	case <-p.exited:
		if outlivesLeader(p.group) {
			p.end(r.grace)
		}
	case <-ctx.Done():
		p.end(r.grace)
		if !p.leaderGone() { // nothing ends it, and it may still write
			return Written{ExitCode: -1}, fmt.Errorf("run a script: %w", context.Cause(ctx))
		}
		err = fmt.Errorf("run a script: %w", context.Cause(ctx))
	}
	w := Written{Stdout: stdout.kept, Stderr: strings.ToValidUTF8(string(stderr.kept), "\uFFFD"), Truncated: stdout.dropped}
	w.ExitCode, _ = p.status()
	return w, err
}

// maxLeft bounds the input of a script that is left to itself: it must fit a pipe.
const maxLeft = 32 << 10

// Leave starts a script and does not wait for it, for the last thing that this process
// does. What it writes is lost; the supervisor gives it ChildPatience to end. The input
// has at most 32 KiB.
func (r *Runner) Leave(s Script) error {
	if len(s.Stdin) > maxLeft {
		return fmt.Errorf("leave a script: its input has %d bytes, more than %d", len(s.Stdin), maxLeft)
	}
	in, out, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("leave a script: %w", err)
	}
	defer func() { _ = in.Close() }() // the script has its own copy
	_, err = out.Write(s.Stdin)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("leave a script: write its input: %w", err)
	}
	cmd := r.shell.command(s.Line)
	cmd.Dir, cmd.Env, cmd.Stdin = s.Dir, append(append([]string{}, cmd.Env...), s.Environ...), in
	ownGroup(cmd)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.supervisor.prepare()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("leave a script: %w", err)
	}
	p := follow(cmd)
	r.supervisor.watchPatiently(p.group)
	go func() { // it ends with the script, or with this process
		<-p.exited
		r.supervisor.forget(p.group)
	}()
	return nil
}
