package soul

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kimi-acp/soul/background"
	"kimi-acp/soul/compaction"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// Compaction says when a conversation is compacted: when it takes Ratio of the model's
// window, or when less than Reserve is left of it, whichever comes first.
type Compaction struct {
	Ratio   float64 // above 0, below 1
	Reserve int     // tokens; of a small window a quarter at most
}

// DefaultCompaction has kimi-cli's numbers.
var DefaultCompaction = Compaction{Ratio: 0.85, Reserve: 50_000}

// full is the number of tokens from which on a conversation is compacted.
func (c Compaction) full(window int) int {
	return min(int(float64(window)*c.Ratio), window-min(c.Reserve, window/4))
}

// makeRoom compacts the conversation if it has become too long for the next request,
// to which more, in estimated tokens, is to be added. An error is the end of ctx.
func (b *Builtin) makeRoom(ctx context.Context, more int) error {
	p := b.model()
	if p == nil { // the step says so
		return nil
	}
	window := p.Model().ContextSize
	scale, fixed := b.history.Scale()
	tokens := b.history.Tokens() + int(float64(more)*scale)
	b.settled = min(b.settled, tokens)
	// Where the tools alone fill a window there is nothing to gain.
	if tokens-int(float64(fixed)*scale) < window/10 {
		return nil
	}
	// When a compaction could not get below the limit, the next one waits until there
	// is something to gain: else each step would begin with one.
	if tokens < b.cfg.Compact.full(window) || tokens < b.settled+window/10 {
		return nil
	}
	_, err := b.compact(ctx, compaction.Job{Window: window})
	return err
}

// fittingStep is a step before which there is room, and which is repeated, once, after
// a compaction when the model still finds the conversation too long.
func (b *Builtin) fittingStep(ctx context.Context, n int) (next, error) {
	if err := b.makeRoom(ctx, 0); err != nil {
		return stepDone, err
	}
	b.checkpoint()
	next, err := b.step(ctx, n)
	var e *llm.Error
	if !errors.As(err, &e) || !e.Kind.Remedy().Compact {
		return next, err
	}
	// Whatever window the model is said to have, and however we count: it has less than this.
	window := min(b.model().Model().ContextSize, b.history.Tokens())
	outcome, cancelled := b.compact(ctx, compaction.Job{Window: window})
	switch {
	case cancelled != nil:
		return next, cancelled
	case outcome == compactedNothing:
		return next, err
	}
	b.checkpoint()
	return b.step(ctx, n)
}

// compacted is what came of a compaction.
type compacted uint8

const (
	compactedNothing compacted = iota // there was nothing to compact
	compactedWhole
	compactedAlone // no model summed it up
)

// compact makes the conversation shorter, to fit the window of a job whose topic and
// wish for a sum are set: old outputs of tools go first, and unless that is enough a
// model sums up what is old, with at most one answer. What the conversation was is kept
// in the session's folder. An error is the end of ctx, and then nothing has changed; the
// Wire is told of no end in that case, as the turn's end follows.
func (b *Builtin) compact(ctx context.Context, job compaction.Job) (compacted, error) {
	job.Messages = b.history.All()
	job.Scale, job.Fixed = b.history.Scale()
	job.Plan = planText(job.Messages)
	job.Running = b.running()
	draft, ok := compaction.Prepare(job)
	if !ok {
		return compactedNothing, nil
	}
	outcome, trigger := compactedWhole, "auto"
	if job.Sum {
		trigger = "manual"
	}
	b.hook(ctx, HookPreCompact, trigger, map[string]any{"trigger": trigger, "token_count": b.history.Tokens()})
	b.cfg.Wire.Send(wire.CompactionBegin{})
	short, enough := draft.WithoutModel()
	if !enough {
		answer, err := b.sumUp(ctx, draft)
		if err != nil {
			return compactedNothing, err
		}
		if answer == "" {
			outcome = compactedAlone
		}
		short = draft.Finish(answer)
	}
	b.renewSystem()
	b.renewTools()
	b.history.Restore(short, 0, 0)
	b.reminders.forget()
	b.settled = b.history.Tokens()
	b.record.compact(short, b.settled)
	b.closePlaces()
	b.cfg.Wire.Send(wire.CompactionEnd{})
	b.hookAside(HookPostCompact, trigger, map[string]any{"trigger": trigger, "estimated_token_count": b.settled})
	b.sendStatus(&assembler{})
	return outcome, nil
}

// renewSystem takes the system prompt as it would be made now, with what the project has
// come to say since. It is the one moment to do so: the prefix that providers keep is lost
// anyway.
func (b *Builtin) renewSystem() {
	if b.cfg.Renew == nil {
		return
	}
	system := b.cfg.Renew()
	if system == "" || system == b.record.system {
		return
	}
	b.history.holdMore(llm.EstimateText(system) - llm.EstimateText(b.record.system))
	b.record.system, b.cfg.System = system, system
}

// planText is the to-do list in a conversation, "" when there is none.
func planText(messages []llm.Message) string {
	items, _ := tool.PlanIn(messages)
	var out strings.Builder
	for _, i := range items {
		fmt.Fprintf(&out, "- [%s] %s\n", i.Status, i.Title)
	}
	return strings.TrimSpace(out.String())
}

// running tells of the background tasks that are not over, a line each, the latest
// first; "" when there are none.
func (b *Builtin) running() string {
	if b.cfg.Tasks == nil {
		return ""
	}
	var out strings.Builder
	for _, t := range b.cfg.Tasks.List(true) {
		fmt.Fprintf(&out, "- %s [%s] %s", t.ID, t.Status, Shorten(t.Description, maxRunning))
		if t.Kind == background.Agent {
			fmt.Fprintf(&out, " (agent %s, %s)", t.AgentID, t.AgentType)
		}
		out.WriteByte('\n')
	}
	return strings.TrimSpace(out.String())
}

// maxRunning bounds what a line says of a task, in characters.
const maxRunning = 120

// sumUp asks a model for a summary, "" when none is to be had. An error is the end
// of ctx.
func (b *Builtin) sumUp(ctx context.Context, draft *compaction.Draft) (string, error) {
	answer, err := b.askBeside(ctx, draft.Request, draft.MaxAnswer())
	if ctx.Err() != nil {
		return "", context.Canceled
	}
	if err != nil {
		b.cfg.Logger.Warn("no model sums up the conversation", "session", b.cfg.SessionID, "error", err)
		b.tell("warning", "No model could sum up the conversation", "An excerpt of it stands where the summary would be.")
		return "", nil
	}
	return answer, nil
}

// compactNow is the command.
func (b *Builtin) compactNow(ctx context.Context, topic string) (string, error) {
	p := b.model()
	if p == nil {
		return "", ErrNoModel
	}
	before := b.history.Tokens()
	outcome, err := b.compact(ctx, compaction.Job{Window: p.Model().ContextSize, Topic: topic, Sum: true})
	if err != nil {
		return "", err
	}
	switch outcome {
	case compactedNothing:
		b.say("There is nothing to compact yet.")
		return "", nil
	case compactedAlone:
		b.say("No model could sum up the conversation; an excerpt stands in its place. ")
	case compactedWhole:
	}
	b.say("The conversation is compacted: %d tokens became %d.", before, b.history.Tokens())
	return "", nil
}
