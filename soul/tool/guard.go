package tool

import (
	"context"
	"strings"

	"kimi-acp/internal/policy"
	"kimi-acp/soul/wire"
)

// Guard judges what a tool means to do, before anybody is asked. It may be used by
// several goroutines at once.
type Guard struct {
	// Engine gives the rules, the same each time. An error makes everything ask.
	Engine func() (*policy.Engine, error)
	// Context is where things stand in the session; its Mode is set for each action.
	Context policy.Context
}

// shell judges a command line. A nil Guard asks for everything.
func (g *Guard) shell(command string, mode Mode) policy.Verdict {
	if g == nil {
		return policy.Verdict{Decision: policy.Ask, Key: command, Scope: "this exact command"}
	}
	engine, err := g.Engine()
	if err != nil {
		return policy.Verdict{Decision: policy.AskOnce, Reason: "the rules cannot be used: " + err.Error()}
	}
	c := g.Context
	c.Mode = policy.Mode(mode)
	if mode == ModeYolo {
		// Whether the mode lifts a question is the Executor's to say; what is denied
		// whatever anybody answers stays denied.
		c.Mode = policy.ModeDefault
	}
	return engine.Shell(command, c)
}

// approveCommand asks for a command unless the rules allow it. Its error is one of
// Approve, or a *deniedError.
func (c *Invocation) approveCommand(ctx context.Context, command string) error {
	v := c.executor.guard.shell(command, c.executor.Mode())
	switch v.Decision {
	case policy.Allow:
		return nil
	case policy.Deny:
		if c.executor.Mode() == ModePlan {
			return errPlanMode
		}
		return &deniedError{reason: v.Reason}
	}
	shown := visible(command)
	description := "Run command `" + shown + "`"
	if v.Decision == policy.AskOnce {
		description += "\n\nAsked for because " + v.Reason + "."
	}
	action := Action{
		Name:        "run command",
		Description: description,
		Effect:      Runs,
		Display: []wire.Block{{
			Type:  wire.BlockShell,
			Shell: &wire.ShellBlock{Language: "bash", Command: shown},
		}},
	}
	if v.Decision == policy.Ask && v.Key != "" {
		action.Key, action.Scope = "run command\n"+v.Key, v.Scope
	}
	return c.Approve(ctx, action)
}

// visible shows hidden characters, line by line.
func visible(command string) string {
	lines := strings.Split(command, "\n")
	for i, line := range lines {
		lines[i] = policy.Visible(line)
	}
	return strings.Join(lines, "\n")
}

// deniedError is an action that the rules deny whatever anybody answers.
type deniedError struct{ reason string }

// Error tells the model why, and not to look for another way.
func (e *deniedError) Error() string {
	return "This is not allowed here, whatever the user answers: " + e.reason + ". Do not try to reach the same by other means; tell the user if it is needed."
}
