package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

func TestCall(t *testing.T) {
	tests := []struct {
		name, answer string
		want         string // of the result
		err          string // "" is success; a prefix
		is           error
	}{
		{"result", `"result":{"a":9007199254740993}`, `{9007199254740993}`, "", nil},
		{"null result", `"result":null`, `{0}`, "", nil},
		{"result and error null", `"result":{"a":1},"error":null`, `{1}`, "", nil},
		{"error", `"error":{"code":-32002,"message":"gone","data":{"n":1.0}}`, `{0}`, `gone (code -32002)`, nil},
		{"error and result null", `"result":null,"error":{"code":1,"message":"m","data":null}`, `{0}`, `m (code 1)`, nil},
		{"A18 neither", `"x":1`, `{0}`, "bad response: neither result nor error", ErrBadResponse},
		{"A18 both", `"result":{},"error":{"code":1,"message":"m"}`, `{0}`, "bad response: both result and error", ErrBadResponse},
		{"A18 error is a string", `"error":"x"`, `{0}`, "bad response: the error is malformed", ErrBadResponse},
		{"A18 error without code", `"error":{"message":"m"}`, `{0}`, "bad response: the error is malformed", ErrBadResponse},
		{"A18 error null", `"error":null`, `{0}`, "bad response: the error is null", ErrBadResponse},
		{"A18 result of the wrong type", `"result":{"a":"x"}`, `{0}`, "decode result of m: bad response: ", ErrBadResponse},
		{"over the limit", `"result":"` + strings.Repeat("x", 300) + `"`, `{0}`, "bad response: a message of 336 bytes is over the limit", ErrBadResponse},
		{"error over the limit", `"error":{"code":1,"message":"` + strings.Repeat("x", 300) + `"}`, `{0}`, "bad response: a message of ", ErrBadResponse},
		{"cut in the head", `"result":"` + strings.Repeat("x", 2*headSize) + `"`, `{0}`, "bad response: a message of ", ErrBadResponse},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, echo{ACP}, Options{Dialect: ACP, MaxMessage: 256})
			var result struct{ A int64 }
			got := make(chan error, 1)
			go func() { got <- p.conn.Call(t.Context(), "m", []string{"<é>"}, &result) }()
			p.want(`{"jsonrpc":"2.0","method":"m","id":1,"params":["<é>"]}`)
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,%s}`, tt.answer), ping)
			p.want(pong)
			err := <-got
			if (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
			equal(t, fmt.Sprint(result), tt.want)
			p.wantClose()
		})
	}
}

func TestErrorOfThePeer(t *testing.T) {
	p := connect(t, echo{ACP}, Options{Dialect: ACP})
	call, err := p.conn.Start("m", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.want(`{"jsonrpc":"2.0","method":"m","id":1}`)
	p.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"auth","data":{"n":1.0}}}`)
	_, err = call.Wait(t.Context())
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != -32000 || failure.Message != "auth" {
		t.Fatalf("error: %v", err)
	}
	if data, ok := failure.Data.(json.RawMessage); !ok || string(data) != `{"n":1.0}` {
		t.Errorf("data: %#v", failure.Data)
	}
	if _, again := call.Wait(t.Context()); again != err { //nolint:errorlint // the same error, not one like it
		t.Errorf("the second Wait: %v", again)
	}
	p.wantClose()
}

// A response to the wrong type of id is none, and one without version fails its
// call only.
func TestResponseIDsAreExact(t *testing.T) {
	p := connect(t, echo{ACP}, Options{Dialect: ACP})
	first, second := p.start("a"), p.start("b")
	p.want(`{"jsonrpc":"2.0","method":"a","id":1}`, `{"jsonrpc":"2.0","method":"b","id":2}`)
	p.send(`{"jsonrpc":"2.0","id":"2","result":"wrong"}`, `{"id":1,"result":"unversioned"}`, `{"jsonrpc":"2.0","id":2,"result":"right"}`)
	if raw, err := second.Wait(t.Context()); string(raw) != `"right"` || err != nil {
		t.Errorf("second: %s, %v", raw, err)
	}
	if _, err := first.Wait(t.Context()); !errors.Is(err, ErrBadResponse) {
		t.Errorf("first: %v", err)
	}
	p.wantClose()
}

func (p *peer) start(method string) *Pending {
	p.t.Helper()
	call, err := p.conn.Start(method, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return call
}

func TestWaitEndsWithItsContext(t *testing.T) {
	tests := []struct {
		name    string
		dialect Dialect
		request string
		cancel  string
		late    string
	}{
		{"ACP", ACP, `"id":1`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"result":1}`},
		{"LSP", LSP, `"id":1`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`, `{"jsonrpc":"2.0","id":1,"result":1}`},
		{"Wire", Wire, `"id":"1"`, ``, `{"id":"1","result":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, echo{tt.dialect}, Options{Dialect: tt.dialect})
			call := p.start("m")
			p.want(`{"jsonrpc":"2.0","method":"m",` + tt.request + `}`)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for range 2 { // the cancel is sent once
				if _, err := call.Wait(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("Wait: %v", err)
				}
			}
			if tt.cancel != "" {
				p.want(tt.cancel)
			}
			p.send(tt.late, ping)
			p.want(pong)
			p.wantClose()
		})
	}
}

// An answer that is there is given also to who comes with an ended context.
func TestWaitPrefersTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo{ACP}, Options{Dialect: ACP})
		call := p.start("m")
		p.want(`{"jsonrpc":"2.0","method":"m","id":1}`)
		p.send(`{"jsonrpc":"2.0","id":1,"result":5}`)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if raw, err := call.Wait(ctx); string(raw) != "5" || err != nil {
			t.Errorf("Wait: %s, %v", raw, err)
		}
		p.wantClose()
	})
}

func TestStartAs(t *testing.T) {
	p := connect(t, echo{Wire}, Options{Dialect: Wire})
	id := StringID("re\"q")
	call, err := p.conn.StartAs(id, "request", delta("x"))
	if err != nil {
		t.Fatal(err)
	}
	p.want(`{"jsonrpc":"2.0","method":"request","id":"re\"q","params":{"sessionId":"s1","text":"x"}}`)
	if call.ID() != id {
		t.Errorf("ID: %s", call.ID())
	}
	if _, err := p.conn.StartAs(id, "request", nil); !errors.Is(err, ErrIDInUse) {
		t.Errorf("id in use: %v", err)
	}
	for _, bad := range []ID{"", "null", "5", `"a`, `"a" `, "{}"} {
		if _, err := p.conn.StartAs(bad, "request", nil); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	call.Forget()
	call.Forget()
	if _, err := call.Wait(t.Context()); !errors.Is(err, ErrForgotten) {
		t.Errorf("Wait: %v", err)
	}
	again, err := p.conn.StartAs(id, "request", nil)
	if err != nil {
		t.Fatal(err)
	}
	call.Forget() // of the first request, not of this one
	p.want(`{"jsonrpc":"2.0","method":"request","id":"re\"q"}`)
	p.send(`{"id":"re\"q","result":{}}`)
	if raw, err := again.Wait(t.Context()); string(raw) != "{}" || err != nil {
		t.Errorf("Wait: %s, %v", raw, err)
	}
	p.wantClose()
}

// Our own ids go round one that a caller has taken.
func TestStartSkipsTakenIDs(t *testing.T) {
	p := connect(t, echo{ACP}, Options{Dialect: ACP})
	if _, err := p.conn.StartAs("1", "a", nil); err != nil {
		t.Fatal(err)
	}
	p.start("b")
	p.want(`{"jsonrpc":"2.0","method":"a","id":1}`, `{"jsonrpc":"2.0","method":"b","id":2}`)
	p.wantClose()
}

func TestWireRefusesMalformedErrors(t *testing.T) {
	p := connect(t, echo{Wire}, Options{Dialect: Wire})
	call := p.start("request")
	p.want(`{"jsonrpc":"2.0","method":"request","id":"1"}`)
	p.send(`{"id":"1","error":{"code":"x"}}`)
	p.want(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":null}}`)
	if _, err := call.Wait(t.Context()); !errors.Is(err, ErrBadResponse) {
		t.Errorf("Wait: %v", err)
	}
	p.wantClose()
}

// A handler that waits for an answer in Go keeps nothing from being read, also
// not the answer.
func TestP21_P22_CallInsideAHandler(t *testing.T) {
	var conn *Conn
	p := connect(t, HandlerFunc(func(c *Call) {
		if c.Method() == "ping" {
			c.Reply(nil, nil)
			return
		}
		c.Go(func(ctx context.Context) (any, error) {
			var name string
			err := conn.Call(ctx, "ask", nil, &name)
			return name, err
		})
	}), Options{Dialect: ACP})
	conn = p.conn
	p.send(`{"jsonrpc":"2.0","method":"hook"}`, `{"jsonrpc":"2.0","id":"r","method":"do"}`, ping)
	got := map[string]bool{}
	for range 3 {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimSpace(line)] = true
	}
	for _, want := range []string{pong, `{"jsonrpc":"2.0","method":"ask","id":1}`, `{"jsonrpc":"2.0","method":"ask","id":2}`} {
		if !got[want] {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
	p.send(`{"jsonrpc":"2.0","id":1,"result":"n"}`, `{"jsonrpc":"2.0","id":2,"result":"n"}`)
	p.want(`{"jsonrpc":"2.0","id":"r","result":"n"}`)
	p.wantClose()
}

func TestParamsThatCannotBeEncoded(t *testing.T) {
	p := connect(t, echo{ACP}, Options{Dialect: ACP})
	for _, bad := range []any{func() {}, panics{}, appends(""), appends("1\n"), json.RawMessage("{")} {
		if err := p.conn.Notify("m", bad); err == nil || !strings.HasPrefix(err.Error(), "encode params of m: ") {
			t.Errorf("Notify %#v: %v", bad, err)
		}
		if _, err := p.conn.Start("m", bad); err == nil {
			t.Errorf("Start %#v was sent", bad)
		}
	}
	if n := len(p.conn.pending.byID); n != 0 {
		t.Errorf("%d requests wait for an answer", n)
	}
	p.wantClose()
}

type appends string

func (a appends) AppendJSON(dst []byte) []byte { return append(dst, a...) }
