package proc

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Supervisor is this process's side of a small child that ends command groups when
// this process is gone, in whatever way it went. The two are joined by a pipe only:
// "+GROUP" and "-GROUP" lines say which groups run, "~GROUP" that a group ends by itself
// if it is given time, and the end of the pipe says that we are gone.
//
// The child is started at the first command, so that a session without commands does
// not pay for it, and again should it have died. A nil Supervisor supervises nothing.
// It may be used by several goroutines at once.
type Supervisor struct {
	exe  string
	args []string

	mu     sync.Mutex
	groups map[int]byte // the sign of the line that says that it runs
	child  *exec.Cmd    // nil while there is none
	pipe   *os.File     // our end, set with child
	off    bool         // closed, or the child cannot be started
}

// sendWithin bounds a write to a child that has stopped reading.
const sendWithin = 100 * time.Millisecond

// NewSupervisor makes a Supervisor whose child is exe with args, a program that calls
// SuperviseMain on its standard input. It starts nothing yet.
func NewSupervisor(exe string, args ...string) *Supervisor {
	return &Supervisor{exe: exe, args: args, groups: map[int]byte{}}
}

// Close lets go of the child, which then ends the groups that still run and itself.
// It returns at once. Leaving the process without Close has the same effect.
func (s *Supervisor) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = true
	if s.child != nil {
		_ = s.pipe.Close() // lines are written at once, none is held back
		// No wait: the child may take seconds, and reaping it matters to nobody when
		// this process is about to leave.
		_ = s.child.Process.Release()
		s.child = nil
	}
}

// prepare starts the child unless it runs. Done before a command starts, it keeps the
// time short in which a command runs unsupervised.
func (s *Supervisor) prepare() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child == nil && !s.off {
		s.start()
	}
}

// watch hands the group to the child and reports whether it took it.
func (s *Supervisor) watch(group int) bool { return s.add('+', group) }

// watchPatiently is watch for a group that notices our end and ends by itself.
func (s *Supervisor) watchPatiently(group int) bool { return s.add('~', group) }

func (s *Supervisor) add(sign byte, group int) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off {
		return false
	}
	s.groups[group] = sign
	if s.child != nil && s.send(sign, group) {
		return true
	}
	// The child has died. A new one is told of every group, this one among them.
	if s.start() {
		return true
	}
	delete(s.groups, group)
	return false
}

// forget takes back a group that has ended. Should the child not hear of it, it later
// finds the group gone.
func (s *Supervisor) forget(group int) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.groups[group]; !known {
		return
	}
	delete(s.groups, group)
	if s.child != nil {
		s.send('-', group)
	}
}

// start starts a child and tells it of the known groups. Without success there is no
// second attempt, since what kept it from starting will not have changed.
func (s *Supervisor) start() bool {
	read, write, err := os.Pipe()
	if err != nil {
		s.off = true
		return false
	}
	defer func() { _ = read.Close() }() // the child has its own copy
	child := exec.Command(s.exe, s.args...)
	child.Stdin = read // and no other file: an editor may wait until our standard error is closed
	child.Env = []string{}
	child.Dir = rootDir(s.exe)
	ownSession(child)
	if err := child.Start(); err != nil {
		_ = write.Close() // nothing was written
		s.off = true
		return false
	}
	s.child, s.pipe = child, write
	for group, sign := range s.groups {
		if !s.send(sign, group) {
			return false
		}
	}
	return true
}

// send writes one line. A child that cannot be written to is given up and reaped.
func (s *Supervisor) send(sign byte, group int) bool {
	// A pipe without deadlines (Windows) is written to without one.
	_ = s.pipe.SetWriteDeadline(time.Now().Add(sendWithin))
	if _, err := fmt.Fprintf(s.pipe, "%c%d\n", sign, group); err == nil {
		return true
	}
	// What fails here has failed already: the child is gone or about to be.
	_ = s.pipe.Close()
	_ = s.child.Process.Kill()
	_ = s.child.Wait()
	s.child, s.pipe = nil, nil
	return false
}
