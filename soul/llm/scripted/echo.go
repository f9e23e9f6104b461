package scripted

import (
	"context"
	"iter"
	"strings"

	"kimi-acp/soul/llm"
)

// Echo answers each call with the script that the last user message holds. It
// is the provider `_echo`.
type Echo struct {
	model llm.Model
}

// NewEcho makes an Echo.
func NewEcho(model llm.Model) *Echo { return &Echo{model: model} }

// Model tells what NewEcho was given.
func (e *Echo) Model() llm.Model { return e.model }

// Stream plays the text of the last message of req, which must be the user's.
// Calls may run side by side.
func (e *Echo) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if len(req.Messages) == 0 {
			yield(llm.Delta{}, failf("EchoChatProvider requires at least one message in history."))
			return
		}
		last := req.Messages[len(req.Messages)-1]
		if last.Role != llm.RoleUser {
			yield(llm.Delta{}, failf("EchoChatProvider expects the last history message to be user."))
			return
		}
		var text strings.Builder
		for _, part := range last.Content {
			if part.Type == llm.PartText {
				text.WriteString(part.Text)
			}
		}
		play(ctx, text.String(), "EchoChatProvider", yield)
	}
}
