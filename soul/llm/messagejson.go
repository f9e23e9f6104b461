package llm

import (
	"encoding/json"
	"fmt"

	"kimi-acp/internal/jsonstring"
)

// MarshalJSON gives the message in the form of context.jsonl; see AppendJSON.
func (m Message) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// AppendJSON appends the message in the form of context.jsonl: the keys role,
// name, content, tool_calls and tool_call_id in this order, those without a value
// left out; content that is exactly one text part stands as a plain string.
// Tokens and Mark are not written. An unknown role or part type is an error that names it.
func (m Message) AppendJSON(dst []byte) ([]byte, error) {
	if !m.Role.known() {
		return dst, unknownRole(m.Role)
	}
	dst = append(dst, `{"role":"`...)
	dst = append(dst, m.Role...)
	dst = append(dst, '"')
	if m.Name != "" {
		dst = append(dst, `,"name":`...)
		dst = jsonstring.Append(dst, m.Name)
	}
	dst = append(dst, `,"content":`...)
	var err error
	if len(m.Content) == 1 && m.Content[0].Type == PartText {
		dst = jsonstring.Append(dst, m.Content[0].Text)
	} else if dst, err = appendList(dst, m.Content, Part.AppendJSON); err != nil {
		return dst, err
	}
	if len(m.ToolCalls) > 0 {
		dst = append(dst, `,"tool_calls":`...)
		if dst, err = appendList(dst, m.ToolCalls, ToolCall.appendHistory); err != nil {
			return dst, err
		}
	}
	if m.ToolCallID != "" {
		dst = append(dst, `,"tool_call_id":`...)
		dst = jsonstring.Append(dst, m.ToolCallID)
	}
	return append(dst, '}'), nil
}

// UnmarshalJSON reads the form of context.jsonl. Absent content counts as empty;
// unknown keys are ignored; an unknown role or part type is an error that names it.
func (m *Message) UnmarshalJSON(data []byte) error {
	var in struct {
		Role       Role            `json:"role"`
		Name       string          `json:"name"`
		Content    json.RawMessage `json:"content"`
		ToolCalls  []ToolCall      `json:"tool_calls"`
		ToolCallID string          `json:"tool_call_id"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	if !in.Role.known() {
		return unknownRole(in.Role)
	}
	var content []Part
	switch {
	case isNull(in.Content):
	case in.Content[0] == '"':
		var text string
		if err := json.Unmarshal(in.Content, &text); err != nil {
			return fmt.Errorf("message: content: %w", err)
		}
		content = []Part{Text(text)}
	default:
		if err := json.Unmarshal(in.Content, &content); err != nil {
			return fmt.Errorf("message: content: %w", err)
		}
	}
	*m = Message{Role: in.Role, Name: in.Name, Content: content, ToolCalls: in.ToolCalls, ToolCallID: in.ToolCallID}
	return nil
}

func (r Role) known() bool {
	switch r {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return true
	}
	return false
}

func unknownRole(r Role) error { return fmt.Errorf("message: unknown role %q", clip(string(r))) }

// appendList appends a JSON array of what one makes of each item.
func appendList[T any](dst []byte, items []T, one func(T, []byte) ([]byte, error)) ([]byte, error) {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = one(item, dst); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}
