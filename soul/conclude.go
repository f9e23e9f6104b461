package soul

import (
	"context"
	"strings"
	"time"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// BudgetOut is what a model is told that has used up what it was allowed.
const BudgetOut = "Your budget is used up: call no more tools. Answer now, in at most 300 words, with what you have found and done, and with what is open."

const (
	// concludeTime bounds a last answer in time: whoever waits has waited long already.
	concludeTime = time.Minute
	// concludeSize bounds it in bytes, with what the model thinks; what is more is cut off.
	concludeSize = 64 << 10
)

// Model is the provider of the model in use, nil when none is set. It may be called at
// any time.
func (b *Builtin) Model() llm.Provider { return b.model() }

// Conclude asks the model, behind a turn, for an answer in words alone, and tells whether
// it gave one: calls of tools that it makes are not run. It is how a turn whose budget is
// used up still says what it has come to. The model is asked once, for a minute at most,
// and what it does not answer leaves no trace in the history. Errors are those of Run; it
// must not be called while Run is under way.
func (b *Builtin) Conclude(ctx context.Context, ask string) (said bool, err error) {
	return b.conclude(ctx, ask, 1)
}

// conclude is Conclude within a turn, as its n-th step.
func (b *Builtin) conclude(ctx context.Context, ask string, n int) (said bool, err error) {
	if err := b.accepts(nil); err != nil {
		return false, err
	}
	ctx, stop := context.WithTimeout(ctx, concludeTime)
	defer stop()
	question := llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text("<system>" + ask + "</system>")}}
	b.cfg.Wire.Send(wire.StepBegin{N: n})
	answer, err := b.askLast(ctx, n, question)
	if err != nil {
		b.cfg.Wire.Send(wire.StepInterrupted{})
		return false, err
	}
	b.count(answer)
	message := answer.message() // shows the calls that were held back, too
	b.failCalls(answer)
	message.ToolCalls = nil
	said = strings.TrimSpace(textOf(message.Content)) != "" && answer.finish != llm.FinishContentFilter
	if said {
		b.insert(question)
		b.commit(answer, message)
	}
	b.sendStatus(answer)
	return said, nil
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
