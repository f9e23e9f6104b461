// Package acptest plays an editor against an ACP agent: in this process over
// pipes, or as a child process. It serves the agent's requests (files with
// unsaved buffers, permissions), collects what a turn shows, and holds every line
// of both sides against the protocol; a line that breaks a rule fails the test.
//
// It must not know our agent: it speaks bytes over a connection, imports nothing
// of the module outside internal/acptest, and only tests import it.
//
// A test reads like the editor's side of a conversation:
//
//	c := acptest.Connect(t, stdin, stdout)
//	c.Initialize(acptest.Capabilities{ReadTextFile: true})
//	turn := c.NewSession(dir).Prompt(acptest.Text("hello"))
//	if got := turn.Wait(); got != "end_turn" { … }
//
// Methods that wait end the test with the transcript when the agent leaves them
// waiting; like t.Fatal they belong into the test's own goroutine.
package acptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"kimi-acp/internal/acptest/judge"
	"kimi-acp/internal/acptest/schema"
)

// Client is the editor's end of one connection. The exported fields are settings,
// to be changed before the agent can notice. Methods may be called from several
// goroutines at once.
type Client struct {
	Name, Version string        // clientInfo; an empty Name sends none
	Patience      time.Duration // for each wait; 120 s unless set
	Buffers       Buffers       // texts that the editor has open, over those on disk

	// OnPermission answers a permission request; nil chooses allow_once. Its
	// context ends when the turn is cancelled or the connection closes.
	OnPermission func(ctx context.Context, p Permission) Answer
	// OnWrite may change a text before it is written (a formatter), or refuse it
	// with an error; nil writes what came.
	OnWrite func(path, text string) (string, error)

	t       testing.TB
	in      io.WriteCloser
	out     io.Reader
	process *process // nil when connected in-process

	writing sync.Mutex // held while a line is judged and written: one order for both
	partial []byte     // under writing: what Raw wrote since the last newline

	ended    chan struct{} // closed when the agent's output has ended
	closing  sync.Once
	life     context.Context //nolint:containedctx // ends with the connection, for the handlers of its requests
	end      context.CancelFunc
	handlers sync.WaitGroup

	mu       sync.Mutex
	judge    *judge.Judge
	lines    []Line
	changed  chan struct{} // closed and replaced when anything below changes
	paused   bool
	closed   bool
	nextID   int
	calls    map[string]*Call
	sessions map[string]*sessionLog
	serving  map[string]*serving
	handle   map[string]Handler
	writes   []Write
	labels   labels
}

// Connect speaks with an agent that reads from w and writes to r. When the test
// ends, w is closed and r must come to its end.
func Connect(t testing.TB, w io.WriteCloser, r io.Reader) *Client {
	t.Helper()
	return connect(t, w, r, nil)
}

func connect(t testing.TB, w io.WriteCloser, r io.Reader, p *process) *Client {
	t.Helper()
	set, err := schema.Stable()
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{
		Name: "acptest", Version: "1", Patience: 2 * time.Minute,
		t: t, in: w, out: r, process: p,
		judge: judge.New(set),
		ended: make(chan struct{}), changed: make(chan struct{}),
		calls: map[string]*Call{}, sessions: map[string]*sessionLog{},
		serving: map[string]*serving{}, handle: map[string]Handler{},
	}
	c.life, c.end = context.WithCancel(context.Background())
	t.Cleanup(c.Close)
	go c.read()
	return c
}

// AllowDrafts goes by the schema with drafts. It must be called before Initialize.
func (c *Client) AllowDrafts() {
	set, err := schema.Unstable()
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.judge = judge.New(set)
}

// Close hangs up, waits until the agent has ended its output and, for a process,
// itself, and prints the transcript when the test has failed. Calls after the
// first do nothing.
func (c *Client) Close() {
	c.closing.Do(func() {
		c.end()
		c.Resume()
		c.Hangup()
		timer := time.NewTimer(c.Patience)
		defer timer.Stop()
		select {
		case <-c.ended:
		case <-timer.C:
			c.t.Errorf("the agent did not end its output within %v after its input had ended", c.Patience)
			c.cut()
		}
		c.handlers.Wait()
		c.process.finish(c)
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		if c.t.Failed() {
			c.t.Logf("the transcript:\n%s", c.digest())
		}
	})
}

// cut ends the agent's output by force.
func (c *Client) cut() {
	c.process.kill()
	if r, ok := c.out.(io.Closer); ok {
		_ = r.Close() // the read that it interrupts reports
		<-c.ended
	}
}

// Hangup ends the agent's input.
func (c *Client) Hangup() {
	_ = c.in.Close() // closing twice, or after the agent has gone, is no failure
}

// Ended is closed when the agent's output has ended.
func (c *Client) Ended() <-chan struct{} { return c.ended }

// Pause stops reading what the agent writes, but for the line, and the buffer,
// that are being read already.
func (c *Client) Pause() { c.setPaused(true) }

// Resume reads on.
func (c *Client) Resume() { c.setPaused(false) }

func (c *Client) setPaused(paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = paused
	c.wake()
}

// wake lets everyone who waits look again. The lock is held.
func (c *Client) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// await waits until ready, which is asked under the lock after each change, and
// ends the test when the agent has ended or patience is over.
func (c *Client) await(what string, ready func() bool) {
	c.t.Helper()
	timer := time.NewTimer(c.Patience)
	defer timer.Stop()
	for ended := false; ; {
		c.mu.Lock()
		ok, changed := ready(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		if ended {
			c.t.Fatalf("the agent ended while the test waited for %s", what)
		}
		select {
		case <-changed:
		case <-c.ended:
			ended = true
		case <-timer.C:
			c.t.Fatalf("waited %v for %s", c.Patience, what)
		}
	}
}

// outgoing is a message of ours, with its members in the usual order.
type outgoing struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// send writes one message of ours.
func (c *Client) send(message outgoing, judged bool) error {
	message.Version = "2.0"
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	text := bytes.TrimSuffix(line.Bytes(), []byte("\n"))
	if judged {
		c.note(ToAgent, text)
	} else {
		c.misuse(text)
	}
	return c.write(line.Bytes())
}

// Raw writes bytes as they are, to see what the agent makes of them. What they
// say is not held against the protocol.
func (c *Client) Raw(data []byte) {
	c.t.Helper()
	c.writing.Lock()
	defer c.writing.Unlock()
	c.partial = append(c.partial, data...)
	for {
		line, rest, ok := bytes.Cut(c.partial, []byte("\n"))
		if !ok {
			break
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			c.misuse(line)
		}
		c.partial = bytes.Clone(rest)
	}
	if err := c.write(data); err != nil {
		c.t.Errorf("writing to the agent: %v", err)
	}
}

// write gives up on an agent that does not read, so that a test says so instead
// of hanging. The lock writing is held.
func (c *Client) write(data []byte) error {
	guard := time.AfterFunc(c.Patience, func() {
		c.complain(fmt.Sprintf("the agent did not read for %v", c.Patience))
		c.Hangup()
	})
	defer guard.Stop()
	_, err := c.in.Write(data)
	return err
}

// complain fails the test, unless the connection is over.
func (c *Client) complain(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.t.Error(text)
	}
}

// errEnded answers calls that the agent left open.
var errEnded = errors.New("the agent ended without an answer")

// newID numbers our requests from 0. The lock is held.
func (c *Client) newID() string {
	id := strconv.Itoa(c.nextID)
	c.nextID++
	return id
}
