package kernel

import (
	"context"
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
	in      bool // within a step
	results map[string]wire.ToolReturnValue
	steers  []soul.Input
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
	switch e.(type) {
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

// keep keeps what a tool call gave for the event in which the kernel repeats it.
func (t *turn) keep(id string, v wire.ToolReturnValue) {
	if v.Files == nil && v.Todo == nil && !v.Rejected {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.results) < maxResults {
		t.results[id] = v
	}
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
			m.ReturnValue.Files, m.ReturnValue.Todo, m.ReturnValue.Rejected = v.Files, v.Todo, v.Rejected
			delete(t.results, m.ToolCallID)
			return m
		}
	}
	return e
}

// finish ends the turn: nothing of it is forwarded from here on. It gives the events
// that are missing at its end.
func (t *turn) finish(failed bool) (missing []wire.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.in && failed {
		missing = append(missing, wire.StepInterrupted{})
	}
	for range t.depth {
		missing = append(missing, wire.TurnEnd{})
	}
	return missing
}

// saw tells whether an event was forwarded, how many steps there were, and what was said
// and done in them.
func (t *turn) saw() (shown bool, steps int, done [][]llm.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown, t.steps, t.heard.steps()
}
