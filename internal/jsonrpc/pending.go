package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// Pending is a request of ours that waits for its answer. Its methods may be
// called from any goroutine.
type Pending struct {
	conn    *Conn
	id      ID
	method  string
	settled chan struct{} // closed once result and err are set
	result  json.RawMessage
	err     error
}

// ID is the id that the request has on the wire.
func (p *Pending) ID() ID { return p.id }

// Wait gives the peer's result, or its *Error. It fails with ErrBadResponse if
// the answer cannot be used and with ErrClosed if none can come any more. When
// ctx ends first, the peer is sent the dialect's cancel notification, once, and
// the context's error is returned at once; the answer is dropped when it comes.
func (p *Pending) Wait(ctx context.Context) (json.RawMessage, error) {
	select {
	case <-p.settled:
		return p.result, p.err
	default:
	}
	select {
	case <-p.settled:
	case <-ctx.Done():
		if p.conn.pending.settle(p.id, p, nil, ctx.Err()) {
			p.conn.sendCancel(p.id)
		}
		<-p.settled
	}
	return p.result, p.err
}

// Forget gives the answer up without telling the peer: Wait fails with
// ErrForgotten, the answer is dropped when it comes, the id may be used again. It
// does nothing once there is an answer.
func (p *Pending) Forget() { p.conn.pending.settle(p.id, p, nil, ErrForgotten) }

// Start sends a request; it is queued, in order with Notify, when Start returns.
// Someone must Wait for it or Forget it. Errors as for Notify.
func (c *Conn) Start(method string, params any) (*Pending, error) {
	return c.StartAs(c.pending.nextID(c.dialect.IntegerIDs), method, params)
}

// StartAs is Start with an id of the caller's, for protocols that give it a
// meaning. ErrIDInUse refuses one that waits for its answer.
func (c *Conn) StartAs(id ID, method string, params any) (*Pending, error) {
	if !c.dialect.namesRequest(id) {
		return nil, fmt.Errorf("start %s: %q is no id", method, shorten(string(id)))
	}
	p := &Pending{conn: c, id: id, method: method, settled: make(chan struct{})}
	if err := c.pending.add(p); err != nil {
		return nil, fmt.Errorf("start %s: %w", method, err)
	}
	if err := c.send(method, id, params); err != nil {
		c.pending.settle(id, p, nil, err)
		return nil, err
	}
	return p, nil
}

// Call sends a request, waits for the answer and decodes the result into result,
// which may be nil. A null result leaves it as it is. Errors as for Wait.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	p, err := c.Start(method, params)
	if err != nil {
		return err
	}
	raw, err := p.Wait(ctx)
	if err != nil {
		return err
	}
	if result == nil || isNull(raw) {
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("decode result of %s: %w: %w", method, ErrBadResponse, err)
	}
	return nil
}

// sendCancel tells the peer that the answer to id is wanted no more. It never
// waits: there is at most one such message for each request, which did.
func (c *Conn) sendCancel(id ID) {
	if c.dialect.CancelMethod == "" {
		return
	}
	params := map[string]json.RawMessage{c.dialect.CancelParam: json.RawMessage(id)}
	message, err := appendCall(nil, c.dialect.CancelMethod, "", params)
	if err == nil {
		err = c.out.put(message, noLimit, inOrder)
	}
	if err != nil {
		c.log.Debug("cancel not sent", "id", shorten(string(id)), "error", errorTypes(err))
	}
}

// pendings are the requests of ours without an answer. Who takes one out settles
// it, so each is settled once.
type pendings struct {
	mu     sync.Mutex
	last   int64
	byID   map[ID]*Pending
	closed bool // no answer can come
}

func newPendings() *pendings { return &pendings{byID: make(map[ID]*Pending)} }

// nextID gives an id that was not given before.
func (t *pendings) nextID(integer bool) ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		t.last++
		id := ID(fmt.Sprint(t.last))
		if !integer {
			id = StringID(string(id))
		}
		if t.byID[id] == nil { // StartAs may have taken it
			return id
		}
	}
}

func (t *pendings) add(p *Pending) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrClosed
	}
	if t.byID[p.id] != nil {
		return ErrIDInUse
	}
	t.byID[p.id] = p
	return nil
}

// settle ends the pending request with the id, if it is p or p is nil, and says
// whether there was one.
func (t *pendings) settle(id ID, p *Pending, result json.RawMessage, err error) bool {
	t.mu.Lock()
	found := t.byID[id]
	if found == nil || (p != nil && p != found) {
		t.mu.Unlock()
		return false
	}
	delete(t.byID, id)
	t.mu.Unlock()
	found.result, found.err = result, err
	close(found.settled)
	return true
}

// close settles all with ErrClosed and refuses new ones.
func (t *pendings) close() {
	t.mu.Lock()
	left := t.byID
	t.byID, t.closed = nil, true
	t.mu.Unlock()
	for _, p := range left {
		p.err = fmt.Errorf("%s: %w", p.method, ErrClosed)
		close(p.settled)
	}
}
