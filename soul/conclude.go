package soul

import (
	"context"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// Model is the provider of the model in use, nil when none is set. It may be called at
// any time.
func (b *Builtin) Model() llm.Provider { return b.model() }

// Conclude asks the model, behind a turn, for an answer in words alone: calls of tools
// that it makes are not run. It is how a turn whose budget is used up still says what it
// has come to. Errors are those of Run; it must not be called while Run is under way.
func (b *Builtin) Conclude(ctx context.Context, ask string) error {
	b.insert(llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text("<system>" + ask + "</system>")}})
	b.cfg.Wire.Send(wire.StepBegin{N: 1})
	answer, err := b.ask(ctx, 1)
	if err != nil {
		return err
	}
	b.count(answer)
	message := answer.message() // shows the calls that were held back, too
	b.failCalls(answer)
	message.ToolCalls = nil
	if len(message.Content) > 0 {
		b.commit(answer, message)
	}
	b.sendStatus(answer)
	return nil
}

// LastWords is the text that the model said last since the latest turn began, "" for
// none. It may be called at any time.
func (b *Builtin) LastWords() string {
	messages := b.history.All()
	for i := len(messages) - 1; i >= 0 && !session.OpensTurn(messages[i]); i-- {
		if messages[i].Role != llm.RoleAssistant {
			continue
		}
		if text := strings.TrimSpace(textOf(messages[i].Content)); text != "" {
			return text
		}
	}
	return ""
}
