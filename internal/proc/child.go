package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// ChildSpec says which program runs beside us, and how.
type ChildSpec struct {
	Args    []string  // Args[0] is the program, found by PATH when it has no slash
	Dir     string    // absolute path to run in
	Environ []string  // its whole environment, KEY=value
	Stderr  io.Writer // gets what it writes there, from one goroutine; nil: dropped
}

// Child is a program that runs beside us and is spoken to through its pipes. It ends
// by itself when its input ends; should we be gone first, a Supervisor gives it the
// time for that. Its methods may be called by several goroutines at once.
type Child struct {
	in, out    *os.File
	process    *process
	supervisor *Supervisor
	over       chan struct{}
}

// ChildPatience is how long a child may take to end after its input has ended, when
// nobody is left but the Supervisor.
const ChildPatience = 8 * time.Second

// StartChild starts a program in a group of its own, watched by s, which may be nil.
// The caller calls End.
func StartChild(spec ChildSpec, s *Supervisor) (*Child, error) {
	if len(spec.Args) == 0 {
		return nil, fmt.Errorf("start a program: %w", exec.ErrNotFound)
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Args[0], err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		closeAll(theirIn, in)
		return nil, fmt.Errorf("start %s: %w", spec.Args[0], err)
	}
	defer closeAll(theirIn, theirOut) // the child has copies
	cmd := exec.Command(spec.Args[0], spec.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = spec.Dir, spec.Environ, theirIn, theirOut, spec.Stderr
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.WaitDelay = pipesOpen
	ownGroup(cmd)
	s.prepare()
	if err := cmd.Start(); err != nil {
		closeAll(in, out)
		return nil, fmt.Errorf("start %s: %w", spec.Args[0], err)
	}
	c := &Child{in: in, out: out, process: follow(cmd), supervisor: s, over: make(chan struct{})}
	s.watchPatiently(c.process.group)
	go c.clean()
	return c, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing is held back in a pipe's end
	}
}

// clean ends what the program leaves behind when it ends, and what is read from it.
func (c *Child) clean() {
	defer close(c.over)
	<-c.process.exited
	if !c.process.goneWithin(settleFor) {
		c.process.end(defaultGrace)
	}
	c.supervisor.forget(c.process.group)
	_ = c.in.Close()
}

// Read reads what the program writes to standard output, until it has ended.
func (c *Child) Read(p []byte) (int, error) { return c.out.Read(p) }

// Write writes to the program's standard input.
func (c *Child) Write(p []byte) (int, error) { return c.in.Write(p) }

// Exited is closed when the program has ended. What it wrote may still be read.
func (c *Child) Exited() <-chan struct{} { return c.process.exited }

// Group is the process id of the program, which names its group.
func (c *Child) Group() int { return c.process.group }

// Ending says in words how the program ended, "" while it runs.
func (c *Child) Ending() string {
	if !c.process.leaderGone() {
		return ""
	}
	code, signal := c.process.status()
	if signal != "" {
		return "it was ended by " + signal
	}
	return fmt.Sprintf("it ended with code %d", code)
}

// Kill ends the whole group at once. It does not wait.
func (c *Child) Kill() {
	if !c.process.leaderGone() {
		killGroup(c.process.group)
	}
}

// End ends the program's input and waits until the whole group is gone; after patience
// it is killed. Afterwards nothing can be read. False: it could not be ended.
func (c *Child) End(patience time.Duration) bool {
	defer func() { _ = c.out.Close() }() // it was only read from
	_ = c.in.Close()                     // it is closed already when the program ended by itself
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-c.over:
		return true
	case <-late.C:
	}
	c.Kill()
	late.Reset(killWait)
	select {
	case <-c.over:
		return true
	case <-late.C:
		return false
	}
}
