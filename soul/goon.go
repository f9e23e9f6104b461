package soul

import (
	"context"
	"strings"

	"kimi-acp/soul/llm"
)

// noteOf opens what the program asks of the model within a turn: it opens none.
const noteOf = "<system>"

// goOn asks the model for more within a turn. What the program asks in its own name
// begins with a note that says so; one can go back to before it, and when it is refused
// it leaves the history again.
func (b *Builtin) goOn(ctx context.Context, prompt string) (Outcome, error) {
	b.repeats = repeats{}
	m := llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(prompt)}}
	if err := b.makeRoom(ctx, llm.EstimateTokens(m)); err != nil {
		return Outcome{}, err
	}
	if strings.HasPrefix(prompt, noteOf) {
		b.record.checkpoint()
	}
	b.insert(m)
	b.closePlaces() // the model goes back no further than what it is asked now
	out, err := b.steps(ctx)
	if err == nil && out.Stop == StopRefusal {
		b.unsay(prompt)
	}
	return out, err
}

// unsay takes a message of the program's back, and what came after it.
func (b *Builtin) unsay(prompt string) {
	messages := b.history.All()
	all := points(messages)
	for i := len(all) - 1; i >= 0; i-- {
		if m := messages[all[i].index]; m.Role != llm.RoleUser || len(m.Content) == 0 || m.Content[0].Text != prompt {
			continue
		}
		if err := b.goBack(all[i]); err != nil {
			b.cfg.Logger.Warn("what was refused stays in the history", "session", b.cfg.SessionID, "error", err)
			return
		}
		b.retell(messages[all[i].index:])
		return
	}
}
