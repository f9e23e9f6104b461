package tool

import (
	"context"

	"kimi-acp/fileop"
	"kimi-acp/fileop/facts"
	"kimi-acp/internal/policy"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

// command judges a command line. A nil Guard asks for everything.
func (g *Guard) command(command string) ruling {
	if g == nil {
		return ruling{policy.Verdict{Decision: policy.Ask, Key: command, Scope: "this exact command"}, Guarded}
	}
	return g.judge(func(e *policy.Engine, c policy.Context) policy.Verdict { return e.Shell(command, c) })
}

// commandDigest stands for what is run, where and with which environment.
func commandDigest(cmd proc.Command) fileop.Digest {
	return fileop.DigestOf(append([]string{"command", cmd.Shell, cmd.Dir}, cmd.Env...)...)
}

// approveCommand asks for a command, unless this very command was approved in this
// call or the rules allow it.
func (c *Invocation) approveCommand(ctx context.Context, cmd proc.Command) error {
	if c.executor.Mode() == ModePlan {
		return errPlanMode
	}
	if c.caller != nil && c.caller.ReadOnly && !c.executor.guard.looks(cmd.Shell) {
		return errOnlyLooks
	}
	here := facts.FolderAt(cmd.Dir)
	r, err := c.judgeCommand(ctx, cmd.Shell)
	if err != nil {
		return err
	}
	question := commandQuestion(cmd.Shell, r)
	if r.Decision != policy.Deny && c.granted[commandDigest(cmd)] {
		if c.askedIn.Is(here) {
			return nil
		}
		question += "\n\n" + codeSpan(policy.Visible(cmd.Dir)) + " is another folder now than when this was asked."
	}
	c.askedIn = here
	action := "run command"
	if c.detach {
		action = "run background command"
		question += "\n\nIt goes on in the background."
	}
	return c.permit(ctx, r, Action{
		Name:        action,
		Description: question,
		Effect:      Runs,
		Bound:       commandDigest(cmd),
		Display: []wire.Block{{
			Type:  wire.BlockShell,
			Shell: &wire.ShellBlock{Language: "bash", Command: policy.Legible(cmd.Shell)},
		}},
	})
}

// commandStands tells whether a command that was approved, or allowed, still is, in the
// folder that it was meant for.
func (c *Invocation) commandStands(cmd proc.Command) bool {
	if !c.askedIn.Is(facts.FolderAt(cmd.Dir)) {
		return false
	}
	r := c.executor.guard.command(cmd.Shell)
	return r.Decision == policy.Allow || r.Decision != policy.Deny && c.granted[commandDigest(cmd)]
}
