package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Check tells whether strict providers would accept a conversation. It refuses
//
//   - a tool call that no tool message right after its message answers, a tool
//     message that answers none, and two answers to one call;
//   - tool calls without an id or name, with arguments that are not a JSON
//     object, or with an id twice in a message;
//   - contents that are missing or blank where providers want one, and blank
//     text beside tool calls;
//   - tools without a name, with the same name or without an object of parameters.
func Check(c *Chat) error {
	switch {
	case c.Model == "":
		return errors.New("model is missing")
	case len(c.Messages) == 0:
		return errors.New("messages are missing")
	}
	var open []string // ids of the calls that wait for an answer
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("messages[%d]: tool calls %s have no answer", i, strings.Join(open, ", "))
		}
		var err error
		switch m.Role {
		case "tool":
			open, err = answer(open, m)
		case "assistant":
			open, err = checkAssistant(m)
		case "system", "user", "developer":
			err = checkContent(m)
		default:
			err = fmt.Errorf("unknown role %q", m.Role)
		}
		if err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("tool calls %s have no answer", strings.Join(open, ", "))
	}
	return checkTools(c.Tools)
}

// answer takes the call that m answers off the open ones.
func answer(open []string, m *Message) ([]string, error) {
	if m.Content == nil || string(m.Content) == "null" {
		return nil, fmt.Errorf("the answer to tool call %q has no content", m.ToolCallID)
	}
	for i, id := range open {
		if id == m.ToolCallID {
			return append(open[:i:i], open[i+1:]...), nil
		}
	}
	return nil, fmt.Errorf("the tool message answers no open call: %q", m.ToolCallID)
}

func checkAssistant(m *Message) ([]string, error) {
	if len(m.ToolCalls) == 0 {
		if m.Content == nil {
			return nil, errors.New("the assistant message has neither content nor tool calls")
		}
		return nil, nil
	}
	texts, media := m.texts()
	if m.Content != nil && media == 0 && strings.TrimSpace(strings.Join(texts, "")) == "" {
		return nil, errors.New("the assistant message has blank text beside its tool calls")
	}
	var ids []string
	seen := map[string]bool{}
	for _, call := range m.ToolCalls {
		var object map[string]json.RawMessage
		switch {
		case call.ID == "" || seen[call.ID]:
			return nil, fmt.Errorf("the id of tool call %q is missing or used twice", call.ID)
		case call.Function.Name == "" || call.Type != "function" && call.Type != "builtin_function":
			return nil, fmt.Errorf("tool call %q has no name or the type %q", call.ID, call.Type)
		case json.Unmarshal([]byte(call.Function.Arguments), &object) != nil || object == nil:
			return nil, fmt.Errorf("the arguments of tool call %q are not a JSON object: %q", call.ID, call.Function.Arguments)
		}
		seen[call.ID] = true
		ids = append(ids, call.ID)
	}
	return ids, nil
}

func checkContent(m *Message) error {
	texts, media := m.texts()
	if len(texts)+media == 0 {
		return fmt.Errorf("the %s message has no content", m.Role)
	}
	for _, t := range texts {
		if strings.TrimSpace(t) == "" {
			return fmt.Errorf("the %s message has a blank text", m.Role)
		}
	}
	return nil
}

func checkTools(tools []Tool) error {
	seen := map[string]bool{}
	for _, t := range tools {
		name := t.Function.Name
		if name == "" || seen[name] {
			return fmt.Errorf("the tool name %q is missing or used twice", name)
		}
		seen[name] = true
		if t.Type == "builtin_function" {
			continue
		}
		var object map[string]json.RawMessage
		if t.Type != "function" || json.Unmarshal(t.Function.Parameters, &object) != nil || object == nil {
			return fmt.Errorf("tool %q is no function with an object of parameters", name)
		}
	}
	return nil
}
