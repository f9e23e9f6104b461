package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo replies with the params, or null; "boom" panics; "none" is not known.
type echo struct{ dialect Dialect }

func (e echo) Handle(call *Call) {
	switch call.Method() {
	case "boom":
		panic("boom")
	case "none":
		call.Reply(nil, e.dialect.MethodNotFound(call.Method()))
	default:
		call.Reply(call.Params(), nil)
	}
}

// newConn is NewConn, but patient unless the test says how long to linger: a slow
// machine must not change what a test sees.
func newConn(r io.Reader, w io.Writer, h Handler, o Options) *Conn {
	if o.Linger == 0 {
		o.Linger = time.Hour
	}
	return NewConn(r, w, h, o)
}

// exchange runs a connection over input and gives all that it wrote.
func exchange(t *testing.T, h Handler, o Options, input string) string {
	t.Helper()
	var out bytes.Buffer
	if err := newConn(strings.NewReader(input), &out, h, o).Run(t.Context()); err != nil {
		t.Fatalf("Run: %v", err)
	}
	return out.String()
}

// peer is the other end of a connection that runs.
type peer struct {
	t     *testing.T
	conn  *Conn
	in    *io.PipeWriter
	out   *io.PipeReader
	lines *bufio.Reader
	ended chan error
	stop  context.CancelCauseFunc
}

// connect runs a connection between pipes. The test ends it with close.
func connect(t *testing.T, h Handler, o Options) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancelCause(t.Context())
	p := &peer{
		t: t, conn: newConn(inR, outW, h, o), in: inW, out: outR,
		lines: bufio.NewReader(outR), ended: make(chan error, 1), stop: stop,
	}
	go func() {
		err := p.conn.Run(ctx)
		inR.Close()
		outW.Close()
		p.ended <- err
	}()
	return p
}

// send writes lines to the connection.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatalf("send: %v", err)
	}
}

// want reads lines from the connection and compares them.
func (p *peer) want(lines ...string) {
	p.t.Helper()
	for _, want := range lines {
		got, err := p.lines.ReadString('\n')
		if err != nil {
			p.t.Fatalf("read: %v, want %s", err, want)
		}
		if got = strings.TrimSuffix(got, "\n"); got != want {
			p.t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// close ends the input and gives what else was written, and Run's error.
func (p *peer) close() (string, error) {
	p.t.Helper()
	p.in.Close()
	rest, err := io.ReadAll(p.lines)
	if err != nil {
		p.t.Fatalf("read the rest: %v", err)
	}
	return string(rest), <-p.ended
}

// wantClose closes and fails unless nothing else was written.
func (p *peer) wantClose() {
	p.t.Helper()
	if rest, err := p.close(); rest != "" || err != nil {
		p.t.Fatalf("at the end: %q, %v", rest, err)
	}
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func joinLines(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
