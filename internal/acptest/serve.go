package acptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Handler answers a request of the agent. The result is encoded as JSON; an
// *Error chooses code and data; ErrSilent leaves the request without an answer.
// The context ends when the agent cancels the request or the connection closes.
type Handler func(ctx context.Context, params json.RawMessage) (any, error)

// ErrSilent makes a Handler give no answer at all.
var ErrSilent = errors.New("no answer")

// Handle serves a method of the agent's in place of what the client does with it.
func (c *Client) Handle(method string, h Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handle[method] = h
}

// serving is a request of the agent that is being answered.
type serving struct {
	session string // of a permission request, else empty
	stop    context.CancelFunc
}

// serve answers a request in a goroutine of its own, for which Close waits.
func (c *Client) serve(m incoming) {
	ctx, stop := context.WithCancel(c.life)
	at := &serving{stop: stop}
	if m.Method == "session/request_permission" {
		at.session = permissionOf(m.Params).Session
	}
	c.mu.Lock()
	c.serving[string(m.ID)] = at
	h := c.handle[m.Method]
	c.mu.Unlock()
	if h == nil {
		h = c.builtin(m.Method)
	}
	c.handlers.Go(func() {
		defer stop()
		result, err := h(ctx, m.Params)
		c.mu.Lock()
		delete(c.serving, string(m.ID))
		c.mu.Unlock()
		c.respond(m.ID, result, err)
	})
}

// stopServing ends the context of a request that is being answered.
func (c *Client) stopServing(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.serving[id]; at != nil {
		at.stop()
	}
}

func (c *Client) respond(id json.RawMessage, result any, err error) {
	message := outgoing{ID: id}
	switch {
	case errors.Is(err, ErrSilent):
		return
	case errors.As(err, &message.Error):
	case errors.Is(err, context.Canceled):
		message.Error = &Error{Code: -32800, Message: "The request was cancelled."}
	case err != nil:
		message.Error = &Error{Code: -32603, Message: err.Error()}
	case result == nil:
		message.Result = json.RawMessage("null")
	default:
		message.Result = result
	}
	// An agent that has gone needs no answer, and its going is seen elsewhere.
	_ = c.send(message, true)
}

func (c *Client) builtin(method string) Handler {
	switch method {
	case "session/request_permission":
		return c.answerPermission
	case "fs/read_text_file":
		return c.readFile
	case "fs/write_text_file":
		return c.writeFile
	}
	return func(context.Context, json.RawMessage) (any, error) {
		return nil, &Error{Code: -32601, Message: "Method not found: " + method}
	}
}

// Buffers are the texts that an editor has open and perhaps not saved. The zero
// value is empty and ready; methods may be called at any time.
type Buffers struct {
	mu    sync.Mutex
	texts map[string]string
}

// Set opens a file with a text, or changes the text of an open one.
func (b *Buffers) Set(path, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.texts == nil {
		b.texts = map[string]string{}
	}
	b.texts[path] = text
}

// Drop closes a file without saving it.
func (b *Buffers) Drop(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.texts, path)
}

// Text gives the text of an open file.
func (b *Buffers) Text(path string) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, ok := b.texts[path]
	return text, ok
}

// Write is a file that the agent wrote through the editor.
type Write struct {
	Session, Path string
	Text          string // as the agent sent it
}

// Writes gives the files that the agent wrote through the editor so far, also
// those that were refused.
func (c *Client) Writes() []Write {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.writes)
}

func (c *Client) readFile(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		Path  string `json:"path"`
		Line  *int   `json:"line"`
		Limit *int   `json:"limit"`
	}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, invalid(err)
	}
	text, open := c.Buffers.Text(params.Path)
	if !open {
		data, err := os.ReadFile(params.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &Error{Code: -32002, Message: "Not found: " + params.Path}
		}
		if err != nil {
			return nil, fmt.Errorf("reading for the agent: %w", err)
		}
		text = string(data)
	}
	lines := strings.SplitAfter(text, "\n")
	if params.Line != nil {
		lines = lines[min(max(*params.Line-1, 0), len(lines)):]
	}
	if params.Limit != nil {
		lines = lines[:min(max(*params.Limit, 0), len(lines))]
	}
	return map[string]any{"content": strings.Join(lines, "")}, nil
}

// writeFile does what an editor does that saves at once: the file on disk and an
// open buffer get the text.
func (c *Client) writeFile(_ context.Context, raw json.RawMessage) (any, error) {
	var params struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
		Content   string `json:"content"`
	}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, invalid(err)
	}
	c.mu.Lock()
	c.writes = append(c.writes, Write{params.SessionID, params.Path, params.Content})
	hook := c.OnWrite
	c.mu.Unlock()
	text := params.Content
	if hook != nil {
		var err error
		if text, err = hook(params.Path, text); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(params.Path), 0o777); err != nil {
		return nil, fmt.Errorf("writing for the agent: %w", err)
	}
	if err := os.WriteFile(params.Path, []byte(text), 0o666); err != nil {
		return nil, fmt.Errorf("writing for the agent: %w", err)
	}
	if _, open := c.Buffers.Text(params.Path); open {
		c.Buffers.Set(params.Path, text)
	}
	return map[string]any{}, nil
}

func invalid(err error) *Error {
	return &Error{Code: -32602, Message: "Invalid params: " + err.Error()}
}
