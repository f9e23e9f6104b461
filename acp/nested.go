package acp

import (
	"strings"

	"kimi-acp/internal/policy"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// What an agent does that the model has started is shown in the call that started it: a
// line for each step, the last of them. What changes or runs something is a tool call of
// its own besides, so that its diff, its output and the question about it have a place.

// Bounds of what a call shows of its agent.
const (
	maxNestedLines = 12
	maxNestedLine  = 160 // characters
)

// metaAgent is the member of _meta that says of a call that an agent made it.
const metaAgent = "kimi/agent"

// nestedMeta is what stands there.
type nestedMeta struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	ToolCall string `json:"toolCallId"` // the call that started it
}

// nested shows an event of an agent.
func (v *view) nested(e wire.SubagentEvent) {
	if e.ParentToolCallID == nil {
		return
	}
	if tool.IsPlanMove(e) {
		if r, ok := e.Event.(wire.ToolResult); ok {
			v.plan(r.ReturnValue)
		}
		return
	}
	parent := *e.ParentToolCallID
	switch m := e.Event.(type) {
	case wire.ToolCall:
		card := v.session.card(m.Call.Name, argumentsOf(m.Call))
		v.calls.line(parent, "- "+card.Title)
		switch card.Kind {
		case "edit", "delete", "move", "execute":
			meta := nestedMeta{ToolCall: v.calls.idOf(parent)}
			if e.AgentID != nil && e.SubagentType != nil {
				meta.ID, meta.Type = *e.AgentID, *e.SubagentType
			}
			v.calls.beginFor(m.Call, map[string]any{metaAgent: meta})
		}
	case wire.ToolResult:
		if m.ReturnValue.IsError {
			v.calls.line(parent, "  - failed: "+m.ReturnValue.Message)
		}
		v.calls.result(m)
	case wire.ContentPart:
		if m.Part.Type == llm.PartText {
			v.calls.line(parent, m.Part.Text)
		}
	}
}

// line adds a line to what a call shows while it runs. The text is one of a model.
func (c *calls) line(id, text string) {
	text = soul.Shorten(policy.Visible(text), maxNestedLine)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.open[id]
	if s == nil || text == "" {
		return
	}
	s.lines = append(s.lines, text)
	s.lines = s.lines[max(0, len(s.lines)-maxNestedLines):]
	content := []toolContent{textContent(strings.Join(s.lines, "\n"))}
	c.update(toolCallUpdate{SessionUpdate: "tool_call_update", ToolCallID: s.id, Content: &content})
}

// answerOf takes an agent's answer out of what the model reads of it, "" when there is
// none.
func answerOf(v wire.ToolReturnValue) string {
	_, answer, _ := strings.Cut(v.Output.Text, "\n[summary]\n")
	return answer
}
