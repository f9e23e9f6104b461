package acp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"kimi-acp/internal/acptest"
)

// message is a line of the connection, taken apart.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *acptest.Error  `json:"error"`
}

// fromAgent gives what the agent has written so far.
func fromAgent(t *testing.T, c *acptest.Client) []message {
	t.Helper()
	var all []message
	for _, line := range c.Lines() {
		if line.Direction != acptest.FromAgent {
			continue
		}
		var m message
		if err := json.Unmarshal([]byte(line.Text), &m); err != nil {
			t.Fatalf("%s: %v", line.Text, err)
		}
		all = append(all, m)
	}
	return all
}

// asked gives the parameters of all calls of a method by the agent.
func asked(t *testing.T, c *acptest.Client, method string) []string {
	t.Helper()
	var all []string
	for _, m := range fromAgent(t, c) {
		if m.Method == method {
			all = append(all, string(m.Params))
		}
	}
	return all
}

// fence waits until the agent has taken everything that was written before.
func fence(c *acptest.Client) {
	_, _ = c.Misuse("_fence", nil).Wait()
}

// replies writes bytes as they are and gives what the agent answers to them, a
// line each, from before it answers a request behind them.
func replies(t *testing.T, c *acptest.Client, raw string) string {
	t.Helper()
	from := len(c.Lines())
	c.Raw([]byte(raw))
	end := c.Misuse("_fence", nil)
	_, _ = end.Wait()
	var b strings.Builder
	for _, line := range c.Lines()[from:] {
		var m message
		if line.Direction != acptest.FromAgent || json.Unmarshal([]byte(line.Text), &m) != nil || m.Method != "" {
			continue
		}
		if string(m.ID) == string(end.ID()) {
			break
		}
		b.WriteString(line.Text + "\n")
	}
	return b.String()
}

// packets stands between an editor and the agent and joins writes into one.
type packets struct {
	io.WriteCloser

	mu      sync.Mutex
	holding bool
	held    bytes.Buffer
}

// Write passes on, or keeps what is held.
func (p *packets) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holding {
		return p.held.Write(b)
	}
	return p.WriteCloser.Write(b)
}

// Together makes all that f writes one write.
func (p *packets) Together(t *testing.T, f func()) {
	t.Helper()
	p.hold(true)
	f()
	p.mu.Lock()
	held := bytes.Clone(p.held.Bytes())
	p.held.Reset()
	p.holding = false
	p.mu.Unlock()
	if _, err := p.WriteCloser.Write(held); err != nil {
		t.Errorf("writing to the agent: %v", err)
	}
}

func (p *packets) hold(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holding = on
}

// safeBuffer is a buffer that several goroutines write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write never fails.
func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// String gives all that was written.
func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
