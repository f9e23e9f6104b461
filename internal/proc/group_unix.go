//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// terminateGroup and killGroup have no error: a group that is gone is what was wanted,
// and for one that may not be signalled there is nothing further to do.
func terminateGroup(group int) { _ = unix.Kill(-group, unix.SIGTERM) }

func killGroup(group int) { _ = unix.Kill(-group, unix.SIGKILL) }

// groupExists reports whether any process that has not ended is in the group.
func groupExists(group int) bool {
	err := unix.Kill(-group, 0)
	if errors.Is(err, unix.ESRCH) {
		return false
	}
	// Processes that we may not signal are there, though we may not see them either.
	return err != nil || !onlyZombies(group)
}

// outlivesLeader reports whether processes are left in a group whose leader was
// reaped. While they are, the system does not give the leader's number away; a process
// with that number therefore means that it was given away, to strangers.
func outlivesLeader(group int) bool {
	return groupExists(group) && errors.Is(unix.Kill(group, 0), unix.ESRCH)
}

func endingSignal(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return name
	}
	return status.Signal().String()
}

// ignoreEndings makes the supervisor deaf to what is meant to end our whole family: it
// is the one that stays to the end, and it goes when its input ends.
func ignoreEndings() { signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM) }

// rootDir is a folder that the supervisor can sit in without keeping it from being
// unmounted or removed.
func rootDir(string) string { return "/" }
