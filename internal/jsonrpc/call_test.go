package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"
)

// hold gives each call of the method "hold" to the test and echoes the others.
type hold chan *Call

func (h hold) Handle(c *Call) {
	if c.Method() == "hold" {
		h <- c
		return
	}
	echo{ACP}.Handle(c)
}

func holdLine(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"hold"}`
}

func TestReplies(t *testing.T) {
	type number int
	shaped := &Error{Code: -32002, Message: "No <such> file", Data: map[string]string{"path": "a&b"}}
	inner, innerCancel := context.WithCancel(t.Context())
	innerCancel()
	internal := `"error":{"code":-32603,"message":"Internal error"}`
	tests := []struct {
		name   string
		result any
		err    error
		want   string
	}{
		{"nil", nil, nil, `"result":null`},
		{"struct", struct {
			A []int `json:"a"`
		}{[]int{}}, nil, `"result":{"a":[]}`},
		{"text is not escaped for HTML", "<a>&\u00e9\n", nil, `"result":"<a>&é\n"`},
		{"appender", delta("<\n\u2028>"), nil, `"result":{"sessionId":"s1","text":"<\n` + "\u2028" + `>"}`},
		{"error", nil, shaped, `"error":{"code":-32002,"message":"No <such> file","data":{"path":"a&b"}}`},
		{"error wins", "x", shaped, `"error":{"code":-32002,"message":"No <such> file","data":{"path":"a&b"}}`},
		{"P26 wrapped error", nil, fmt.Errorf("read: %w", shaped), `"error":{"code":-32002,"message":"No <such> file","data":{"path":"a&b"}}`},
		{"other error says nothing", nil, errors.New("key sk-123"), internal},
		{"nil *Error", nil, (*Error)(nil), internal},
		{"a cancel that is not the call's", nil, inner.Err(), internal},
		{"deadline", nil, context.DeadlineExceeded, internal},
		{"result that cannot be encoded", math.Inf(1), nil, internal},
		{"data that cannot be encoded", nil, &Error{Code: 1, Message: "m", Data: func() {}}, `"error":{"code":1,"message":"m"}`},
		{"encoding panics", panics{}, nil, internal},
		{"number", number(-3), nil, `"result":-3`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := `{"jsonrpc":"2.0","id":7,` + tt.want + "}\n"
			line := `{"jsonrpc":"2.0","id":7,"method":"a"}`
			direct := HandlerFunc(func(c *Call) {
				c.Reply(tt.result, tt.err)
				c.Reply("again", nil)
			})
			equal(t, exchange(t, direct, Options{Dialect: ACP}, line), want)
			later := HandlerFunc(func(c *Call) {
				c.Go(func(context.Context) (any, error) { return tt.result, tt.err })
			})
			equal(t, exchange(t, later, Options{Dialect: ACP}, line), want)
		})
	}
}

type panics struct{}

func (panics) AppendJSON([]byte) []byte { panic("no") }

func TestGo(t *testing.T) {
	tests := []struct {
		name string
		f    func(c *Call) (any, error)
		want string
	}{
		{"P24 A23 panic", func(*Call) (any, error) { panic("x") }, `"error":{"code":-32603,"message":"Internal error"}`},
		{"goroutine ends itself", func(*Call) (any, error) { runtime.Goexit(); return nil, nil }, `"error":{"code":-32603,"message":"Internal error"}`},
		{"reply inside counts", func(c *Call) (any, error) { c.Reply(1, nil); return 2, nil }, `"result":1`},
		{"panic after the reply", func(c *Call) (any, error) { c.Reply(1, nil); panic("x") }, `"result":1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := HandlerFunc(func(c *Call) {
				c.Go(func(context.Context) (any, error) { return tt.f(c) })
			})
			equal(t, exchange(t, h, Options{Dialect: ACP}, `{"jsonrpc":"2.0","id":7,"method":"a"}`),
				`{"jsonrpc":"2.0","id":7,`+tt.want+"}\n")
			equal(t, exchange(t, h, Options{Dialect: ACP}, `{"jsonrpc":"2.0","method":"a"}`), "")
		})
	}
}

// The handler sees messages one at a time, as they came; a reply outside of it
// changes nothing for others.
func TestP20_P23_OrderOfArrival(t *testing.T) {
	var input, want strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&input, `{"jsonrpc":"2.0","method":"m%d"}`+"\n", i)
		fmt.Fprintf(&want, "m%d ", i)
	}
	var got strings.Builder
	exchange(t, HandlerFunc(func(c *Call) { got.WriteString(c.Method() + " ") }), Options{Dialect: ACP}, input.String())
	equal(t, got.String(), want.String())
}

func TestP28_A19_DuplicateID(t *testing.T) {
	h := make(hold, 1)
	p := connect(t, h, Options{Dialect: ACP})
	p.send(holdLine("1"))
	first := <-h
	if first.ID() != "1" || first.IsNotification() {
		t.Errorf("id %s", first.ID())
	}
	p.send(holdLine("1"), `{"jsonrpc":"2.0","id":"1","method":"a"}`)
	p.want(acpInvalid("1", "a request with this id is still running"), `{"jsonrpc":"2.0","id":"1","result":null}`)
	if first.Context().Err() != nil {
		t.Error("the first request was harmed")
	}
	first.Reply("first", nil)
	p.want(`{"jsonrpc":"2.0","id":1,"result":"first"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"a"}`)
	p.want(`{"jsonrpc":"2.0","id":1,"result":null}`)
	p.wantClose()
}

func TestTooManyCalls(t *testing.T) {
	h := make(hold, 3)
	p := connect(t, h, Options{Dialect: ACP, MaxCalls: 2})
	p.send(holdLine("1"), holdLine("2"), holdLine("3"))
	p.want(`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Too many requests in flight"}}`)
	(<-h).Reply(nil, nil)
	p.want(`{"jsonrpc":"2.0","id":1,"result":null}`)
	p.send(holdLine("3"))
	(<-h).Reply(nil, nil)
	(<-h).Reply(nil, nil)
	p.want(`{"jsonrpc":"2.0","id":2,"result":null}`, `{"jsonrpc":"2.0","id":3,"result":null}`)
	p.wantClose()
}

func TestG91_CancelRequest(t *testing.T) {
	h := make(hold, 2)
	p := connect(t, h, Options{Dialect: ACP})
	p.send(holdLine("1"), holdLine(`"1"`))
	number, text := <-h, <-h
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId": 1 }}`)
	<-number.Context().Done()
	if cause := context.Cause(number.Context()); !errors.Is(cause, ErrCancelled) {
		t.Errorf("cause: %v", cause)
	}
	if text.Context().Err() != nil {
		t.Error(`1 cancelled "1"`)
	}
	number.Reply(nil, fmt.Errorf("run: %w", number.Context().Err()))
	p.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled"}}`)
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"1"}}`)
	<-text.Context().Done()
	text.Reply("done", nil)
	p.want(`{"jsonrpc":"2.0","id":"1","result":"done"}`)
	// Again, and for what has its reply: nothing comes.
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"1"}}`, ping)
	p.want(pong)
	p.wantClose()
}

// A cancel in the same packet as its request always finds it.
func TestP20_G87_CancelBackToBack(t *testing.T) {
	for i := range 100 {
		h := HandlerFunc(func(c *Call) {
			c.Go(func(ctx context.Context) (any, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			})
		})
		p := connect(t, h, Options{Dialect: ACP})
		p.send(holdLine("1"), `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
		p.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled"}}`)
		p.wantClose()
		if t.Failed() {
			t.Fatalf("try %d", i)
		}
	}
}

func TestContextEndsWithTheReply(t *testing.T) {
	var ctx context.Context
	h := HandlerFunc(func(c *Call) {
		ctx = c.Context()
		if ctx.Err() != nil {
			t.Error("ended before the reply")
		}
		c.Reply(nil, nil)
		if ctx.Err() == nil {
			t.Error("runs after the reply")
		}
	})
	exchange(t, h, Options{Dialect: ACP}, ping)
}

// Logs name methods, ids and sizes. What a message holds stays out of them, also
// when it is broken, refused, or quoted by an error or a panic.
func TestA22_LogsHoldNoSecrets(t *testing.T) {
	const secret = "sk-secret"
	var log bytes.Buffer
	h := HandlerFunc(func(c *Call) {
		switch c.Method() {
		case "panic":
			panic(string(c.Params()))
		case "panic error":
			panic(fmt.Errorf("params: %s", c.Params()))
		case "encode":
			c.Reply(secretValue{}, nil)
		case "index":
			_ = c.Params()[len(c.Params()):][0]
		default:
			c.Reply(nil, fmt.Errorf("call: %w", errors.New(string(c.Params()))))
		}
	})
	lines := []string{
		`{"x":"sk-secret"`, `["sk-secret"]`, `{"jsonrpc":"2.0","id":1,"params":"sk-secret"}`,
		`{"jsonrpc":"2.0","id":1,"result":"sk-secret"}`, `{"jsonrpc":"2.0","id":1,"error":"sk-secret"}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":"sk-secret"}`,
		`{"jsonrpc":"2.0","id":1,"method":"long","params":"sk-secret` + strings.Repeat("x", 300) + `"}`,
	}
	for i, m := range []string{"panic", "panic error", "encode", "index", "fail"} {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":"sk-secret"}`, i, m))
	}
	out := exchange(t, h, Options{
		Dialect: ACP, MaxMessage: 200,
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, joinLines(lines...))
	for _, text := range []string{log.String(), out} {
		if strings.Contains(text, secret) {
			t.Errorf("a secret in %s", text)
		}
	}
	for _, want := range []string{"message refused", "code=-32700", "method=\"panic error\"", "*fmt.wrapError > *errors.errorString", "index out of range", "call_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}

type secretValue struct{}

func (secretValue) MarshalJSON() ([]byte, error) { return nil, errors.New("sk-secret") }

func TestShorten(t *testing.T) {
	equal(t, shorten("abc"), "abc")
	equal(t, shorten(strings.Repeat("m", 81)), strings.Repeat("m", 80)+"…")
}
