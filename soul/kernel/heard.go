package kernel

import (
	"strings"

	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// maxHeard bounds what is kept of one turn, in bytes of texts, arguments and results.
// What comes behind it is not kept.
const maxHeard = 4 << 20

// heard makes messages, as a model reads them, out of the events of a turn.
type heard struct {
	exchanges []*exchange
	size      int
}

// exchange is a model call and what came of it, or what the user said in between.
type exchange struct {
	user    *llm.Message // nil: it is a model call
	parts   []llm.Part   // complete
	last    llm.Part     // the part that still grows; its text is in tail
	tail    strings.Builder
	calls   []*heardCall
	results map[string]llm.Message
}

type heardCall struct {
	call      llm.ToolCall
	arguments strings.Builder
}

// note takes in an event. Those of sub-agents are no part of the conversation.
func (h *heard) note(e wire.Event) {
	switch m := e.(type) {
	case wire.StepBegin:
		h.exchanges = append(h.exchanges, &exchange{results: map[string]llm.Message{}})
	case wire.StepRetry: // the step is told from its beginning
		if x := h.step(); x != nil {
			*x = exchange{results: map[string]llm.Message{}}
		}
	case wire.SteerInput:
		said := userMessage(m.UserInput)
		if h.takes(sizeOf(said)) {
			h.exchanges = append(h.exchanges, &exchange{user: &said})
		}
	case wire.ContentPart:
		if x := h.step(); x != nil && h.takes(len(m.Part.Text)+len(m.Part.Think)+len(m.Part.Media.URL)) {
			x.add(m.Part)
		}
	case wire.ToolCall:
		x := h.step()
		if x == nil || x.find(m.Call.ID) != nil || !h.takes(len(m.Call.ID)+len(m.Call.Name)+lengthOf(m.Call.Arguments)) {
			return
		}
		c := &heardCall{call: m.Call}
		if m.Call.Arguments != nil {
			c.arguments.WriteString(*m.Call.Arguments)
		}
		x.calls = append(x.calls, c)
	case wire.ToolCallPart:
		x := h.step()
		if x == nil || len(x.calls) == 0 || m.ArgumentsPart == nil {
			return
		}
		if h.takes(len(*m.ArgumentsPart)) {
			x.calls[len(x.calls)-1].arguments.WriteString(*m.ArgumentsPart)
		} else { // half of its arguments would be worse than none of it
			x.calls = x.calls[:len(x.calls)-1]
		}
	case wire.ToolResult:
		h.result(m)
	}
}

// result finds the call that a result belongs to; the user may have said something since.
func (h *heard) result(m wire.ToolResult) {
	for i := len(h.exchanges) - 1; i >= 0; i-- {
		x := h.exchanges[i]
		if x.find(m.ToolCallID) == nil {
			continue
		}
		message := soul.ToolMessage(m.ToolCallID, m.ReturnValue)
		if !h.takes(sizeOf(message)) {
			message = soul.ToolMessage(m.ToolCallID, wire.ToolReturnValue{Message: "The result was too long to be kept."})
		}
		x.results[m.ToolCallID] = message
		return
	}
}

// step is the model call that runs, nil for none.
func (h *heard) step() *exchange {
	if n := len(h.exchanges); n > 0 && h.exchanges[n-1].user == nil {
		return h.exchanges[n-1]
	}
	return nil
}

// takes counts n more bytes, and tells whether they still have a place.
func (h *heard) takes(n int) bool {
	if h.size > maxHeard-n {
		h.size = maxHeard // nothing smaller that follows it either, so that there is one end
		return n == 0
	}
	h.size += n
	return true
}

// steps gives what was said and done, an assistant's message together with the results
// of its calls. A call without a result gets one that says so.
func (h *heard) steps() (all [][]llm.Message) {
	for _, x := range h.exchanges {
		if x.user != nil {
			all = append(all, []llm.Message{*x.user})
			continue
		}
		x.close()
		if len(x.parts) == 0 && len(x.calls) == 0 {
			continue
		}
		answer := llm.Message{Role: llm.RoleAssistant, Content: x.parts}
		step := []llm.Message{{}}
		for _, c := range x.calls {
			arguments := c.arguments.String()
			c.call.Arguments = &arguments
			answer.ToolCalls = append(answer.ToolCalls, c.call)
			result, ok := x.results[c.call.ID]
			if !ok {
				result = soul.ToolMessage(c.call.ID, wire.ToolReturnValue{IsError: true, Message: "The turn ended before this tool was done. It may have had effects."})
			}
			step = append(step, result)
		}
		step[0] = answer
		all = append(all, step)
	}
	return all
}

// add takes in a part, which may be the rest of the one before it.
func (x *exchange) add(p llm.Part) {
	if p.Type != x.last.Type || p.Type != llm.PartText && p.Type != llm.PartThink || x.last.Encrypted != nil {
		x.close()
		x.last = p
		x.last.Text, x.last.Think = "", ""
	}
	x.last.Encrypted = p.Encrypted
	x.tail.WriteString(p.Text + p.Think)
}

// close completes the part that grows.
func (x *exchange) close() {
	switch x.last.Type {
	case "":
		return
	case llm.PartText:
		x.last.Text = x.tail.String()
	case llm.PartThink:
		x.last.Think = x.tail.String()
	}
	if x.tail.Len() > 0 || x.last.Media.URL != "" {
		x.parts = append(x.parts, x.last)
	}
	x.last = llm.Part{}
	x.tail.Reset()
}

func (x *exchange) find(id string) *heardCall {
	for _, c := range x.calls {
		if c.call.ID == id {
			return c
		}
	}
	return nil
}

// userMessage is what a user said, as a model reads it.
func userMessage(in wire.UserInput) llm.Message {
	if in.Parts == nil {
		return llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(in.Text)}}
	}
	return llm.Message{Role: llm.RoleUser, Content: in.Parts}
}

func sizeOf(m llm.Message) (n int) {
	for _, p := range m.Content {
		n += len(p.Text) + len(p.Think) + len(p.Media.URL)
	}
	return n
}

func lengthOf(s *string) int {
	if s == nil {
		return 0
	}
	return len(*s)
}
