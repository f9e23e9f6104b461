package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Service is a program that runs beside us for long and is spoken to over its standard
// input and output. Its methods may be called by several goroutines at once.
type Service struct {
	In  io.Writer // its standard input
	Out io.Reader // its standard output; one goroutine reads it

	runner  *Runner
	process *process
	ends    []*os.File
	stderr  *lastLines
	once    sync.Once
}

// Start starts a program in a group of its own, supervised like commands. Stdin and
// MaxOutput of p do not count. Whoever starts a Service has to End it, also when it has
// ended by itself. An error says that it could not be started.
func (r *Runner) Start(p Program) (*Service, error) {
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Args[0], err)
	}
	defer func() { _ = in.Close() }() // the program has its own copy
	theirs, out, err := os.Pipe()
	if err != nil {
		_ = ours.Close() // nothing was written
		return nil, fmt.Errorf("start %s: %w", p.Args[0], err)
	}
	defer func() { _ = out.Close() }()

	s := &Service{In: ours, Out: theirs, runner: r, ends: []*os.File{ours, theirs}, stderr: &lastLines{}}
	cmd := exec.Command(p.Args[0], p.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Dir, p.Environ, in, out, s.stderr
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.WaitDelay = pipesOpen
	ownGroup(cmd)
	if s.process, err = r.begin(cmd); err != nil {
		s.closeEnds()
		return nil, fmt.Errorf("start %s: %w", p.Args[0], err)
	}
	return s, nil
}

// Exited is closed when the program has ended.
func (s *Service) Exited() <-chan struct{} { return s.process.exited }

// Complaint is the end of what the program wrote to standard error, at most 4 KiB.
func (s *Service) Complaint() string { return s.stderr.text() }

// End closes the program's input, gives it grace to end, then asks its group to, kills
// what is left after the runner's own grace, and returns when it is gone. Without grace
// the group is killed at once.
func (s *Service) End(grace time.Duration) {
	s.once.Do(func() {
		_ = s.ends[0].Close() // whatever was not written no longer matters
		switch {
		case grace <= 0:
			killGroup(s.process.group)
			s.process.goneWithin(killWait)
		case !s.process.goneWithin(grace):
			s.process.end(s.runner.grace)
		}
		s.closeEnds()
		s.runner.release(s.process)
	})
}

func (s *Service) closeEnds() {
	for _, f := range s.ends {
		_ = f.Close() // may be closed already, and holds nothing back
	}
}

// begin starts a command in a group that whoever is to end it knows of.
func (r *Runner) begin(cmd *exec.Cmd) (*process, error) {
	// Held over the start, so that Close either refuses the command or sees it.
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	r.supervisor.prepare()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := follow(cmd)
	if !r.supervisor.watch(p.group) {
		r.alone[p.group] = struct{}{}
	}
	return p, nil
}

// lastLines keeps the end of what is written to it.
type lastLines struct {
	mu   sync.Mutex
	kept []byte
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p[max(0, len(p)-maxComplaint):]...)
	l.kept = append(l.kept[:0], lastRunes(l.kept, maxComplaint)...)
	return len(p), nil
}

func (l *lastLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}
