package soul

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// compactKeep is how many messages of user and model stay as they are.
const compactKeep = 2

// compactedNote opens the summary, in kimi-cli's words, by which it is known again.
const compactedNote = "<system>Previous context has been compacted. Here is the compaction output:</system>"

const compactSystem = "You write summaries of conversations between a user and an agent, for the agent to go on from."

const compactPrompt = `Above is the older part of a conversation, whose end the agent still has. Write what the agent must know of it to go on without a break, as notes under short headings: what the user wants and has said about how; what was done, with the exact paths, names and commands; what was found out, errors and their causes among it; what was decided and why; what is still to do. Keep code and messages word for word where they will be needed. Leave out what is no longer of use. Answer with the notes alone.`

// compactAsKimi replaces the older part of the history by a summary that the model
// writes, as kimi-cli does it when its user asks. The last messages stay. Nothing changes when it fails.
func (b *Builtin) compactAsKimi(ctx context.Context, trigger, focus string) error {
	messages := b.history.All()
	b.hook(ctx, HookPreCompact, trigger, map[string]any{"trigger": trigger, "token_count": b.history.Tokens()})
	b.cfg.Wire.Send(wire.CompactionBegin{})
	defer b.cfg.Wire.Send(wire.CompactionEnd{})
	from := compactFrom(messages)
	kept := slices.Clone(messages[from:])
	tokens := textTokens(kept)
	if from > 0 {
		summary, usage, err := b.summarize(ctx, messages[:from], focus)
		if err != nil {
			return fmt.Errorf("compact the conversation: %w", err)
		}
		first := llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(compactedNote), llm.Text(summary)}}
		if usage != nil {
			tokens += usage.Output
		} else {
			tokens = textTokens(append([]llm.Message{first}, kept...))
		}
		kept = append([]llm.Message{first}, kept...)
	}
	b.record.compacted(kept, tokens)
	b.history.Restore(kept, tokens, len(kept))
	b.reminders.forget()
	b.hookAside(HookPostCompact, trigger, map[string]any{"trigger": trigger, "estimated_token_count": tokens})
	return nil
}

// compactFrom is the index of the first message that stays; 0: all do.
func compactFrom(messages []llm.Message) int {
	n := 0
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.RoleUser || messages[i].Role == llm.RoleAssistant {
			if n++; n == compactKeep {
				return i
			}
		}
	}
	return 0
}

// summarize has the model write notes on a part of the conversation.
func (b *Builtin) summarize(ctx context.Context, messages []llm.Message, focus string) (string, *llm.Usage, error) {
	p := b.model()
	if p == nil {
		return "", nil, ErrNoModel
	}
	var text strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&text, "[%s]\n", m.Role)
		for _, part := range m.Content {
			if part.Type == llm.PartText {
				text.WriteString(part.Text + "\n")
			}
		}
		for _, c := range m.ToolCalls {
			args := ""
			if c.Arguments != nil {
				args = *c.Arguments
			}
			fmt.Fprintf(&text, "(called %s with %s)\n", c.Name, args)
		}
	}
	prompt := compactPrompt
	if focus != "" {
		prompt += "\n\nAbove all, keep what the user asks for here: " + focus
	}
	a := &assembler{send: func(wire.Event) {}}
	req := &llm.Request{System: compactSystem, Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text(text.String()), llm.Text(prompt)}}}}
	if err := stream(ctx, p, req, a); err != nil {
		return "", nil, err
	}
	b.count(a)
	var out strings.Builder
	for _, part := range a.message().Content {
		if part.Type == llm.PartText {
			out.WriteString(part.Text)
		}
	}
	return out.String(), a.usage, nil
}

// textTokens estimates texts as kimi-cli does, four characters a token: it stands in the
// session's files until the model has counted.
func textTokens(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		for _, p := range m.Content {
			if p.Type == llm.PartText {
				n += utf8.RuneCountInString(p.Text)
			}
		}
	}
	return n / 4
}
