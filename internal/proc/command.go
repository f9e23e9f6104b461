// Package proc runs shell commands so that nothing is left behind: every command
// leads a process group of its own, which ends with it, and a small supervisor
// child ends the groups when this process itself is gone.
//
// The package knows of shells, groups, pipes and bytes. It must not know who asked
// for a command, whether it was allowed, where its output is shown, or any protocol.
package proc

import "time"

// Command is one line for the shell.
type Command struct {
	Shell   string        // the text handed to the shell, not empty
	Dir     string        // absolute path to run in; empty is this process's own folder
	Env     []string      // KEY=value entries that go over the Runner's own
	Timeout time.Duration // time it may run, 0 for no limit

	// Output, if set, is given the text so far while the command runs: at most ten
	// times a second, and once more at the end. It is called by one goroutine at a
	// time and never after Run has returned; Run waits for it, the command does not.
	Output func(snapshot string)
	// Raw, if set, is given every byte that the command writes, as it comes, by one
	// goroutine at a time and never after Run has returned. The command waits for it.
	Raw func(piece []byte)
	// ID names the call that the command runs for, for a runner that shows it.
	ID string
}

// Outcome is what came of a command.
type Outcome struct {
	ExitCode int    // 0 to 255, or -1 when a signal ended it or it never ended
	Signal   string // the signal that ended it, such as "SIGKILL"; empty otherwise
	TimedOut bool   // it was ended because its Timeout had passed

	// Output is what it wrote to standard output and standard error, in the order
	// in which it wrote: valid UTF-8, without escape sequences, a progress line as
	// it last stood. Of a long text the beginning and the end are kept.
	Output    string
	Truncated bool          // the middle of Output was cut
	Bytes     int64         // bytes the command wrote, before anything was cut; 0: unknown, when Truncated
	Duration  time.Duration // from start to end, including the ending of its group

	// Leftover says that the command had ended but had left processes running in
	// the background of its group; they were ended.
	Leftover bool
	// Unended says that processes of the group outlived even the kill, for example
	// because they run as another user.
	Unended bool
	// Gone is set when the caller gave up waiting before the group had ended. It has been
	// asked to, is killed if it does not within the Runner's grace, and closes Gone then.
	Gone <-chan struct{}
}
