package session

import (
	"bytes"
	"encoding/json"

	"kimi-acp/soul/llm"
)

// interrupted is the result of a tool call of which no result was recorded.
const interrupted = "<system>ERROR: The program stopped before the result of this tool call was recorded. It may have had effects; check before you rely on either.</system>"

// repaired is a history that a model accepts.
type repaired struct {
	messages []llm.Message
	counted  int           // as it was given, after the repair
	missing  []llm.Message // results that were made for calls at the very end
}

// repair makes every tool call answered right behind its message, in the order of
// the calls, and drops tool messages that answer nothing. Of messages[:counted] the
// tokens are known.
func repair(messages []llm.Message, counted int, n *notes) repaired {
	out := repaired{messages: make([]llm.Message, 0, len(messages))}
	var orphans, made, emptied int
	for i := 0; i < len(messages); {
		if i <= counted {
			out.counted = len(out.messages)
		}
		m := messages[i]
		i++
		switch {
		case m.Role == llm.RoleTool:
			orphans++
			continue
		case m.Role != llm.RoleAssistant || len(m.ToolCalls) == 0:
			out.messages = append(out.messages, m)
			continue
		}
		emptied += fixArguments(m.ToolCalls)
		out.messages = append(out.messages, m)
		if i == counted {
			out.counted = len(out.messages)
		}
		// Results are looked for up to the model's next word.
		end := i
		for end < len(messages) && messages[end].Role != llm.RoleAssistant {
			end++
		}
		answers, missing, rest := match(m.ToolCalls, messages[i:end])
		out.messages = append(out.messages, answers...)
		made += len(missing)
		if len(rest.others) == 0 && end == len(messages) {
			out.missing = missing
		}
		orphans += rest.orphans
		out.messages = append(out.messages, rest.others...)
		if i < counted && counted <= end {
			out.counted = len(out.messages)
		}
		i = end
	}
	if counted >= len(messages) {
		out.counted = len(out.messages)
	}
	if made > 0 {
		n.add(KindUnanswered, "%d tool calls had no result in the history; they are taken as interrupted", made)
	}
	if orphans > 0 {
		n.add(KindOrphan, "%d tool results answered no call in the history; they are left out", orphans)
	}
	if emptied > 0 {
		n.add(KindArguments, "%d tool calls had arguments that are no JSON object; they are taken as empty", emptied)
	}
	return out
}

// leftover is what stands between a message and the next without answering it.
type leftover struct {
	others  []llm.Message
	orphans int // tool messages
}

// match finds the results of calls, and makes those that are missing.
func match(calls []llm.ToolCall, behind []llm.Message) (answers, missing []llm.Message, rest leftover) {
	results := map[string][]llm.Message{}
	tools := 0
	for _, m := range behind {
		if m.Role != llm.RoleTool {
			rest.others = append(rest.others, m)
			continue
		}
		tools++
		results[m.ToolCallID] = append(results[m.ToolCallID], m)
	}
	used := 0
	for _, c := range calls {
		if found := results[c.ID]; len(found) > 0 {
			answers = append(answers, found[0])
			results[c.ID] = found[1:]
			used++
			continue
		}
		made := llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Content: []llm.Part{llm.Text(interrupted)}}
		answers = append(answers, made)
		missing = append(missing, made)
	}
	rest.orphans = tools - used
	return answers, missing, rest
}

// fixArguments empties arguments that are no JSON object: models refuse a history
// with them for ever. It tells how many there were.
func fixArguments(calls []llm.ToolCall) int {
	n := 0
	for i, c := range calls {
		if c.Arguments == nil {
			continue
		}
		text := bytes.TrimSpace([]byte(*c.Arguments))
		if len(text) > 0 && text[0] == '{' && json.Valid(text) {
			continue
		}
		empty := "{}"
		calls[i].Arguments = &empty
		if len(text) > 0 {
			n++
		}
	}
	return n
}
