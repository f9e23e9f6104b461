package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLimit(t *testing.T) {
	const limit = 200
	request := func(size int) string {
		frame := `{"jsonrpc":"2.0","id":"big","method":"a","params":""}`
		return strings.Replace(frame, `""`, `"`+strings.Repeat("x", size-len(frame))+`"`, 1)
	}
	over := func(id string, size int) string {
		return acpInvalid(id, fmt.Sprintf("a message of %d bytes is over the limit", size))
	}
	pad := strings.Repeat("x", limit)
	tests := []struct{ name, line, want string }{
		{"at the limit", request(limit), `{"jsonrpc":"2.0","id":"big","result":"` + strings.Repeat("x", limit-53) + `"}`},
		{"one more", request(limit + 1), over(`"big"`, limit+1)},
		{"P6 A16 much more", request(300_000), over(`"big"`, 300_000)},
		{"id behind the head", `{"jsonrpc":"2.0","params":"` + strings.Repeat("x", 2*headSize) + `","id":5}`, over("null", 2*headSize+36)},
		{"id behind a whole value", `{"params":{"id":[1,"]}"]},"id":5,"method":"` + pad + `"}`, over("5", limit+45)},
		{"no object", `["` + pad + `"]`, over("null", limit+4)},
		{"no JSON", `{{{` + pad, over("null", limit+3)},
		{"unusable id", `{"id":{},"method":"` + pad + `"}`, over("null", limit+21)},
		{"id is no JSON", `{"id":12x,"method":"` + pad + `"}`, over("null", limit+22)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Dialect: ACP, MaxMessage: limit}
			equal(t, exchange(t, echo{ACP}, o, joinLines(tt.line, ping)), joinLines(tt.want, pong))
		})
	}
	t.Run("at the end of input", func(t *testing.T) {
		o := Options{Dialect: ACP, MaxMessage: limit}
		equal(t, exchange(t, echo{ACP}, o, request(limit+9)), over(`"big"`, limit+9)+"\n")
	})
	t.Run("number cut by the head", func(t *testing.T) {
		line := `{"x":"` + strings.Repeat("y", headSize-14) + `","id":12345,"method":"a","params":"` + pad + `"}`
		if !strings.HasSuffix(line[:headSize], `"id":1`) {
			t.Fatalf("the head ends with %q", line[headSize-9:headSize])
		}
		equal(t, exchange(t, echo{ACP}, Options{Dialect: ACP, MaxMessage: limit}, line), over("null", len(line))+"\n")
	})
}

// zeros is an input of n bytes that nobody had to store.
func zeros(n int64) io.Reader {
	return io.LimitReader(endless(bytes.Repeat([]byte("0"), readBuffer)), n)
}

// endless is its bytes again and again.
type endless []byte

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestP6_OverTheLimitIsNotBuffered(t *testing.T) {
	const size = 100 << 20
	for name, framing := range map[string]Framing{"newline": Newline, "length": ContentLength} {
		t.Run(name, func(t *testing.T) {
			head := ""
			if framing == ContentLength {
				head = fmt.Sprintf("Content-Length: %d\r\n\r\n", size)
			}
			var f frame
			var err error
			used := allocated(func() {
				f, err = framing.newFramer(io.MultiReader(strings.NewReader(head), zeros(size)), 1<<20).next()
			})
			if err != nil || f.size != size || len(f.data) != headSize || !f.oversized() {
				t.Fatalf("next: %d of %d bytes, %v", len(f.data), f.size, err)
			}
			if used > 16<<20 {
				t.Errorf("allocated %d bytes", used)
			}
		})
	}
}

// A prompt with images of 60 MB is served, and its memory is free afterwards.
func TestP6_A16_LongLineIsServed(t *testing.T) {
	if testing.Short() {
		t.Skip("60 MB take their time")
	}
	const size = 60_000_000
	handled := make(chan int, 2)
	p := connect(t, HandlerFunc(func(c *Call) {
		handled <- len(c.Params())
		c.Reply(nil, nil)
	}), Options{Dialect: ACP})
	go func() {
		line := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"a","params":"`), zeros(size), strings.NewReader("\"}\n"))
		if _, err := io.Copy(p.in, line); err != nil {
			t.Errorf("write: %v", err)
		}
	}()
	p.want(`{"jsonrpc":"2.0","id":1,"result":null}`)
	if got := <-handled; got != size+2 {
		t.Errorf("params of %d bytes", got)
	}
	p.send(ping)
	p.want(pong)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > size/2 {
		t.Errorf("%d bytes are still held", m.HeapAlloc)
	}
	p.wantClose()
}

func TestContentLength(t *testing.T) {
	message := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	first, second := `{"jsonrpc":"2.0","id":1,"method":"a","params":"é\n"}`, `{"jsonrpc":"2.0","id":2,"method":"a"}`
	answers := message(`{"jsonrpc":"2.0","id":1,"result":"é\n"}`) + message(`{"jsonrpc":"2.0","id":2,"result":null}`)
	long := `{"jsonrpc":"2.0","id":9,"method":"` + strings.Repeat("m", 300) + `"}`

	tests := []struct{ name, input, want, err string }{
		{"plain", message(first) + message(second), answers, ""},
		{"body of several lines", message(strings.Replace(first, ",", "\n,\n", 1)) + message(second), answers, ""},
		{"names in any case", strings.ReplaceAll(message(first)+message(second), "Content-Length", "content-LENGTH"), answers, ""},
		{"other headers", "Content-Type: x; y=z\r\nX:\r\n" + message(first) + message(second), answers, ""},
		{"bare newlines", strings.ReplaceAll(message(first)+message(second), "\r\n", "\n"), answers, ""},
		{"chatter of a server", "starting\n\nready\n" + message(first) + message(second), answers, ""},
		{"over the limit", message(long) + message(first) + message(second), message(acpInvalid("9", fmt.Sprintf("a message of %d bytes is over the limit", len(long)))) + answers, ""},
		{"bad body", message("{") + message(first) + message(second), message(fmt.Sprintf(acpParse, notJSON)) + answers, ""},
		{"empty body", message("") + message(first) + message(second), message(fmt.Sprintf(acpParse, notJSON)) + answers, ""},
		{"no length", message(first) + message(second) + "X: y\r\n\r\n{}", answers, "no Content-Length"},
		{"bad length", message(first) + message(second) + "Content-Length: 1x\r\n\r\n{}", answers, "Content-Length is no number"},
		{"negative length", message(first) + message(second) + "Content-Length: -1\r\n\r\n{}", answers, "Content-Length is no number"},
		{"body cut", message(first) + message(second) + "Content-Length: 10\r\n\r\n{}", answers, "read a body of 10 bytes: unexpected EOF"},
		{"long body cut", "Content-Length: 1000\r\n\r\n{}", "", "unexpected EOF"},
		{"skipped body cut", "Content-Length: 9000\r\n\r\n" + strings.Repeat(" ", 5000), "", "skip a body of 9000 bytes: unexpected EOF"},
		{"header cut", message(first) + message(second) + "Content-Le", answers, "unexpected EOF"},
		{"endless header", strings.Repeat("x", readBuffer+1), "", "buffer full"},
		{"endless headers", strings.Repeat("x:y\n", maxHeaders+1), "", "more than 64 lines"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			o := Options{Framing: ContentLength, Dialect: LSP, MaxMessage: 256}
			err := newConn(iotest.OneByteReader(strings.NewReader(tt.input)), &out, echo{LSP}, o).Run(t.Context())
			equal(t, out.String(), tt.want)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Run: %v, want %q", err, tt.err)
			}
		})
	}
}

func TestReadErrorEndsTheConnection(t *testing.T) {
	broken := errors.New("broken")
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader(ping+"\n"+`{"jsonrpc"`), iotest.ErrReader(broken))
	err := newConn(in, &out, echo{ACP}, Options{Dialect: ACP}).Run(t.Context())
	if !errors.Is(err, broken) {
		t.Errorf("Run: %v", err)
	}
	equal(t, out.String(), pong+"\n")
}
