package acptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of the agent, in bytes.
const maxLine = 64 << 20

// read is the one goroutine that reads what the agent writes. It ends with the
// agent's output; Close waits for it.
func (c *Client) read() {
	defer c.finish()
	r := bufio.NewReaderSize(c.out, 64<<10)
	for {
		c.waitWhilePaused()
		line, err := readLine(r)
		cut := err != nil && c.process.wasKilled() // in the middle of a line, which nobody has read then
		if len(line) > 0 && !cut {
			c.fromAgent(line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) && !c.process.wasKilled() {
				c.complain(fmt.Sprintf("reading from the agent: %v", err))
			}
			return
		}
	}
}

// readLine reads a line with its newline; without one when the input ends.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line of more than %d bytes", maxLine)
		}
	}
}

func (c *Client) waitWhilePaused() {
	for {
		c.mu.Lock()
		paused, changed := c.paused, c.changed
		c.mu.Unlock()
		if !paused {
			return
		}
		<-changed
	}
}

// finish answers what is still open when the agent has ended.
func (c *Client) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, call := range c.calls {
		delete(c.calls, id)
		call.lost = errEnded
		call.settle()
	}
	close(c.ended)
	c.wake()
}

// incoming is a line of the agent, as far as the client acts on it.
type incoming struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

func (c *Client) fromAgent(line []byte) {
	text, whole := bytes.CutSuffix(line, []byte("\n"))
	if !whole && !c.process.wasKilled() {
		c.complain(fmt.Sprintf("the agent's last line has no newline: %s", clip(text)))
	}
	c.note(FromAgent, text)
	var m incoming
	if json.Unmarshal(text, &m) != nil {
		return // judged already
	}
	switch {
	case m.Method == "" && m.ID != nil:
		c.answered(m)
	case m.Method == "session/update":
		c.updated(m.Params)
	case m.Method == "$/cancel_request":
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &params) == nil {
			c.stopServing(string(params.RequestID))
		}
	case m.ID != nil:
		c.serve(m)
	}
}

func (c *Client) answered(m incoming) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.calls[string(m.ID)]
	if call == nil {
		return // judged already
	}
	delete(c.calls, string(m.ID))
	call.result, call.err = m.Result, m.Error
	call.settle()
	c.wake()
}
