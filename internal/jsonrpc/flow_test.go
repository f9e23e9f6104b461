package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

func TestOrderOnTheWire(t *testing.T) {
	var want strings.Builder
	var out bytes.Buffer
	var conn *Conn
	h := HandlerFunc(func(c *Call) {
		c.Go(func(context.Context) (any, error) {
			for i := range 2000 {
				if err := conn.Notify("n", i); err != nil {
					return nil, err
				}
				fmt.Fprintf(&want, `{"jsonrpc":"2.0","method":"n","params":%d}`+"\n", i)
				if i%100 == 0 {
					call, err := conn.Start("s", nil)
					if err != nil {
						return nil, err
					}
					fmt.Fprintf(&want, `{"jsonrpc":"2.0","method":"s","id":%s}`+"\n", call.ID())
				}
			}
			fmt.Fprintln(&want, pong)
			return nil, nil
		})
	})
	// A small queue makes the sender wait again and again. The input stays open
	// until the reply is out: without input no request may be started.
	inR, inW := io.Pipe()
	conn = newConn(inR, &out, h, Options{Dialect: ACP, MaxQueued: 300, Tap: func(d Direction, line []byte) {
		if d == Out && string(line) == pong {
			inW.Close()
		}
	}})
	go io.WriteString(inW, ping+"\n")
	if err := conn.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, out.String(), want.String())
}

// Many senders at once: lines stay whole and each sender's stay in order.
func TestSendersDoNotMix(t *testing.T) {
	var out bytes.Buffer
	inR, inW := io.Pipe()
	conn := newConn(inR, &out, echo{ACP}, Options{Dialect: ACP, MaxQueued: 1000})
	var senders sync.WaitGroup
	for s := range 8 {
		senders.Go(func() {
			for i := range 500 {
				if err := conn.Notify("n", []int{s, i}); err != nil {
					t.Errorf("Notify: %v", err)
				}
			}
		})
	}
	go func() {
		senders.Wait()
		inW.Close()
	}()
	if err := conn.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var next [8]int
	for line := range strings.Lines(out.String()) {
		var s, i int
		if _, err := fmt.Sscanf(line, `{"jsonrpc":"2.0","method":"n","params":[%d,%d]}`, &s, &i); err != nil || next[s] != i {
			t.Fatalf("line %q, %v; sender is at %v", line, err, next)
		}
		next[s]++
	}
	for s, n := range next {
		if n != 500 {
			t.Errorf("sender %d: %d of 500", s, n)
		}
	}
}

// A peer that does not read blocks Notify. What it sends is still read.
func TestA24_PeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := make(hold, 1)
		p := connect(t, h, Options{Dialect: ACP, MaxQueued: 1000})
		p.send(holdLine("1"))
		call := <-h
		sent, blocked := 0, make(chan struct{})
		go func() {
			defer close(blocked)
			for call.Context().Err() == nil {
				if err := p.conn.Notify("n", sent); err != nil {
					t.Errorf("Notify: %v", err)
				}
				sent++
			}
			call.Reply("cancelled", nil)
		}()
		synctest.Wait()
		select {
		case <-blocked:
			t.Fatal("Notify does not wait")
		default:
		}
		if size := p.conn.out.size(); size < 1000 || size > 1100 {
			t.Errorf("%d bytes are queued", size)
		}
		p.send(`{`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
		<-call.Context().Done()
		rest, err := p.close()
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		<-blocked
		if n := strings.Count(rest, `"method":"n"`); n != sent {
			t.Errorf("%d of %d notifications arrived", n, sent)
		}
		for _, want := range []string{`"code":-32700`, `"result":"cancelled"`} {
			if !strings.Contains(rest, want) {
				t.Errorf("%s is missing", want)
			}
		}
	})
}

// size is what put compares with its limit.
func (o *outbox) size() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) + o.writing
}

// A peer that sends rubbish and never reads the answers: they fill the queue and
// the reserve, then the reader waits. It goes on where it stopped.
func TestRepliesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lines = 20_000
		p := connect(t, echo{ACP}, Options{Dialect: ACP, MaxQueued: 1000})
		go func() {
			if _, err := io.WriteString(p.in, strings.Repeat("{\n", lines)); err != nil {
				t.Errorf("send: %v", err)
			}
		}()
		synctest.Wait()
		if size, limit := p.conn.out.size(), 1000+replyReserve; size < limit || size > limit+200 {
			t.Errorf("%d bytes are queued, the limit is %d", size, limit)
		}
		line := fmt.Sprintf(acpParse, notJSON)
		for range lines {
			p.want(line)
		}
		p.wantClose()
	})
}

// The same, but the connection is told to end: nothing holds it.
func TestEndWhileTheReaderWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo{ACP}, Options{Dialect: ACP})
		go io.WriteString(p.in, strings.Repeat("{\n", 50_000))
		synctest.Wait()
		stopped := errors.New("stopped")
		p.stop(stopped)
		synctest.Wait()
		p.out.Close()
		if err := <-p.ended; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestWriteErrorReleasesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := make(hold, 1)
		p := connect(t, h, Options{Dialect: ACP, MaxQueued: 100})
		p.send(holdLine("1"))
		call := <-h
		pending := p.start("m")
		errs := make(chan error, 3)
		go func() {
			_, err := pending.Wait(t.Context())
			errs <- err
		}()
		go func() {
			for {
				if err := p.conn.Notify("n", "some text"); err != nil {
					errs <- err
					return
				}
			}
		}()
		go func() {
			<-call.Context().Done()
			errs <- context.Cause(call.Context())
			call.Reply(nil, nil)
		}()
		synctest.Wait()
		p.out.Close()
		if err := <-p.ended; !errors.Is(err, io.ErrClosedPipe) || !strings.HasPrefix(err.Error(), "write: ") {
			t.Errorf("Run: %v", err)
		}
		for range 3 {
			if err := <-errs; !errors.Is(err, ErrClosed) {
				t.Errorf("released with %v", err)
			}
		}
		<-p.conn.Done()
		if err := p.conn.Notify("n", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Notify: %v", err)
		}
		if _, err := p.conn.Start("n", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Start: %v", err)
		}
	})
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestShortWriteIsAnError(t *testing.T) {
	inR, inW := io.Pipe()
	defer inR.Close()
	go io.WriteString(inW, ping+"\n")
	err := newConn(inR, shortWriter{}, echo{ACP}, Options{Dialect: ACP}).Run(t.Context())
	if !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Run: %v", err)
	}
}

// What is queued while a Write runs leaves with the next one.
func TestOneWriteTakesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &gate{open: make(chan struct{})}
		inR, inW := io.Pipe()
		conn := newConn(inR, w, echo{ACP}, Options{Dialect: ACP})
		ended := make(chan error)
		go func() { ended <- conn.Run(t.Context()) }()
		for i := range 100 {
			if err := conn.Notify("n", i); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		close(w.open)
		inW.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(w.writes) != 2 || strings.Count(w.writes[1], "\n") != 99 {
			t.Errorf("%d writes: %q", len(w.writes), w.writes)
		}
	})
}

// gate is a writer that waits to be opened.
type gate struct {
	open   chan struct{}
	writes []string
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.writes = append(g.writes, string(p))
	return len(p), nil
}

func TestTap(t *testing.T) {
	var got strings.Builder
	conn := newConn(strings.NewReader(ping+"\n[]\n"), io.Discard, echo{ACP}, Options{
		Dialect: ACP, Tap: func(d Direction, line []byte) { fmt.Fprintf(&got, "%d %s\n", d, line) },
	})
	if err := conn.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, got.String(), joinLines("0 "+ping, "1 "+pong, "0 []", "1 "+acpInvalid("null", "a message must be one object")))
}
