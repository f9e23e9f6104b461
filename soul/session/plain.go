package session

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"kimi-acp/soul/llm"
)

// decodePlain reads the form that most messages have, in a fraction of the time that
// any JSON takes: role, content and perhaps tool_call_id, all strings, in this order
// and without spaces. It tells whether the text has that form.
func decodePlain(text []byte) (llm.Message, bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"role":"`))
	if !ok {
		return llm.Message{}, false
	}
	var m llm.Message
	for _, role := range []llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool, llm.RoleSystem} {
		if after, ok := bytes.CutPrefix(rest, []byte(role)); ok {
			m.Role, rest = role, after
			break
		}
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`","content":`)); !ok || m.Role == "" {
		return llm.Message{}, false
	}
	content, rest, ok := plainString(rest)
	if !ok {
		return llm.Message{}, false
	}
	m.Content = []llm.Part{llm.Text(content)}
	if after, ok := bytes.CutPrefix(rest, []byte(`,"tool_call_id":`)); ok {
		if m.ToolCallID, rest, ok = plainString(after); !ok {
			return llm.Message{}, false
		}
	}
	return m, string(rest) == "}"
}

// plainString reads a JSON string at the beginning of a text.
func plainString(text []byte) (s string, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return "", nil, false
	}
	escaped := false
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return "", nil, false
		case c != '"':
		case escaped:
			err := json.Unmarshal(text[:i+1], &s)
			return s, text[i+1:], err == nil
		default:
			return string(text[1:i]), text[i+1:], utf8.Valid(text[1:i])
		}
	}
	return "", nil, false
}
