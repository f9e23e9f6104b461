package acptest

import (
	"encoding/json"
	"fmt"
)

// Error is a JSON-RPC error. A Handler returns one to choose code and data.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error gives code and message.
func (e *Error) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

// Call is a request of ours.
type Call struct {
	c      *Client
	id     string // raw JSON
	method string

	// Under the client's lock.
	done   bool
	after  func() // run once when the call is settled
	result json.RawMessage
	err    *Error
	lost   error // why there will be no answer
}

// settle marks the call as answered or lost. The client's lock is held.
func (k *Call) settle() {
	k.done = true
	if k.after != nil {
		k.after()
	}
}

// Request sends a request that the protocol allows here.
func (c *Client) Request(method string, params any) *Call {
	return c.request(method, params, true, nil)
}

// Misuse sends a request that the agent has to refuse, or to bear: it is not held
// against the protocol, its answer is.
func (c *Client) Misuse(method string, params any) *Call {
	return c.request(method, params, false, nil)
}

// request sends a request; prepare, if there is one, runs under the lock before
// anything of it can be answered.
func (c *Client) request(method string, params any, judged bool, prepare func(*Call)) *Call {
	c.mu.Lock()
	call := &Call{c: c, id: c.newID(), method: method}
	c.calls[call.id] = call
	if prepare != nil {
		prepare(call)
	}
	c.mu.Unlock()
	message := outgoing{ID: call.ID(), Method: method, Params: params}
	if err := c.send(message, judged); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.calls, call.id); !call.done {
			call.lost = fmt.Errorf("writing to the agent: %w", err)
			call.settle()
		}
	}
	return call
}

// Notify sends a notification that the protocol allows here.
func (c *Client) Notify(method string, params any) {
	c.t.Helper()
	if err := c.send(outgoing{Method: method, Params: params}, true); err != nil {
		c.t.Errorf("writing %s to the agent: %v", method, err)
	}
}

// ID is the id of the request, as JSON.
func (k *Call) ID() json.RawMessage { return json.RawMessage(k.id) }

// Wait waits for the answer. Exactly one of result and error is set.
func (k *Call) Wait() (json.RawMessage, *Error) {
	k.c.t.Helper()
	k.c.await("the answer to "+k.method, func() bool { return k.done })
	if k.lost != nil {
		k.c.t.Fatalf("%s: %v", k.method, k.lost)
	}
	return k.result, k.err
}

// Answered tells whether the answer has come, without waiting. An agent that has ended
// has not answered.
func (k *Call) Answered() bool {
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	return k.done && k.lost == nil
}

// Result waits for a result and decodes it into v, which may be nil. An error
// ends the test.
func (k *Call) Result(v any) {
	k.c.t.Helper()
	result, err := k.Wait()
	if err != nil {
		k.c.t.Fatalf("%s: %v, want a result", k.method, err)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(result, v); err != nil {
		k.c.t.Fatalf("%s: decoding the result: %v", k.method, err)
	}
}

// Fails waits for an error with that code; anything else ends the test.
func (k *Call) Fails(code int) *Error {
	k.c.t.Helper()
	result, err := k.Wait()
	if err == nil {
		k.c.t.Fatalf("%s: result %s, want error %d", k.method, clip(result), code)
	}
	if err.Code != code {
		k.c.t.Fatalf("%s: %v, want code %d", k.method, err, code)
	}
	return err
}
