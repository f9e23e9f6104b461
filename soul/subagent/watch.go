package subagent

import (
	"fmt"
	"io"

	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// forwarder tells what an agent does on the Wire of its session, within its call. The
// ids of calls are those by which the session knows them.
type forwarder struct {
	bus    *wire.Wire
	call   string // of the session, which started the agent
	caller tool.Caller
}

// Receive takes a message of the agent's Wire.
func (f *forwarder) Receive(m wire.Message) {
	event, ok := m.(wire.Event)
	if !ok {
		return // the tools and those who ask are the session's
	}
	switch e := event.(type) {
	case wire.ToolCall:
		e.Call.ID = f.caller.CallID(e.Call.ID)
		event = e
	case wire.ToolResult:
		e.ToolCallID = f.caller.CallID(e.ToolCallID)
		event = e
	}
	f.bus.Send(wire.SubagentEvent{ParentToolCallID: &f.call, AgentID: &f.caller.AgentID, SubagentType: &f.caller.Type, Event: event})
}

// transcript writes down what an agent in the background does.
type transcript struct{ out io.Writer }

// Receive takes a message of the agent's Wire.
func (t *transcript) Receive(m wire.Message) {
	switch m := m.(type) {
	case wire.ContentPart:
		if m.Part.Type == llm.PartText {
			t.line("%s\n", m.Part.Text)
		}
	case wire.ToolCall:
		arguments := ""
		if m.Call.Arguments != nil {
			arguments = *m.Call.Arguments
		}
		t.line("> %s %s\n", m.Call.Name, soul.Shorten(arguments, maxArguments))
	case wire.ToolResult:
		if m.ReturnValue.IsError {
			t.line("  failed: %s\n", soul.Shorten(m.ReturnValue.Message, maxArguments))
		}
	}
}

// maxArguments bounds what a line shows of a call, in characters.
const maxArguments = 200

func (t *transcript) line(format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, format, args...) // keeping an output never fails
}
