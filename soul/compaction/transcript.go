package compaction

import (
	"strings"

	"kimi-acp/contextprovider"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

// Transcript tells what happened in messages in so many tokens, for a model that sums
// it up. Thinking is left out, and so is what the program told of the surroundings.
func Transcript(messages []llm.Message, tokens int) string {
	names := map[string]string{} // of the calls, by their ids
	var entries []entry
	add := func(head, text string, weight int) {
		if strings.TrimSpace(text) != "" {
			entries = append(entries, newEntry(head, text, weight))
		}
	}
	for _, m := range messages {
		switch {
		case m.Role == llm.RoleTool:
			head := "RESULT of " + names[m.ToolCallID] + ": "
			if failed(m) {
				head = "FAILED " + names[m.ToolCallID] + ": "
			}
			add(head, texts(m), 3)
		case m.Role == llm.RoleAssistant:
			add("AGENT: ", texts(m), 8)
			for _, c := range m.ToolCalls {
				names[c.ID] = c.Name
				args := "{}"
				if c.Arguments != nil {
					args = *c.Arguments
				}
				add("CALL "+c.Name+" ", args, 2)
			}
		case session.OpensTurn(m):
			add("USER: ", words(m), 16)
		default:
			add("NOTE: ", texts(m), 8)
		}
	}
	return strings.Join(fit(entries, tokens), "\n")
}

// texts is all text in a message.
func texts(m llm.Message) string {
	var all []string
	for _, p := range m.Content {
		switch p.Type {
		case llm.PartText:
			all = append(all, p.Text)
		case llm.PartThink:
		default:
			all = append(all, leftOut)
		}
	}
	return strings.Join(all, "\n")
}

// words is what the user said in a message, without what the program put beside it.
func words(m llm.Message) string {
	var all []string
	for _, p := range m.Content {
		switch {
		case p.Type == llm.PartText && (contextprovider.IsContext(p.Text) || strings.HasPrefix(p.Text, "<system>")):
		case p.Type == llm.PartText:
			all = append(all, p.Text)
		default:
			all = append(all, leftOut)
		}
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}

// failed tells whether the result of a call is an error.
func failed(m llm.Message) bool {
	return len(m.Content) > 0 && strings.HasPrefix(m.Content[0].Text, "<system>ERROR")
}
