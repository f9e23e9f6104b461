package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"unicode/utf8"
)

// receive takes one message of the peer. It runs on Run's goroutine, so messages
// are handled in the order of arrival.
func (c *Conn) receive(f frame) {
	if c.tap != nil {
		c.tap(In, f.data)
	}
	if f.oversized() {
		c.receiveHead(f)
		return
	}
	data := bytes.TrimSpace(f.data)
	if len(data) == 0 && c.dialect.SkipBlank {
		return
	}
	if !utf8.Valid(data) {
		if !c.dialect.ReplaceUTF8 {
			c.refuse(nullID, c.dialect.parseError("the bytes are not UTF-8"), f.size)
			return
		}
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	if !json.Valid(data) {
		c.refuse(nullID, c.dialect.parseError("the bytes are not one JSON value"), f.size)
		return
	}
	if data[0] != '{' {
		c.refuse(nullID, c.dialect.invalidRequest("a message must be one object"), f.size)
		return
	}
	e, _ := scanEnvelope(data)
	c.dispatch(c.dialect.classify(e), f.size)
}

// dispatch does with a message what its kind asks for.
func (c *Conn) dispatch(m message, size int64) {
	switch m.kind {
	case request:
		c.receiveRequest(m, size)
	case notification:
		if c.dialect.CancelMethod != "" && m.method == c.dialect.CancelMethod {
			c.receiveCancel(m)
			return
		}
		c.handle(&Call{conn: c, method: m.method, params: m.params, ctx: c.base})
	case response:
		c.receiveResponse(m, size)
	case bare:
		if c.pending.settle(m.id, nil, nil, badResponse("neither result nor error")) || c.dialect.SilentEmpty {
			return
		}
		c.refuseWithID(m, size)
	case invalid:
		c.refuseWithID(m, size)
	case empty:
	}
}

func (c *Conn) receiveRequest(m message, size int64) {
	call := &Call{conn: c, method: m.method, id: m.id, params: m.params}
	call.ctx, call.cancel = context.WithCancelCause(c.base)
	switch c.calls.admit(call) {
	case admitted:
		c.handle(call)
		return
	case duplicate:
		m.why = "a request with this id is still running"
		c.refuseWithID(m, size)
	case tooMany:
		c.refuse(m.id, &Error{Code: CodeInternal, Message: "Too many requests in flight"}, size)
	}
	call.cancel(nil)
}

// receiveResponse settles the request of ours that m answers. Answers that
// nobody waits for are ignored: their request may have been cancelled.
func (c *Conn) receiveResponse(m message, size int64) {
	var err error
	switch {
	case m.why != "":
		err = badResponse(m.why)
	case m.failure != nil:
		err = m.failure
	}
	if !c.pending.settle(m.id, nil, m.result, err) {
		c.log.Debug("response to no request", slog.String("id", shorten(string(m.id))), slog.Int64("bytes", size))
	}
	if m.why != "" && c.dialect.RejectResponses {
		c.refuse(nullID, c.dialect.invalidRequest(m.why), size)
	}
}

// receiveCancel ends the context of the request that the peer cancels. One that
// is unknown, or was replied to, is none of the peer's mistakes.
func (c *Conn) receiveCancel(m message) {
	var params map[string]json.RawMessage
	if json.Unmarshal(m.params, &params) != nil {
		c.log.Debug("cancel without usable params")
		return
	}
	id := ID(bytes.TrimSpace(params[c.dialect.CancelParam]))
	if !c.calls.cancel(id) {
		c.log.Debug("cancel of no request", slog.String("id", shorten(string(id))))
	}
}

// receiveHead takes a message over the limit, of which only the head is known.
func (c *Conn) receiveHead(f frame) {
	e, cut := scanEnvelope(f.data)
	id := nullID
	if json.Valid(e.id) && utf8.Valid(e.id) {
		if usable, ok := c.dialect.readID(e.id); ok {
			id = usable
		}
	}
	why := fmt.Sprintf("a message of %d bytes is over the limit", f.size)
	answers := e.result != nil || e.failure != nil || cut == "result" || cut == "error"
	if e.method == nil && answers && c.pending.settle(id, nil, nil, badResponse(why)) {
		return
	}
	c.refuse(id, c.dialect.invalidRequest(why), f.size)
}

// handle gives a call to the handler; a panic there costs this call only.
func (c *Conn) handle(call *Call) {
	defer call.rescue()
	c.handler.Handle(call)
}

// refuseWithID refuses a message as invalid, with its id where the dialect wants
// that and there is one.
func (c *Conn) refuseWithID(m message, size int64) {
	id := m.id
	if id == "" || !c.dialect.EchoID {
		id = nullID
	}
	c.refuse(id, c.dialect.invalidRequest(m.why), size)
}

func (c *Conn) refuse(id ID, e *Error, size int64) {
	c.log.Warn("message refused", slog.Int("code", e.Code), slog.String("id", shorten(string(id))), slog.Int64("bytes", size))
	c.sendError(id, e, overtaking)
}

func badResponse(why string) error { return fmt.Errorf("%w: %s", ErrBadResponse, why) }
