package kernel

import (
	"slices"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// overtaken is what is known of the calls whose requests come before they were told. The
// Rust kernel asks and tells from two tasks; its request may overtake what the model says
// beside the call, the call, and the last pieces of its arguments. While its request is
// open it tells nothing, so that waiting for the event does not help: the call is told
// here, from its request, and what the kernel tells of it afterwards is left out.
type overtaken struct {
	ahead   map[string]bool // ids of calls told here, whose own events are still to come
	others  map[string]bool // ids of the calls of the kernel's sub-agents, told as theirs
	last    string          // id of the call told last, whose arguments may still come
	told    strings.Builder // its arguments until now
	leaving bool            // the pieces of arguments that come are told already
}

func newOvertaken() overtaken {
	return overtaken{ahead: map[string]bool{}, others: map[string]bool{}}
}

// repeats tells whether an event of the kernel's says again what was told here.
func (o *overtaken) repeats(e wire.Event) bool {
	switch m := e.(type) {
	case wire.ToolCall:
		o.leaving = o.ahead[m.Call.ID]
		delete(o.ahead, m.Call.ID)
		return o.leaving
	case wire.ToolCallPart:
		return o.leaving
	}
	return false
}

// note takes in an event that is told.
func (o *overtaken) note(e wire.Event) {
	switch m := e.(type) {
	case wire.ToolCall:
		o.last = m.Call.ID
		o.told.Reset()
		if m.Call.Arguments != nil {
			o.told.WriteString(*m.Call.Arguments)
		}
	case wire.ToolCallPart:
		if m.ArgumentsPart == nil {
			return
		}
		if o.told.Len()+len(*m.ArgumentsPart) > maxHeard {
			o.last = "" // too long to be followed
			return
		}
		o.told.WriteString(*m.ArgumentsPart)
	case wire.ToolResult:
		delete(o.ahead, m.ToolCallID)
	case wire.SubagentEvent:
		inner := m.Event
		for sub, ok := inner.(wire.SubagentEvent); ok; sub, ok = inner.(wire.SubagentEvent) {
			inner = sub.Event
		}
		if call, ok := inner.(wire.ToolCall); ok && len(o.others) < maxResults {
			o.others[call.Call.ID] = true
		}
	}
}

// overtook gives the events that a request has overtaken: its call, or what its
// arguments lack. Those of the kernel's sub-agents were told as theirs.
func (t *turn) overtook(m wire.ToolCallRequest) []wire.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := &t.overtaken
	switch {
	case o.others[m.ID]:
	case slices.Contains(t.open, m.ID):
		if m.ID != o.last || m.Arguments == nil {
			break
		}
		if rest, ok := strings.CutPrefix(*m.Arguments, o.told.String()); ok && rest != "" {
			o.leaving = true
			return []wire.Event{wire.ToolCallPart{ArgumentsPart: &rest}}
		}
	case len(t.open) < maxResults && len(o.ahead) < maxResults:
		o.ahead[m.ID] = true
		return []wire.Event{wire.ToolCall{Call: llm.ToolCall{ID: m.ID, Name: m.Name, Arguments: m.Arguments}}}
	}
	return nil
}
