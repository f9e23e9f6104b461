package kernel

import (
	"context"
	"slices"
	"sync"

	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

const (
	maxSteers  = 256  // that wait for a turn's first step; more are refused
	maxResults = 1024 // results of tool calls that are kept for their events
)

// turn is what is known of the turn that runs in a kernel.
type turn struct {
	ctx   context.Context //nolint:containedctx // the life of the turn, which its tool calls share
	peer  *peer
	said  wire.UserInput // what the user said, without what the model is told beside it
	calls sync.WaitGroup // requests of the kernel that are being served, and steers being sent

	mu      sync.Mutex
	shown   bool // an event was forwarded
	ended   bool // the turn is over: nothing of it is forwarded any more
	depth   int  // TurnBegins without their TurnEnds
	steps   int
	heard   heard
	in      bool                            // within a step
	open    []string                        // ids of the tool calls that were shown without a result, in their order
	serving map[string]bool                 // ids of the tool calls that run here
	results map[string]wire.ToolReturnValue // that were given to the kernel, until it tells them
	steers  []soul.Input

	overtaken overtaken
}

// note takes in an event that is to be forwarded; false: it came too late.
func (t *turn) note(e wire.Event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.shown = true
	t.heard.note(e)
	t.overtaken.note(e)
	switch m := e.(type) {
	case wire.ToolCall:
		if len(t.open) < maxResults {
			t.open = append(t.open, m.Call.ID)
		}
	case wire.ToolResult:
		t.open = slices.DeleteFunc(t.open, func(id string) bool { return id == m.ToolCallID })
	case wire.TurnBegin:
		t.depth++
	case wire.TurnEnd:
		t.depth, t.in = max(t.depth-1, 0), false
	case wire.StepBegin:
		t.steps++
		t.in = true
		for _, in := range t.steers { // kimi-cli drops what comes before the first step
			t.send(in)
		}
		t.steers = nil
	case wire.StepInterrupted:
		t.in = false
	}
	return true
}

// enter counts a request of the kernel's as part of the turn; false: the turn is over.
// The caller calls t.calls.Done.
func (t *turn) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.calls.Add(1)
	}
	return !t.ended
}

// steer puts input into the turn; false: it is over, or too much waits.
func (t *turn) steer(in soul.Input) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended || t.ctx.Err() != nil || !t.peer.alive():
		return false
	case t.steps > 0:
		t.send(in)
	case len(t.steers) >= maxSteers:
		return false
	default:
		t.steers = append(t.steers, in)
	}
	return true
}

// send gives input to the kernel in the background, since the kernel may be waiting for
// us to read. The lock is held, which keeps the order.
func (t *turn) send(in soul.Input) {
	p, err := t.peer.conn.Start("steer", map[string]any{"user_input": in.Wire()})
	if err != nil {
		return // the connection is over, and with it the turn
	}
	t.calls.Go(func() { _, _ = p.Wait(t.ctx) }) // a steer that comes too late is lost, as everywhere
}

// serve notes that a tool call is being served.
func (t *turn) serve(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serving[id] = true
}

// keep keeps what a tool call gave for the event in which the kernel repeats it.
func (t *turn) keep(id string, v wire.ToolReturnValue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.serving, id)
	if len(t.results) < maxResults {
		t.results[id] = v
	}
}

// stale tells whether an event says what was told already; or is what a kernel makes of
// a tool call that it gave up when the turn was cancelled, while the call still winds down
// here: what really became of it is among the missing events.
func (t *turn) stale(e wire.Event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.overtaken.repeats(e) {
		return true
	}
	m, ok := e.(wire.ToolResult)
	return ok && t.ctx.Err() != nil && t.serving[m.ToolCallID]
}

// complete gives an event back what does not go over the Wire: results their changes,
// and the beginning the user's own words.
func (t *turn) complete(e wire.Event) wire.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch m := e.(type) {
	case wire.TurnBegin:
		if t.depth == 0 {
			return wire.TurnBegin{UserInput: t.said}
		}
	case wire.ToolResult:
		if v, ok := t.results[m.ToolCallID]; ok {
			if t.ctx.Err() != nil { // the kernel did not wait for it
				m.ReturnValue = v
			}
			m.ReturnValue.Files, m.ReturnValue.Todo, m.ReturnValue.Rejected = v.Files, v.Todo, v.Rejected
			delete(t.results, m.ToolCallID)
			return m
		}
	}
	return e
}

// end ends the turn: nothing of the kernel's is forwarded from here on.
func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

// missing gives the events that the kernel did not tell at the turn's end: the results of
// tools that have run, and what ends a step and turns. No request is served any more.
func (t *turn) missing(failed bool) (events []wire.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range t.open {
		if v, ok := t.results[id]; ok {
			e := wire.ToolResult{ToolCallID: id, ReturnValue: v}
			t.heard.note(e)
			events = append(events, e)
		}
	}
	if t.in && failed {
		events = append(events, wire.StepInterrupted{})
	}
	for range t.depth {
		events = append(events, wire.TurnEnd{})
	}
	return events
}

// saw tells whether an event was forwarded, how many steps there were, and what was said
// and done in them.
func (t *turn) saw() (shown bool, steps int, done [][]llm.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown, t.steps, t.heard.steps()
}
