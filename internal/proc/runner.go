package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	defaultGrace     = 500 * time.Millisecond
	defaultMaxOutput = 50_000

	drainFor      = 500 * time.Millisecond // for output that is still in the pipe
	settleFor     = 50 * time.Millisecond  // for processes that end together with the shell
	heedFor       = 20 * time.Millisecond  // for a group whose caller has left to end as it is asked to
	snapshotEvery = 100 * time.Millisecond
)

// ErrClosed is the error of Run after Close.
var ErrClosed = errors.New("commands can no longer be run: the runner is closed")

// Options says how a Runner runs commands.
type Options struct {
	Supervisor *Supervisor   // ends the groups when this process is gone; nil for none
	Environ    []string      // environment of every command, already through Scrub
	Grace      time.Duration // between the request to end and the kill, 500 ms when 0
	MaxOutput  int           // bytes of output kept, half head and half tail; 50 000 when 0
}

// Runner runs commands. It may be used by several goroutines at once.
type Runner struct {
	supervisor *Supervisor
	shell      shell
	environ    []string
	grace      time.Duration
	maxOutput  int

	mu     sync.Mutex
	closed bool
	alone  map[int]struct{} // running groups that no supervisor knows of
}

// NewRunner makes a Runner. It looks for the shell and starts nothing.
func NewRunner(o Options) *Runner {
	r := &Runner{
		supervisor: o.Supervisor,
		shell:      findShell(),
		environ:    commandEnviron(o.Environ),
		grace:      o.Grace,
		maxOutput:  o.MaxOutput,
		alone:      map[int]struct{}{},
	}
	if r.grace <= 0 {
		r.grace = defaultGrace
	}
	if r.maxOutput <= 0 {
		r.maxOutput = defaultMaxOutput
	}
	return r
}

// Shell is the path of the shell that takes command lines.
func (r *Runner) Shell() string { return r.shell.path }

// Run runs c and waits for it. A command that ran, however it ended, is no error.
// An error says that it could not be started; or it is ctx's, and then the Outcome
// says how far it had come. Its whole group was ended then, or is being ended if it
// does not heed the request at once: a caller whose ctx is over is not kept waiting.
//
// A process that left the group on purpose (a daemon) is neither waited for nor
// ended, and what it writes later is lost.
func (r *Runner) Run(ctx context.Context, c Command) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{ExitCode: -1}, err
	}
	if strings.TrimSpace(c.Shell) == "" {
		return Outcome{ExitCode: -1}, errors.New("run a command: the command is empty")
	}
	pipe, writeEnd, err := os.Pipe()
	if err != nil {
		return Outcome{ExitCode: -1}, fmt.Errorf("run a command: open a pipe for its output: %w", err)
	}
	start := time.Now()
	p, err := r.launch(c, writeEnd)
	_ = writeEnd.Close() // the command has its own copy; ours would keep the pipe open
	if err != nil {
		_ = pipe.Close() // only read from
		return Outcome{ExitCode: -1}, fmt.Errorf("run a command: %w", err)
	}

	capt := newCapture(r.maxOutput)
	stopWatching := watch(c.Output, capt)
	read := make(chan struct{})
	go func() {
		defer close(read)
		// The copy ends at EOF or when drain closes the pipe; neither is a failure.
		_, _ = io.Copy(tee{capt, c.Raw}, pipe)
	}()

	var o Outcome
	o.TimedOut, err = waitFor(ctx, p, c.Timeout)
	switch {
	case p.leaderGone():
		drain(pipe, read)
		if !p.goneWithin(settleFor) {
			o.Leftover = true
			o.Unended = !p.end(r.grace)
		}
	case err == nil:
		o.Unended = !p.end(r.grace)
		drain(pipe, read)
	case p.askedToEnd(heedFor):
		drain(pipe, read)
	default:
		o.Gone = r.endAside(p)
	}
	_ = pipe.Close() // only read from, and drain may have closed it
	<-read
	if o.Gone == nil {
		r.release(p)
	}
	stopWatching()

	o.ExitCode, o.Signal = p.status()
	o.Output, o.Truncated = capt.finish()
	o.Bytes = capt.written()
	o.Duration = time.Since(start)
	if c.Output != nil {
		c.Output(o.Output)
	}
	return o, err
}

// endAside goes on ending a group beside the caller, and closes gone when it has done
// what can be done.
func (r *Runner) endAside(p *process) (gone <-chan struct{}) {
	done := make(chan struct{})
	go func() { // owned by whoever waits for gone; it takes grace and killWait at most
		defer close(done)
		defer r.release(p)
		if !p.goneWithin(r.grace) {
			killGroup(p.group)
			p.goneWithin(killWait)
		}
	}()
	return done
}

// tee hands what is captured to somebody else too.
type tee struct {
	*capture
	raw func([]byte)
}

func (t tee) Write(p []byte) (int, error) {
	if t.raw != nil {
		t.raw(p)
	}
	return t.capture.Write(p)
}

// launch starts the command in a group of its own and makes the group known to
// whoever is to end it when we cannot.
func (r *Runner) launch(c Command, output *os.File) (*process, error) {
	cmd := r.shell.command(c.Shell)
	cmd.Dir = c.Dir
	cmd.Env = append(cmd.Env, r.environ...)
	if filepath.IsAbs(c.Dir) {
		cmd.Env = append(cmd.Env, "PWD="+c.Dir)
	}
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Stdout, cmd.Stderr = output, output // nil Stdin is the null device
	ownGroup(cmd)

	p, err := r.begin(cmd)
	if err != nil && !errors.Is(err, ErrClosed) {
		err = startError(cmd, err)
	}
	return p, err
}

// startError says in the user's terms why a command did not start. The system's own
// error names the shell even when it is the folder that is missing.
func startError(cmd *exec.Cmd, err error) error {
	if cmd.Dir != "" {
		if info, statErr := os.Stat(cmd.Dir); statErr != nil {
			return fmt.Errorf("the folder to run in cannot be used: %w", statErr)
		} else if !info.IsDir() {
			return fmt.Errorf("the folder to run in cannot be used: %s is not a folder", cmd.Dir)
		}
	}
	return fmt.Errorf("start the shell: %w", err)
}

func (r *Runner) release(p *process) {
	r.supervisor.forget(p.group)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.alone, p.group)
}

// Close refuses further commands and returns at once. Commands that still run are
// left to the supervisor, which ends them when this process leaves; where there is
// none they are killed here. A Run under way returns in its own time.
func (r *Runner) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for group := range r.alone {
		killGroup(group)
	}
}

// waitFor waits until the command ends, its time is over or ctx ends.
func waitFor(ctx context.Context, p *process, limit time.Duration) (timedOut bool, err error) {
	var over <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-p.exited:
		return false, nil
	case <-over:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// drain waits for the reader to reach the end of the pipe. A process outside the
// group may hold the pipe open for ever, so the wait is short and then the pipe is
// closed under the reader.
func drain(pipe *os.File, read <-chan struct{}) {
	t := time.NewTimer(drainFor)
	defer t.Stop()
	select {
	case <-read:
	case <-t.C:
		_ = pipe.Close() // only read from
		<-read
	}
}
