package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// The limits where Options say nothing.
const (
	DefaultMaxMessage = 64 << 20 // bytes
	DefaultMaxQueued  = 1 << 20  // bytes
	DefaultMaxCalls   = 1024
	DefaultLinger     = 40 * time.Millisecond
)

// SettleTime bounds how long Run waits after the end of input for functions that
// wait for nobody: on a machine that is busy, what takes a moment may take long.
const SettleTime = 2 * time.Second

// replyReserve is by how many bytes replies may exceed MaxQueued.
const replyReserve = 1 << 20

// Direction says which way a message went.
type Direction uint8

// The directions.
const (
	In Direction = iota
	Out
)

// Options say how a connection behaves. A limit of 0 is the default one.
type Options struct {
	Framing    Framing
	Dialect    Dialect
	MaxMessage int           // bytes of one incoming message; a larger one is refused, not buffered
	MaxQueued  int           // bytes of output at which Notify and Start wait; a Reply waits at 1 MiB more
	MaxCalls   int           // requests of the peer that run at a time; more are refused
	Linger     time.Duration // how long Run waits after the end of input for calls and output; negative: not at all
	Logger     *slog.Logger  // nil: no log

	// Tap sees every message, without its framing, in the order of each direction,
	// for tests and traces; of an incoming one over the limit the beginning. It
	// must not keep line nor use the connection.
	Tap func(d Direction, line []byte)
}

// Conn is one connection. All methods but Run may be called from any goroutine,
// before, during and after Run.
type Conn struct {
	in        framer
	out       *outbox
	handler   Handler
	dialect   Dialect
	tap       func(Direction, []byte)
	log       *slog.Logger
	maxQueued int
	linger    time.Duration
	scratch   scratchPool

	calls   *inflight
	pending *pendings

	ran  atomic.Bool
	base context.Context //nolint:containedctx // of all calls; lives as long as Run, whose goroutine alone sets and reads it
}

// NewConn makes a connection that reads messages from r and writes to w. Nothing
// is read or written before Run.
func NewConn(r io.Reader, w io.Writer, h Handler, o Options) *Conn {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	linger := o.Linger
	if linger == 0 {
		linger = DefaultLinger
	}
	return &Conn{
		in:        o.Framing.newFramer(r, orDefault(o.MaxMessage, DefaultMaxMessage)),
		out:       newOutbox(w, o.Framing, o.Tap),
		handler:   h,
		dialect:   o.Dialect,
		tap:       o.Tap,
		log:       log,
		maxQueued: orDefault(o.MaxQueued, DefaultMaxQueued),
		linger:    max(linger, 0),
		calls:     newInflight(orDefault(o.MaxCalls, DefaultMaxCalls)),
		pending:   newPendings(),
	}
}

func orDefault(n, byDefault int) int {
	if n > 0 {
		return n
	}
	return byDefault
}

// Done is closed when the connection takes no more messages: a Write failed, or
// Run is about to return.
func (c *Conn) Done() <-chan struct{} { return c.out.done }

// Notify sends a notification; nil params are left out. It waits while MaxQueued
// or more bytes are queued. It fails with ErrClosed, or if params cannot be
// encoded; then nothing was sent.
func (c *Conn) Notify(method string, params any) error { return c.send(method, "", params) }

func (c *Conn) send(method string, id ID, params any) error {
	scratch := c.scratch.take()
	defer c.scratch.give(scratch)
	var err error
	if scratch.b, err = appendCall(scratch.b, method, id, params); err != nil {
		return err
	}
	if err := c.out.put(scratch.b, c.maxQueued, inOrder); err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	return nil
}

// Run serves the connection until the input ends (nil), reading or writing fails
// or ctx ends (its cause). Then it fails our own pending requests, tells the
// handler, waits for running calls, ends their contexts, writes what is queued
// and returns. The waiting takes Linger, up to SettleTime for GoLocal, and a quarter
// of Linger more for calls that answer only when their context ends; a call that does
// not even then is left behind. Run is called once.
//
// A Read or Write that is under way when Run returns is not interrupted: its
// goroutine ends when the caller closes r or w.
func (c *Conn) Run(ctx context.Context) error {
	if c.ran.Swap(true) {
		return errors.New("connection was run before")
	}
	base, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(ErrClosed)
	c.base = base
	go c.out.run()

	err := c.serve(ctx)
	c.out.hurry()
	c.pending.close()
	if c.out.failure() != nil {
		cancel(ErrClosed) // nobody reads the answers
	}
	c.inputEnded()
	c.windDown(cancel)
	if failure := c.out.failure(); failure != nil {
		return failure
	}
	return err
}

// serve receives messages until there are no more to receive.
func (c *Conn) serve(ctx context.Context) error {
	// Replies of this goroutine may be waiting for room when ctx ends.
	defer context.AfterFunc(ctx, c.out.hurry)()
	stop := make(chan struct{})
	defer close(stop)
	frames := make(chan frame)
	ended := make(chan error, 1)
	go func() { ended <- c.read(frames, stop) }()
	for {
		select {
		case f := <-frames:
			c.receive(f)
		case err := <-ended:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.out.done:
			return c.out.failure()
		}
	}
}

// read hands over the incoming messages until the input ends or stop is closed.
func (c *Conn) read(frames chan<- frame, stop <-chan struct{}) error {
	for {
		f, err := c.in.next()
		if err != nil {
			return err
		}
		select {
		case frames <- f:
		case <-stop:
			return nil
		}
	}
}

// inputEnded tells the handler, if it wants to know.
func (c *Conn) inputEnded() {
	h, ok := c.handler.(InputEnder)
	if !ok {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("handler panicked at the end of input", slog.String("panic", panicWords(p)),
				slog.String("stack", string(debug.Stack())))
		}
	}()
	h.InputEnded()
}

// windDown waits for calls and output within Run's limits.
func (c *Conn) windDown(cancel context.CancelCauseFunc) {
	began := time.Now()
	idle, settled := c.calls.drain()
	waitUntil(began.Add(c.linger), idle, c.out.done)
	if c.linger > 0 {
		waitUntil(began.Add(SettleTime), settled, c.out.done)
	}
	cancel(ErrClosed)
	end := began.Add(c.linger)
	if now := time.Now(); now.After(end) {
		end = now
	}
	if !waitUntil(end.Add(c.linger/8), idle, nil) {
		c.log.Warn("calls left behind")
	}
	c.out.close()
	if !waitUntil(end.Add(c.linger/4), c.out.drained, nil) {
		c.log.Warn("output left behind")
	}
}

// waitUntil waits for one of two channels to be closed, of which other may be
// nil, and says whether one was in time.
func waitUntil(deadline time.Time, this, other <-chan struct{}) bool {
	late := time.NewTimer(time.Until(deadline))
	defer late.Stop()
	select {
	case <-this:
		return true
	case <-other:
		return true
	case <-late.C:
		return false
	}
}
