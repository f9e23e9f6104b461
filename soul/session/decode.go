package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"kimi-acp/soul/llm"
)

// record is a line of context.jsonl. Role says which of the others counts.
type record struct {
	role    string
	message llm.Message // all roles but those with an underscore
	text    string      // roleSystem
	number  int         // roleCheckpoint, roleUsage
	flaw    string      // what had to be left out of it; empty: nothing
}

// decodeRecord reads a line, as forgivingly as it can without guessing.
func decodeRecord(text []byte) (record, error) {
	if m, ok := decodePlain(text); ok {
		return record{role: string(m.Role), message: m}, nil
	}
	r, err := decodeStrict(text)
	if err == nil {
		return r, nil
	}
	if fixed, ok := escapeControls(text); ok {
		if r, err := decodeStrict(fixed); err == nil {
			return r, nil // kimi-cli takes them as they are
		}
	}
	if !json.Valid(text) {
		return decodeGlued(text, err)
	}
	if loose, looseErr := decodeLoose(text); looseErr == nil {
		return loose, nil
	}
	return record{}, err
}

// decodeGlued looks for a record that was appended to a torn line, or behind the
// zeros that a crash of the machine can leave. A quote within a record is escaped,
// so what it looks for begins one.
func decodeGlued(text []byte, whole error) (record, error) {
	at := bytes.LastIndex(text, []byte(`{"role"`))
	if at <= 0 {
		return record{}, whole
	}
	r, err := decodeStrict(text[at:])
	if err != nil {
		return record{}, whole
	}
	r.flaw = fmt.Sprintf("the first %d bytes of the line are no record", at)
	return r, nil
}

func decodeStrict(text []byte) (record, error) {
	role, err := roleOf(text)
	if err != nil {
		return record{}, err
	}
	r := record{role: role}
	switch role {
	case roleSystem:
		var in struct {
			Content *string `json:"content"`
		}
		if err := json.Unmarshal(text, &in); err != nil {
			return record{}, fmt.Errorf("system prompt: %w", err)
		}
		if in.Content == nil {
			return record{}, errors.New(`system prompt: "content" is missing`)
		}
		r.text = *in.Content
	case roleCheckpoint, roleUsage:
		var in struct {
			ID         *int `json:"id"`
			TokenCount *int `json:"token_count"`
		}
		if err := json.Unmarshal(text, &in); err != nil {
			return record{}, fmt.Errorf("%s: %w", role[1:], err)
		}
		n := in.ID
		if role == roleUsage {
			n = in.TokenCount
		}
		if n == nil || *n < 0 || *n > maxNumber {
			return record{}, fmt.Errorf("%s: its number is missing or out of range", role[1:])
		}
		r.number = *n
	default:
		if err := r.message.UnmarshalJSON(text); err != nil {
			return record{}, err
		}
	}
	return r, nil
}

// maxNumber bounds the numbers of checkpoints and tokens.
const maxNumber = 1 << 40

// roleOf reads the role of a record, at the price of a whole decoding only where
// the role does not come first.
func roleOf(text []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(text, []byte(`{"role":`)); ok {
		rest = bytes.TrimLeft(rest, " ")
		if len(rest) > 0 && rest[0] == '"' {
			if end := bytes.IndexByte(rest[1:], '"'); end >= 0 && bytes.IndexByte(rest[1:1+end], '\\') < 0 {
				return string(rest[1 : 1+end]), nil
			}
		}
	}
	var in struct {
		Role *string `json:"role"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	if in.Role == nil {
		return "", errors.New(`record: "role" is missing`)
	}
	return *in.Role, nil
}

// decodeLoose reads a message of which a part or a tool call cannot be understood,
// without these. They may be of a kind that came after this program.
func decodeLoose(text []byte) (record, error) {
	var in struct {
		Role       llm.Role          `json:"role"`
		Name       string            `json:"name"`
		Content    json.RawMessage   `json:"content"`
		ToolCalls  []json.RawMessage `json:"tool_calls"`
		ToolCallID string            `json:"tool_call_id"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return record{}, err
	}
	switch in.Role {
	case llm.RoleSystem, llm.RoleUser, llm.RoleAssistant, llm.RoleTool:
	default:
		return record{}, fmt.Errorf("record: unknown role %q", in.Role)
	}
	m := llm.Message{Role: in.Role, Name: in.Name, ToolCallID: in.ToolCallID}
	dropped := 0
	var parts []json.RawMessage
	var plain *string
	if json.Unmarshal(in.Content, &plain) == nil && plain != nil {
		m.Content = []llm.Part{llm.Text(*plain)}
	} else if json.Unmarshal(in.Content, &parts) != nil && len(in.Content) > 0 {
		dropped++
	}
	for _, raw := range parts {
		var p llm.Part
		if p.UnmarshalJSON(raw) != nil {
			dropped++
			continue
		}
		m.Content = append(m.Content, p)
	}
	for _, raw := range in.ToolCalls {
		var c llm.ToolCall
		if c.UnmarshalJSON(raw) != nil {
			dropped++
			continue
		}
		m.ToolCalls = append(m.ToolCalls, c)
	}
	return record{role: string(in.Role), message: m, flaw: fmt.Sprintf("%d parts of the message were not understood", dropped)}, nil
}

// escapeControls escapes the control characters within strings, which JSON forbids
// and Python's reader allows. It tells whether there were any.
func escapeControls(text []byte) ([]byte, bool) {
	var out []byte
	start, inString := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString && c < ' ':
			out = append(out, text[start:i]...)
			out = appendEscape(out, rune(c))
			start = i + 1
		}
	}
	if out == nil {
		return nil, false
	}
	return append(out, text[start:]...), true
}
