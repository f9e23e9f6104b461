package proc

import (
	"os/exec"
	"time"
)

const (
	killWait = 2 * time.Second // a killed process ends in microseconds, unless the kernel holds it

	firstPoll = 2 * time.Millisecond  // most groups are gone at once; each further look costs,
	lastPoll  = 50 * time.Millisecond // so the pauses between them double up to this
)

// process is a started command and the group that it leads.
type process struct {
	group  int           // process id of the leader, which names the group
	exited chan struct{} // closed once the leader has ended and was reaped
	cmd    *exec.Cmd     // its state may be read once exited is closed
}

// follow reaps the leader when it ends. The goroutine ends with the leader: its owner
// is whoever waits for exited, and only an unkillable leader outlives that wait.
func follow(cmd *exec.Cmd) *process {
	p := &process{group: cmd.Process.Pid, exited: make(chan struct{}), cmd: cmd}
	go func() {
		defer close(p.exited)
		// How it ended is read from the state; there is no copying that could fail.
		_ = cmd.Wait()
	}()
	return p
}

func (p *process) leaderGone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// end asks the whole group to end, kills what is left after grace, and reports
// whether the group is gone.
func (p *process) end(grace time.Duration) bool {
	if p.askedToEnd(grace) {
		return true
	}
	killGroup(p.group)
	return p.goneWithin(killWait)
}

// askedToEnd asks the whole group to end, and reports whether it did so within d.
func (p *process) askedToEnd(d time.Duration) bool {
	terminateGroup(p.group)
	return p.goneWithin(d)
}

// goneWithin waits until leader and group are gone, or d is over.
func (p *process) goneWithin(d time.Duration) bool {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	select {
	case <-p.exited:
	case <-deadline.C:
		return false
	}
	for pause := firstPoll; outlivesLeader(p.group); pause = min(2*pause, lastPoll) {
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return false
		}
	}
	return true
}

// status gives the leader's exit code and the signal that ended it.
func (p *process) status() (code int, signal string) {
	if !p.leaderGone() {
		return -1, ""
	}
	return p.cmd.ProcessState.ExitCode(), endingSignal(p.cmd.ProcessState)
}
