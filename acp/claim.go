package acp

import (
	"cmp"
	"slices"

	"kimi-acp/internal/jsonrpc"
)

// maxHeld is how many messages may wait for one session to be opened or closed. Of
// them, maxQueued prompts find room afterwards.
const maxHeld = 2 * maxQueued

// maxHeldTold is how many of these may be notifications of what the user looks at. Of more
// the oldest is dropped: what was told later counts.
const maxHeldTold = maxQueued / 2

// claim is the right to open or close a session. What an editor sends for the session
// meanwhile waits, and is served in its order afterwards: an editor need not wait for
// the answer to session/load before it sends a prompt. Under the agent's lock.
type claim struct {
	owner int             // counts who has had the right
	held  []*jsonrpc.Call // what waits
}

// hold keeps a message that names a session which is being opened or closed, and tells
// whether it did. It is called on the reader only.
func (a *Agent) hold(call *jsonrpc.Call) bool {
	a.mu.Lock()
	none := len(a.claims) == 0
	a.mu.Unlock()
	if none {
		return false // nearly always: nothing is parsed for it
	}
	p, _ := object(call.Params())
	id := p.optionalText("sessionId")
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.claims[id]
	if c == nil {
		return false
	}
	if told(call) {
		c.dropTold()
	}
	if len(c.held) >= maxHeld {
		if !call.IsNotification() {
			call.ReplyNow(nil, invalidRequest("Too many messages wait for the session to be opened or closed"))
		}
		return true
	}
	c.held = append(c.held, call)
	return true
}

// told tells whether a message is a notification of what the user looks at.
func told(call *jsonrpc.Call) bool { return call.IsNotification() && tells(call.Method()) }

// dropTold makes room for one more such notification.
func (c *claim) dropTold() {
	n, oldest := 0, -1
	for i, held := range c.held {
		if told(held) {
			if n++; oldest < 0 {
				oldest = i
			}
		}
	}
	if n >= maxHeldTold {
		c.held = slices.Delete(c.held, oldest, oldest+1)
	}
}

// claim makes the caller the only one that opens or closes a session, until it calls
// release. It is called where messages are served, in their order, so nobody else has
// the claim then.
func (a *Agent) claim(id string) (release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := cmp.Or(a.claims[id], &claim{}) // what is there is being given up, and this call was held
	a.claims[id] = c
	c.owner++
	mine := c.owner
	return func() { a.release(id, c, mine) }
}

// release serves what has waited, until one of it claims the session again.
func (a *Agent) release(id string, c *claim, mine int) {
	for {
		a.mu.Lock()
		if c.owner != mine {
			a.mu.Unlock()
			return
		}
		if len(c.held) == 0 {
			delete(a.claims, id)
			a.mu.Unlock()
			return
		}
		next := c.held[0]
		c.held = c.held[1:]
		a.mu.Unlock()
		a.serve(next)
	}
}
