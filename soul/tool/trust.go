package tool

import (
	"context"
	"strings"

	"kimi-acp/internal/policy"
	"kimi-acp/internal/trust"
	"kimi-acp/soul/wire"
)

// The answers to the question whether to trust a workspace. The first one changes
// nothing, for those who answer with whatever comes first.
const (
	trustLater = "Not now"
	trustYes   = "Trust it"
	trustNever = "Never ask here"
)

// judgeCommand is what the rules say of a command. Where it would be done without asking
// if the workspace were trusted, and that is not decided, the user is asked about it
// before. The error is ctx's.
func (c *Invocation) judgeCommand(ctx context.Context, command string) (ruling, error) {
	e := c.executor
	r := e.guard.command(command)
	if r.Decision == policy.Allow || e.Mode() == ModeYolo || e.questioner == nil {
		return r, nil
	}
	if !e.guard.wantsTrust(command) {
		// It may be trusted since, by the answer to what another call asked.
		return e.guard.command(command), nil
	}
	trusted, err := e.guard.Gate.Ask(ctx, c.askTrust)
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err != nil:
		e.logger.Warn("whether the workspace is trusted could not be settled", "error", err)
	case trusted:
		return e.guard.command(command), nil
	}
	return r, nil
}

// wantsTrust tells whether trusting the workspace would make a command free.
func (g *Guard) wantsTrust(command string) bool {
	if g == nil || g.Gate == nil || g.Gate.Trusted() {
		return false
	}
	trusting := Guard{Engine: g.Engine, Context: g.Context, answers: g.answers}
	trusting.Context.Trusted = true
	return trusting.command(command).Decision == policy.Allow
}

// askTrust puts the question whether to trust folders. An answer in other words
// counts as none.
func (c *Invocation) askTrust(ctx context.Context, folders []string) (trust.Answer, error) {
	names := make([]string, len(folders))
	for i, f := range folders {
		names[i] = policy.Visible(f)
	}
	q := wire.Question{
		Header:   "Trust",
		Question: "Do you trust " + strings.Join(names, " and ") + "? The files of a workspace can name programs that run by themselves, such as git's hooks and filters. Trust it if you would run its code yourself: then git and tools may look around without asking, and what you allowed for the project counts.",
		Options: []wire.QuestionOption{
			{Label: trustLater, Description: "commands that could run its code are asked for, one by one, in this session"},
			{Label: trustYes, Description: "kept until you take it back with /permissions or kimi-acp trust remove"},
			{Label: trustNever, Description: "as now, and in later sessions too"},
		},
	}
	answers, err := c.Ask(ctx, []wire.Question{q})
	switch {
	case err != nil:
		return trust.Undecided, err
	case answers[q.Question] == trustYes:
		return trust.Trusted, nil
	case answers[q.Question] == trustNever:
		return trust.Never, nil
	}
	return trust.Undecided, nil
}
