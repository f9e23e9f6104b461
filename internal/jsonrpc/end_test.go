package jsonrpc

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// ending is a handler that runs f in Go and notes the end of input.
type ending struct {
	f     func(ctx context.Context) (any, error)
	local bool // waits for nobody
	ended chan struct{}
}

func newEnding(f func(ctx context.Context) (any, error)) *ending {
	return &ending{f: f, ended: make(chan struct{})}
}

func (e *ending) Handle(c *Call) {
	if e.local {
		c.GoLocal(e.f)
		return
	}
	c.Go(e.f)
}
func (e *ending) InputEnded() { close(e.ended) }

// Requests that are piped in are answered although the input ends at once.
func TestP29_A21_AnswersAfterTheEnd(t *testing.T) {
	cancelled := `{"jsonrpc":"2.0","id":"next","error":{"code":-32800,"message":"Request cancelled"}}` + "\n"
	tests := []struct {
		name string
		f    func(e *ending, ctx context.Context) (any, error)
		want string
		took time.Duration
	}{
		{"at once", func(*ending, context.Context) (any, error) { return nil, nil }, pong + "\n", 0},
		{"within Linger", func(*ending, context.Context) (any, error) {
			time.Sleep(DefaultLinger / 2)
			return nil, nil
		}, pong + "\n", DefaultLinger / 2},
		{"told by the handler", func(e *ending, _ context.Context) (any, error) {
			<-e.ended
			return nil, nil
		}, pong + "\n", 0},
		{"ended by its context", func(_ *ending, ctx context.Context) (any, error) {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), ErrClosed) {
				t.Errorf("cause: %v", context.Cause(ctx))
			}
			return nil, ctx.Err()
		}, cancelled, DefaultLinger},
		{"winds down", func(_ *ending, ctx context.Context) (any, error) {
			<-ctx.Done()
			time.Sleep(DefaultLinger / 16)
			return nil, ctx.Err()
		}, cancelled, DefaultLinger + DefaultLinger/16},
		{"never", func(*ending, context.Context) (any, error) {
			time.Sleep(time.Minute)
			return nil, nil
		}, "", DefaultLinger + DefaultLinger/8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e *ending
				e = newEnding(func(ctx context.Context) (any, error) { return tt.f(e, ctx) })
				began := time.Now()
				equal(t, exchange(t, e, Options{Dialect: ACP, Linger: DefaultLinger}, ping+"\n"), tt.want)
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				<-e.ended
				time.Sleep(time.Hour) // for the call that was left behind
			})
		})
	}
}

// What waits for nobody is finished, however busy the machine is, within bounds.
func TestLocalCallsAfterTheEnd(t *testing.T) {
	for _, tt := range []struct {
		name       string
		work, took time.Duration
		want       string
	}{
		{"slow", time.Second, time.Second, pong + "\n"},
		{"too slow", time.Hour, SettleTime + DefaultLinger/8, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnding(func(context.Context) (any, error) {
					time.Sleep(tt.work)
					return nil, nil
				})
				e.local = true
				began := time.Now()
				equal(t, exchange(t, e, Options{Dialect: ACP, Linger: DefaultLinger}, ping+"\n"), tt.want)
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				time.Sleep(2 * time.Hour) // for the call that was left behind
			})
		})
	}
}

// A peer that never reads does not keep the process alive.
func TestOutputLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo{ACP}, Options{Dialect: ACP, Linger: DefaultLinger})
		p.send(ping)
		synctest.Wait()
		began := time.Now()
		p.in.Close()
		<-p.conn.Done()
		if err := <-p.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if took := time.Since(began); took != DefaultLinger+DefaultLinger/4 {
			t.Errorf("took %v", took)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped")
		e := newEnding(nil)
		e.f = func(ctx context.Context) (any, error) {
			<-e.ended
			return "at the end", ctx.Err()
		}
		p := connect(t, e, Options{Dialect: ACP})
		p.send(ping)
		synctest.Wait()
		p.stop(stopped)
		p.want(`{"jsonrpc":"2.0","id":"next","result":"at the end"}`)
		if rest, err := p.close(); rest != "" || !errors.Is(err, stopped) {
			t.Errorf("at the end: %q, %v", rest, err)
		}
	})
}

// Without input no answer can come: what waits for one is released at once, and
// the last notifications still leave.
func TestEndFailsPendingRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var conn *Conn
		h := HandlerFunc(func(c *Call) {
			c.Go(func(ctx context.Context) (any, error) {
				if err := conn.Call(ctx, "ask", nil, nil); !errors.Is(err, ErrClosed) {
					t.Errorf("Call: %v", err)
				}
				if err := conn.Call(ctx, "ask", nil, nil); !errors.Is(err, ErrClosed) {
					t.Errorf("a later Call: %v", err)
				}
				return nil, conn.Notify("last", nil)
			})
		})
		p := connect(t, h, Options{Dialect: ACP})
		conn = p.conn
		p.send(ping)
		p.want(`{"jsonrpc":"2.0","method":"ask","id":1}`)
		rest, err := p.close()
		equal(t, rest, joinLines(`{"jsonrpc":"2.0","method":"last"}`, pong))
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// Calls that nobody answers are let go, also when their reply comes after all.
func TestReplyAfterTheEnd(t *testing.T) {
	h := make(hold, 1)
	equal(t, exchange(t, h, Options{Dialect: ACP, Linger: -1}, holdLine("1")), "")
	call := <-h
	<-call.Context().Done()
	call.Reply(nil, nil)
}

type endPanics struct{ echo }

func (endPanics) InputEnded() { panic("x") }

func TestPanicAtTheEnd(t *testing.T) {
	equal(t, exchange(t, endPanics{echo{ACP}}, Options{Dialect: ACP}, ping), pong+"\n")
}

// The limits have defaults; a Linger below zero is none.
func TestDefaults(t *testing.T) {
	c := NewConn(nil, nil, echo{}, Options{})
	if c.linger != DefaultLinger || c.maxQueued != DefaultMaxQueued || c.calls.max != DefaultMaxCalls {
		t.Errorf("linger %v, queue %d, calls %d", c.linger, c.maxQueued, c.calls.max)
	}
	if l := c.in.(*lineFramer).limit; l != DefaultMaxMessage {
		t.Errorf("message limit %d", l)
	}
	if c := NewConn(nil, nil, echo{}, Options{Linger: -time.Second}); c.linger != 0 {
		t.Errorf("linger %v", c.linger)
	}
}

// What is sent before Run leaves first, nothing starts before it, and it works
// once.
func TestP25_BeforeAndAfterRun(t *testing.T) {
	r, w := io.Pipe()
	var out gate
	out.open = make(chan struct{})
	close(out.open)
	c := newConn(r, &out, echo{ACP}, Options{Dialect: ACP})
	if err := c.Notify("hello", nil); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if len(out.writes) != 1 || out.writes[0] != `{"jsonrpc":"2.0","method":"hello"}`+"\n" {
		t.Errorf("written: %q", out.writes)
	}
	if err := c.Run(t.Context()); err == nil {
		t.Error("Run twice")
	}
}
