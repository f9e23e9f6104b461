package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
)

// errUnanswered is the answer to a call whose handler broke off.
var errUnanswered error = &Error{Code: CodeInternal, Message: "Internal error"}

// Handler takes what the peer asks.
type Handler interface {
	// Handle is called for one request or notification at a time, in the order of
	// arrival, and must not wait: nothing else is read while it runs. Each request
	// is owed one Reply, at once, later from anywhere, or through Go.
	Handle(call *Call)
}

// HandlerFunc is a function as Handler.
type HandlerFunc func(call *Call)

// Handle calls f.
func (f HandlerFunc) Handle(call *Call) { f(call) }

// InputEnder is a Handler that is told of the end. InputEnded is called once,
// after the last Handle and before the contexts of running calls end; it must not
// wait.
type InputEnder interface {
	InputEnded()
}

// Call is one request or notification of the peer. Its methods may be called
// from any goroutine.
type Call struct {
	conn    *Conn
	method  string
	id      ID // "" for a notification
	params  json.RawMessage
	ctx     context.Context         //nolint:containedctx // the call's own, as an http.Request has one
	cancel  context.CancelCauseFunc // nil for a notification
	replied atomic.Bool
}

// Method is the name of the method.
func (c *Call) Method() string { return c.method }

// Params are the raw params, nil when they are absent or null. They are the
// caller's to keep.
func (c *Call) Params() json.RawMessage { return c.params }

// ID is the id of the request, "" for a notification.
func (c *Call) ID() ID { return c.id }

// IsNotification says that no reply is owed.
func (c *Call) IsNotification() bool { return c.id == "" }

// Context ends with the connection, when the peer cancels (its cause is then
// ErrCancelled) and when the call was replied to.
func (c *Call) Context() context.Context { return c.ctx }

// Reply answers the request with result (nil is null), or with err: an *Error in
// its chain as it is, the call's own cancellation as CodeCancelled, any other as
// CodeInternal without its text. Only the first Reply counts; to a notification
// nothing is sent. Reply waits only while a peer that does not read has left the
// queue and its reserve full.
func (c *Call) Reply(result any, err error) { c.reply(result, err, aReply) }

// ReplyNow is Reply for an answer on whose place nothing depends: it overtakes
// the notifications and requests that are queued and not yet written, so that it
// comes soon while much is sent. Answers keep their order among themselves.
func (c *Call) ReplyNow(result any, err error) { c.reply(result, err, overtaking) }

func (c *Call) reply(result any, err error, as rank) {
	if c.IsNotification() || !c.replied.CompareAndSwap(false, true) {
		return
	}
	c.conn.calls.release(c) // first: the peer may use the id again once it sees the reply
	defer c.conn.calls.end()
	defer c.cancel(nil)
	if err == nil {
		if err = c.conn.sendResult(c.id, result, as); err == nil {
			return
		}
	}
	answer, worded := answerFor(c.ctx, err)
	if !worded {
		c.conn.log.Error("request failed", slog.String("method", shorten(c.method)),
			slog.String("id", shorten(string(c.id))), slog.String("error", errorTypes(err)))
	}
	c.conn.sendError(c.id, answer, as)
}

// Go runs f in a goroutine of its own, with the call's context, and replies with
// what it returns. Run waits for it within its limits. If f panics, the stack is
// logged and this call alone fails.
func (c *Call) Go(f func(ctx context.Context) (any, error)) { c.run(f, false) }

// GoLocal is Go for a function that waits for nobody: neither for the peer nor for
// anything beyond this machine. It may finish after the end of input, within
// SettleTime.
func (c *Call) GoLocal(f func(ctx context.Context) (any, error)) { c.run(f, true) }

func (c *Call) run(f func(ctx context.Context) (any, error), local bool) {
	c.conn.calls.begin(local)
	go func() {
		defer c.conn.calls.finish(local)
		defer c.Reply(nil, errUnanswered) // counts if runtime.Goexit ended f
		defer c.rescue()
		c.Reply(f(c.ctx))
	}()
}

// rescue, deferred, makes a panic cost this call only.
func (c *Call) rescue() {
	if p := recover(); p != nil {
		c.conn.log.Error("handler panicked", slog.String("method", shorten(c.method)),
			slog.String("id", shorten(string(c.id))), slog.String("panic", panicWords(p)),
			slog.String("stack", string(debug.Stack())))
		c.Reply(nil, errUnanswered)
	}
}

// sendResult queues a result. An error means that it could not be encoded.
func (c *Conn) sendResult(id ID, result any, as rank) error {
	scratch := c.scratch.take()
	defer c.scratch.give(scratch)
	var err error
	if scratch.b, err = appendResult(scratch.b, id, result); err != nil {
		return err
	}
	c.putReply(scratch.b, as)
	return nil
}

// sendError queues an error. Data that cannot be encoded is left out.
func (c *Conn) sendError(id ID, e *Error, as rank) {
	scratch := c.scratch.take()
	defer c.scratch.give(scratch)
	var err error
	if scratch.b, err = c.dialect.appendError(scratch.b, id, e); err != nil {
		c.log.Error("error data left out", slog.String("id", shorten(string(id))), slog.String("error", errorTypes(err)))
	}
	c.putReply(scratch.b, as)
}

func (c *Conn) putReply(message []byte, as rank) {
	err := c.out.put(message, c.maxQueued+replyReserve, as)
	if errors.Is(err, ErrClosed) {
		c.log.Debug("reply dropped, the connection is closed", slog.Int("bytes", len(message)))
	}
}

// shorten bounds a name that the peer chose, for logs.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
