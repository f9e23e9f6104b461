package acptest

import (
	"context"
	"encoding/json"
)

// Permission is a permission request of the agent.
type Permission struct {
	Session  string
	CallID   string // of the tool call that it is about
	Title    string // of that call, when the request repeats it
	ToolCall json.RawMessage
	Options  []PermissionOption
}

// PermissionOption is one of the answers that the agent offers.
type PermissionOption struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"` // allow_once | allow_always | reject_once | reject_always
}

// Answer is what the user says to a Permission. The zero value is the outcome
// cancelled.
type Answer struct {
	OptionID string
	Silent   bool // never answer, as an editor does whose window was closed
}

// Choose answers with the option of that kind. When none is offered the answer is
// the outcome cancelled.
func Choose(kind string) func(context.Context, Permission) Answer {
	return func(_ context.Context, p Permission) Answer {
		for _, option := range p.Options {
			if option.Kind == kind {
				return Answer{OptionID: option.OptionID}
			}
		}
		return Answer{}
	}
}

func permissionOf(raw json.RawMessage) Permission {
	var params struct {
		SessionID string             `json:"sessionId"`
		ToolCall  json.RawMessage    `json:"toolCall"`
		Options   []PermissionOption `json:"options"`
	}
	var call struct {
		ToolCallID string `json:"toolCallId"`
		Title      string `json:"title"`
	}
	// What cannot be decoded was judged already; the rest is enough to answer.
	_ = json.Unmarshal(raw, &params)
	_ = json.Unmarshal(params.ToolCall, &call)
	return Permission{params.SessionID, call.ToolCallID, call.Title, params.ToolCall, params.Options}
}

func (c *Client) answerPermission(ctx context.Context, raw json.RawMessage) (any, error) {
	c.mu.Lock()
	hook := c.OnPermission
	c.mu.Unlock()
	if hook == nil {
		hook = Choose("allow_once")
	}
	answer := hook(ctx, permissionOf(raw))
	outcome := map[string]any{"outcome": "cancelled"}
	switch {
	case answer.Silent:
		return nil, ErrSilent
	case ctx.Err() == nil && answer.OptionID != "":
		outcome = map[string]any{"outcome": "selected", "optionId": answer.OptionID}
	}
	return map[string]any{"outcome": outcome}, nil
}

// cancelPermissions answers the open permission requests of a session as the
// protocol wants it after session/cancel.
func (c *Client) cancelPermissions(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.serving {
		if at.session == session {
			at.stop()
		}
	}
}
