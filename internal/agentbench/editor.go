package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kimi-acp/internal/jsonrpc"
)

// editor is the editor's side of a connection. It allows what it is asked to
// allow, serves the files of one folder from disk, and notes what it is shown.
type editor struct {
	folder string // what lies beneath it may be read and written

	mu   sync.Mutex
	seen seen // guarded by mu
}

// seen is what an agent did since the last forget.
type seen struct {
	first               time.Time         // when the first chunk of a message came
	chunks              []json.RawMessage // the chunks of messages, as they came
	permissions, writes int
}

// maxChunks bounds the chunks that are kept. A text with more is not whole.
const maxChunks = 1 << 20

func newEditor(folder string) *editor { return &editor{folder: folder} }

// forget begins a new account.
func (e *editor) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = seen{chunks: e.seen.chunks[:0]}
}

// account gives what was seen. Its chunks are valid until forget.
func (e *editor) account() seen {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen
}

// resourceNotFound is ACP's error code for a file that is not there.
const resourceNotFound = -32002

// Handle takes what the agent sends.
func (e *editor) Handle(call *jsonrpc.Call) {
	switch call.Method() {
	case "session/update":
		e.update(call.Params())
	case "session/request_permission":
		e.mu.Lock()
		e.seen.permissions++
		e.mu.Unlock()
		call.Reply(allow(call.Params()))
	case "fs/read_text_file":
		call.Reply(e.read(call.Params()))
	case "fs/write_text_file":
		e.mu.Lock()
		e.seen.writes++
		e.mu.Unlock()
		call.Reply(e.write(call.Params()))
	default:
		call.Reply(nil, jsonrpc.ACP.MethodNotFound(call.Method()))
	}
}

// update notes a chunk of the agent's answer. It is decoded when the turn is over:
// while it runs, the editor's work takes processor time from the agent.
func (e *editor) update(params json.RawMessage) {
	if !bytes.Contains(params, []byte(`"agent_message_chunk"`)) {
		return
	}
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.seen.chunks) == 0 {
		e.seen.first = now
	}
	if len(e.seen.chunks) < maxChunks {
		e.seen.chunks = append(e.seen.chunks, params)
	}
}

// text joins the texts of the chunks.
func (s seen) text() string {
	var all strings.Builder
	for _, raw := range s.chunks {
		var p struct {
			Update struct {
				Content struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"update"`
		}
		if json.Unmarshal(raw, &p) == nil { // other updates may hold the word, too
			all.WriteString(p.Update.Content.Text)
		}
	}
	return all.String()
}

// allow answers a request for permission: once, or else always.
func allow(params json.RawMessage) (any, error) {
	var p struct {
		Options []struct {
			OptionID string `json:"optionId"`
			Kind     string `json:"kind"`
		} `json:"options"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, jsonrpc.ACP.InvalidParams("session/request_permission")
	}
	for _, kind := range []string{"allow_once", "allow_always"} {
		for _, o := range p.Options {
			if o.Kind == kind {
				return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": o.OptionID}}, nil
			}
		}
	}
	return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil
}

type fileParams struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (e *editor) read(params json.RawMessage) (any, error) {
	p, err := e.file(params)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(p.Path)
	if err != nil {
		return nil, &jsonrpc.Error{Code: resourceNotFound, Message: "The file cannot be read"}
	}
	return map[string]any{"content": string(data)}, nil
}

func (e *editor) write(params json.RawMessage) (any, error) {
	p, err := e.file(params)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(p.Path, []byte(p.Content), 0o600); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The file cannot be written"}
	}
	return struct{}{}, nil
}

// file reads the parameters of a file request and keeps it within the folder.
func (e *editor) file(params json.RawMessage) (fileParams, error) {
	var p fileParams
	inside := filepath.Clean(e.folder) + string(filepath.Separator)
	if json.Unmarshal(params, &p) != nil || !strings.HasPrefix(filepath.Clean(p.Path), inside) {
		return p, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: path must lie in the project"}
	}
	return p, nil
}
