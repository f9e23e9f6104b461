package acptest

import (
	"encoding/json"
	"slices"
	"strings"
)

// Turn is a prompt and what came of it. Of several open prompts of one session,
// updates belong to the oldest.
type Turn struct {
	call    *Call
	updates []Update // under the client's lock
}

// Prompt sends a prompt.
func (s *Session) Prompt(blocks ...Block) *Turn {
	turn := &Turn{}
	params := map[string]any{"sessionId": s.ID, "prompt": blocks}
	turn.call = s.c.request("session/prompt", params, true, func(call *Call) {
		log := s.c.log(s.ID)
		log.turns = append(log.turns, turn)
		call.after = func() {
			log.turns = slices.DeleteFunc(log.turns, func(other *Turn) bool { return other == turn })
		}
	})
	return turn
}

// Wait waits for the end of the turn and gives its stop reason. An error ends the
// test.
func (t *Turn) Wait() string {
	t.call.c.t.Helper()
	var result struct {
		StopReason string `json:"stopReason"`
	}
	t.call.Result(&result)
	return result.StopReason
}

// Fails waits for the turn to be answered with an error of that code; anything
// else ends the test.
func (t *Turn) Fails(code int) *Error {
	t.call.c.t.Helper()
	return t.call.Fails(code)
}

// Call is the request of the prompt.
func (t *Turn) Call() *Call { return t.call }

// Updates gives what came in the turn so far.
func (t *Turn) Updates() []Update {
	t.call.c.mu.Lock()
	defer t.call.c.mu.Unlock()
	return slices.Clone(t.updates)
}

// Until waits for an update of the turn that matches, also one that came before;
// what names it in the failure.
func (t *Turn) Until(what string, match func(Update) bool) Update {
	t.call.c.t.Helper()
	return t.call.c.until(what, func() []Update { return t.updates }, match)
}

// Text gives the agent's message so far, all chunks joined.
func (t *Turn) Text() string { return joined(t.Updates(), "agent_message_chunk") }

// Thoughts gives the agent's thinking so far, all chunks joined.
func (t *Turn) Thoughts() string { return joined(t.Updates(), "agent_thought_chunk") }

// Calls gives the tool calls so far, each as it is now, in the order in which
// they were announced.
func (t *Turn) Calls() []ToolCall { return Fold(t.Updates()) }

func joined(updates []Update, kind string) string {
	var b strings.Builder
	for _, u := range updates {
		if u.Kind == kind {
			b.WriteString(u.Text)
		}
	}
	return b.String()
}

// Block is a content block of a prompt.
type Block map[string]any

// Text is a block of text.
func Text(text string) Block { return Block{"type": "text", "text": text} }

// Link is a reference to a resource.
func Link(uri, name string) Block { return Block{"type": "resource_link", "uri": uri, "name": name} }

// Resource is a resource with its text.
func Resource(uri, text string) Block {
	return Block{"type": "resource", "resource": map[string]any{"uri": uri, "text": text}}
}

// Image is an image; data is base64.
func Image(mimeType, data string) Block {
	return Block{"type": "image", "mimeType": mimeType, "data": data}
}

// updated files an update under its session and its turn.
func (c *Client) updated(params json.RawMessage) {
	u, err := decodeUpdate(params)
	if err != nil {
		return // judged already
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.log(u.Session)
	log.updates = append(log.updates, u)
	if len(log.turns) > 0 {
		log.turns[0].updates = append(log.turns[0].updates, u)
	}
	c.wake()
}
