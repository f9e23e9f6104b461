package soul

import (
	"context"
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
)

// pursue works on a goal, round by round, until it is judged to be reached, or
// something ends it before. How it stands is kept before each round. Typed is what the
// user wrote for it.
func (b *Builtin) pursue(ctx context.Context, g *goal, typed string) (Outcome, error) {
	b.moveGoal(g, goalRunning, g.Why)
	steps := 0
	for first := true; ; first = false {
		if g.spent() {
			b.moveGoal(g, goalSpent, g.Why)
			b.say("\n\nThe goal is not reached, and its budget is used up (%s). %s `/goal resume` gives it as much again.", g.figures(), g.Why)
			return Outcome{Stop: StopMaxSteps, Steps: steps}, nil
		}
		g.Spent.Rounds++
		b.keepGoal(g)
		b.tell("info", fmt.Sprintf("Goal: round %d of %d", g.Spent.Rounds, g.Budget.Rounds), g.Why)
		before := b.tokensUsed()
		began := b.history.Len()
		out, err := b.goalRound(ctx, g, typed, first)
		g.Spent.Tokens += b.tokensUsed() - before
		steps += out.Steps
		out.Steps = steps
		if ended, out, err := b.roundEnded(ctx, g, out, err); ended {
			return out, err
		}
		before = b.tokensUsed()
		verdict, err := b.judge(ctx, g, began)
		g.Spent.Tokens += b.tokensUsed() - before
		switch {
		case ctx.Err() != nil:
			b.pauseGoal(g, "It was stopped")
			return Outcome{Stop: StopCancelled, Steps: steps}, nil
		case err != nil:
			b.pauseGoal(g, "Nobody could judge how far it is: "+err.Error())
			return out, nil
		case verdict.blocked:
			b.moveGoal(g, goalBlocked, verdict.why)
			b.say("\n\nThe goal waits for you (%s): %s Answer, and `/goal resume` goes on.", g.figures(), verdict.why)
			return out, nil
		case verdict.reached:
			b.moveGoal(g, goalReached, verdict.why)
			b.say("\n\nThe goal is reached (%s): %s", g.figures(), verdict.why)
			return out, nil
		}
		b.moveGoal(g, goalRunning, verdict.why)
	}
}

// roundEnded tells whether a round was the last one, whatever a judge would say.
func (b *Builtin) roundEnded(ctx context.Context, g *goal, out Outcome, err error) (ended bool, _ Outcome, _ error) {
	switch {
	case ctx.Err() != nil || out.Stop == StopCancelled:
		b.pauseGoal(g, "It was stopped")
	case err != nil:
		b.pauseGoal(g, "The model could not be asked")
	case out.Stop == StopRefusal:
		b.pauseGoal(g, "The provider refused to answer")
	case b.turnedDown() && out.Stop == StopEndTurn:
		b.pauseGoal(g, "The model went round in circles")
	default:
		return false, out, nil
	}
	return true, out, err
}

// pauseGoal stops the work on a goal until the user says that it goes on.
func (b *Builtin) pauseGoal(g *goal, why string) {
	b.moveGoal(g, goalPaused, why)
	b.say("\n\nThe goal is paused (%s). %s. `/goal resume` goes on with it.", g.figures(), strings.TrimRight(why, "."))
}

// goalRound is one round of work.
func (b *Builtin) goalRound(ctx context.Context, g *goal, typed string, first bool) (Outcome, error) {
	var s strings.Builder
	s.WriteString("Work on this goal until it is reached, without asking whether to go on. Check what you did. When it is reached, or only the user can help, say so and why, and stop; somebody else then judges it by what you did and said.\n")
	fmt.Fprintf(&s, "\nThe goal: %s\n", g.Text)
	if g.Why != "" {
		fmt.Fprintf(&s, "\nHow it was judged last: %s\n", g.Why)
	}
	if g.Spent.Rounds >= g.Budget.Rounds {
		s.WriteString("\nThis is the last round: leave everything in a state that works, and say what is still missing.\n")
	}
	if !first {
		return b.goOn(ctx, noteOf+"The work on the goal goes on.</system>\n\n"+s.String())
	}
	return b.converse(ctx, Input{Text: typed, Parts: []llm.Part{llm.Text(typed), llm.Text(s.String())}}, true)
}

// tokensUsed is what all model calls have taken so far.
func (b *Builtin) tokensUsed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used.Total()
}
