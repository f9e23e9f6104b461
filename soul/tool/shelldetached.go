package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/background"
	"kimi-acp/soul/wire"
)

var errNoTasks = errors.New("nothing can go on in the background in this session; run the command in the foreground, with a longer timeout if need be")

// detachedNote is what people cannot take back of a command in the background.
const detachedNote = "What commands in the background change is not watched, and cannot be undone here."

// shellDetached starts a command that goes on beside the conversation.
func shellDetached(ctx context.Context, c *Invocation, in shellArguments, cmd proc.Command) wire.ToolReturnValue {
	what := strings.TrimSpace(in.What)
	if what == "" {
		return failure("Error validating JSON arguments: `description` must say what the command is for when it runs in the background.", "Invalid arguments")
	}
	if in.Timeout != nil {
		cmd.Timeout = time.Duration(*in.Timeout) * time.Second
	}
	task, uncovered, err := c.Detach(ctx, cmd, what)
	if err != nil {
		return withNotes(Failed(ctx, err), []string{uncovered})
	}
	return withNotes(started(task, "You are told when it ends. Go on with other work; TaskOutput shows what it has printed, WaitFor waits, TaskStop ends it."), []string{uncovered})
}

// started is the result of a call that began a task.
func started(task background.Task, advice string) wire.ToolReturnValue {
	return wire.ToolReturnValue{
		Output:  wire.Output{Text: describeTask(task)},
		Message: "Started in the background as " + task.ID + ". " + advice,
		Display: []wire.Block{wire.Brief("Started " + task.ID), taskBlock(task)},
	}
}

// Detach asks for a command where the rules say so and starts it, to go on after the
// call, once no other change is under way. Approvals and errors are those of Command.
// Note says, once, that nobody watches what it changes.
func (c *Invocation) Detach(ctx context.Context, cmd proc.Command, what string) (task background.Task, note string, err error) {
	e := c.executor
	if e.tasks == nil || e.detached == nil {
		return background.Task{}, "", errNoTasks
	}
	if c.caller != nil {
		return background.Task{}, "", errNoDetach
	}
	cmd.ID, cmd.Dir, c.detach = c.ID, e.cwd, true
	if err := c.changeOnceAllowed(ctx, func() error { return c.approveCommand(ctx, cmd) }, func() bool { return c.commandStands(cmd) }); err != nil {
		return background.Task{}, "", err
	}
	defer e.changes.leave()
	if err := e.allows(Runs); err != nil {
		return background.Task{}, "", err
	}
	c.Progress(true, "", nil)
	if e.journal != nil && !e.guard.looks(cmd.Shell) {
		note = e.journal.uncovered(e.journal.Turn(), detachedNote)
	}
	spec := background.Spec{Kind: background.Command, Description: what, Command: cmd.Shell, ToolCall: c.ID, Dir: cmd.Dir}
	task, err = e.tasks.Start(ctx, spec, func(ctx context.Context, out io.Writer) background.Ending {
		cmd.Raw = func(piece []byte) { _, _ = out.Write(piece) } // keeping an output never fails
		o, err := e.detached.Run(ctx, cmd)
		if o.Gone != nil {
			<-o.Gone
		}
		return commandEnding(o, err, cmd.Timeout)
	})
	return task, note, err
}

// commandEnding is what a command in the background came to.
func commandEnding(o proc.Outcome, err error, timeout time.Duration) background.Ending {
	e := background.Ending{TimedOut: o.TimedOut}
	if err == nil && o.ExitCode >= 0 {
		e.ExitCode = &o.ExitCode
	}
	switch {
	case err != nil:
		e.Failure = err.Error()
	case o.TimedOut:
		e.Failure = fmt.Sprintf("it did not end within %s", timeout)
	case o.Signal != "":
		e.Failure = "it was ended by the signal " + o.Signal
	case o.ExitCode != 0:
		e.Failure = fmt.Sprintf("it failed with exit code %d", o.ExitCode)
	}
	return e
}
