package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
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
	cmd := r.shell.command(s.Line)
	cmd.Dir, cmd.Env = s.Dir, append(append([]string{}, cmd.Env...), s.Environ...)
	cmd.Stdin = bytes.NewReader(s.Stdin)
	w, err := r.written(ctx, cmd, s.MaxOutput)
	if err != nil {
		return w, fmt.Errorf("run a script: %w", err)
	}
	return w, nil
}

// Output is the function Output, supervised like commands: the program does not outlive
// this process either. What is left of its group is ended, by being asked to first.
func (r *Runner) Output(ctx context.Context, p Program) (Written, error) {
	cmd := exec.Command(p.Args[0], p.Args[1:]...)
	cmd.Dir, cmd.Env = p.Dir, append([]string{}, p.Environ...)
	if p.Stdin != nil {
		cmd.Stdin = bytes.NewReader(p.Stdin)
	}
	w, err := r.written(ctx, cmd, p.MaxOutput)
	if err != nil {
		return w, fmt.Errorf("run %s: %w", p.Args[0], err)
	}
	return w, nil
}

// written runs a command for what it writes.
func (r *Runner) written(ctx context.Context, cmd *exec.Cmd, limit int) (Written, error) {
	if err := ctx.Err(); err != nil {
		return Written{ExitCode: -1}, err
	}
	if limit <= 0 {
		limit = defaultWritten
	}
	stdout, stderr := head{left: limit}, head{left: maxComplaint}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = pipesOpen
	ownGroup(cmd)
	p, err := r.begin(cmd)
	if err != nil {
		return Written{ExitCode: -1}, err
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
			return Written{ExitCode: -1}, context.Cause(ctx)
		}
		err = context.Cause(ctx)
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
