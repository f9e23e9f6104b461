package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

// The limits of one command.
const (
	defaultTimeout  = 60     // seconds, in the foreground
	maxTimeout      = 300    // seconds, in the foreground
	maxDetached     = 86_400 // seconds, in the background
	maxCommandChars = 100_000
)

//go:embed shell.md
var shellDescription string

type shellArguments struct {
	Command string `json:"command" jsonschema:"The command line, for bash where there is one."`
	Timeout *int   `json:"timeout,omitempty" jsonschema:"Seconds after which the command is stopped: 60 if left out, 300 at most; in the background it has no limit if left out."`
	Detach  bool   `json:"run_in_background,omitempty" jsonschema:"Let the command go on beside the conversation, and get a task id at once."`
	What    string `json:"description,omitempty" jsonschema:"What the command is for, in a few words; needed in the background."`
}

func newShell() Tool {
	return Define(Definition[shellArguments]{
		Name:        "Shell",
		Description: shellDescription,
		Effect:      Runs,
		Refine: func(a map[string]*jsonschema.Schema) {
			a["command"].MinLength = jsonschema.Ptr(1)
			a["command"].MaxLength = jsonschema.Ptr(maxCommandChars)
			a["timeout"].Minimum = jsonschema.Ptr(1.0)
			a["timeout"].Maximum = jsonschema.Ptr(float64(maxDetached))
			a["description"].MaxLength = jsonschema.Ptr(maxTaskText)
		},
		Run: shell,
	})
}

func shell(ctx context.Context, c *Invocation, in shellArguments) wire.ToolReturnValue {
	// Said before anyone is asked: these cannot run.
	switch {
	case strings.TrimSpace(in.Command) == "":
		return failure("Error validating JSON arguments: `command` must not be blank.", "Invalid arguments")
	case strings.ContainsRune(in.Command, 0):
		return failure("Error validating JSON arguments: `command` must not hold a NUL character.", "Invalid arguments")
	}
	seconds := defaultTimeout
	if in.Timeout != nil {
		seconds = *in.Timeout
	}
	cmd := proc.Command{
		Shell: in.Command,
		// Nothing may wait for a person who cannot answer, or draw on a terminal
		// that is not there.
		Env: []string{"GIT_TERMINAL_PROMPT=0", "PAGER=cat", "TERM=dumb"},
	}
	if in.Detach {
		return shellDetached(ctx, c, in, cmd)
	}
	var lowered []string
	if seconds > maxTimeout {
		seconds = maxTimeout
		lowered = []string{fmt.Sprintf("`timeout` was lowered to %d, the most while you wait; with `run_in_background` a command may take longer.", maxTimeout)}
	}
	timeout := time.Duration(seconds) * time.Second
	cmd.Timeout = timeout
	out, uncovered, err := c.Command(ctx, cmd)
	return withNotes(commandResult(ctx, out, err, timeout), append(lowered, commandNotes(out, uncovered)...))
}

// commandNotes tells what a model would not see from a command's output.
func commandNotes(out proc.Outcome, uncovered string) []string {
	var notes []string
	switch {
	case out.Truncated && out.Bytes == 0: // an editor's terminal keeps the end
		notes = append(notes, "The output was truncated: only its end is shown.")
	case out.Truncated:
		notes = append(notes, fmt.Sprintf("The output of %s was truncated: its middle is left out.", plural(int(out.Bytes), "byte")))
	}
	switch {
	case out.Gone != nil:
		notes = append(notes, "It did not end at once when it was asked to, and is killed if it goes on.")
	case out.Unended:
		notes = append(notes, "Processes that it started could not be ended and may still run.")
	case out.Leftover:
		notes = append(notes, "Processes that it had left in the background were ended with it.")
	}
	if uncovered != "" {
		notes = append(notes, uncovered)
	}
	return notes
}

func commandResult(ctx context.Context, out proc.Outcome, err error, timeout time.Duration) wire.ToolReturnValue {
	var v wire.ToolReturnValue
	switch {
	case err != nil && ctx.Err() != nil && out.Duration > 0:
		v = failure("The command was interrupted and stopped before it had ended. What it did until then stays done.", "Interrupted")
	case err != nil:
		v = Failed(ctx, err)
	case out.TimedOut:
		v = failure(fmt.Sprintf("The command did not end within %s and was stopped. What it did until then stays done. Give it more time, up to %d seconds, or make it do less.", plural(int(timeout.Seconds()), "second"), maxTimeout), fmt.Sprintf("Stopped after %s", plural(int(timeout.Seconds()), "second")))
	case out.Signal != "":
		v = failure(fmt.Sprintf("The command was ended by the signal %s.", out.Signal), "Ended by "+out.Signal)
	case out.ExitCode != 0:
		v = failure(fmt.Sprintf("The command failed with exit code %d.", out.ExitCode), fmt.Sprintf("Exit code %d", out.ExitCode))
	default:
		v.Message = "Command executed successfully."
	}
	v.Output.Text = out.Output
	return v
}
