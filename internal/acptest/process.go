package acptest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Process says how an agent is started as a child process.
type Process struct {
	Path string   // the program
	Args []string // without the program's name
	Env  []string // NAME=value, added to PATH and a HOME of its own
	Dir  string   // working directory; empty: the test's
}

// Start speaks with an agent in a process of its own. Nothing of the test's
// environment but PATH reaches it, and its HOME is a new folder. When the test
// ends its input is closed, upon which it has to exit with status 0.
func Start(t testing.TB, p Process) *Client {
	t.Helper()
	cmd := exec.Command(p.Path, p.Args...)
	home := t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, p.Env...)
	cmd.Dir = p.Dir
	cmd.WaitDelay = 10 * time.Second // a child of the agent's that lives on holds its stderr
	stderr := &tailBuffer{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatalf("starting the agent: %v", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("starting the agent: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting the agent: %v", err)
	}
	return connect(t, in, out, &process{cmd: cmd, stderr: stderr})
}

// process is the agent's process. A nil process is an agent in this one.
type process struct {
	cmd    *exec.Cmd
	stderr *tailBuffer
	killed atomic.Bool
	exited sync.Once
	err    error // of Wait
}

func (p *process) kill() {
	if p == nil {
		return
	}
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // an agent that has gone is killed enough
}

func (p *process) wasKilled() bool { return p != nil && p.killed.Load() }

// wait collects the process after its output has ended.
func (p *process) wait() error {
	p.exited.Do(func() { p.err = p.cmd.Wait() })
	return p.err
}

// finish says when the agent did not exit as it should.
func (p *process) finish(c *Client) {
	if p == nil {
		return
	}
	if err := p.wait(); err != nil && !p.killed.Load() {
		c.t.Errorf("the agent's process: %v, want exit status 0 at the end of its input", err)
	}
}

// Kill ends the agent's process at once. It is for agents started with Start.
func (c *Client) Kill() {
	c.t.Helper()
	if c.process == nil {
		c.t.Fatal("Kill: the agent runs in this process")
	}
	c.process.kill()
}

// PID is the agent's process. It is for agents started with Start.
func (c *Client) PID() int {
	c.t.Helper()
	if c.process == nil {
		c.t.Fatal("PID: the agent runs in this process")
	}
	return c.process.cmd.Process.Pid
}

// Exit closes the agent's input, waits until its process has gone and gives its
// exit status. It is for agents started with Start.
func (c *Client) Exit() int {
	c.t.Helper()
	if c.process == nil {
		c.t.Fatal("Exit: the agent runs in this process")
	}
	c.Hangup()
	c.await("the end of the agent's output", func() bool {
		select {
		case <-c.ended:
			return true
		default:
			return false
		}
	})
	err := c.process.wait()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		c.t.Fatalf("waiting for the agent's process: %v", err)
	}
	return c.process.cmd.ProcessState.ExitCode()
}

// Stderr gives the last megabyte that the agent's process wrote to stderr.
func (c *Client) Stderr() string {
	if c.process == nil {
		return ""
	}
	return c.process.stderr.String()
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu   sync.Mutex
	data bytes.Buffer
}

// Write never fails.
func (b *tailBuffer) Write(p []byte) (int, error) {
	const limit = 1 << 20
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data.Write(p)
	if extra := b.data.Len() - limit; extra > 0 {
		b.data.Next(extra)
	}
	return len(p), nil
}

// String gives what is kept.
func (b *tailBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.String()
}
