package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// maxRequest bounds a model request, in bytes.
const maxRequest = 64 << 20

// responsesModel speaks OpenAI responses, as far as an agent needs it that
// streams text and calls functions.
type responsesModel struct {
	*queue[events]
	http    http.Server
	addr    string
	closing chan struct{} // closed by close, releases gates
	running sync.WaitGroup
}

// events is an encoded answer: what opens it, and after the gate the rest.
type events struct {
	head string
	gate <-chan struct{} // nil: none
	rest []string        // each written and flushed by itself
}

func startResponses() (*responsesModel, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for model requests: %w", err)
	}
	m := &responsesModel{queue: newQueue(encodeEvents(reply{})), addr: l.Addr().String(), closing: make(chan struct{})}
	m.http.Handler = m
	m.running.Go(func() { _ = m.http.Serve(l) }) // ends with close
	return m, nil
}

func (m *responsesModel) baseURL() string { return "http://" + m.addr + "/v1" }
func (m *responsesModel) push(r reply)    { m.add(encodeEvents(r)) }

// close ends the server; it is called once.
func (m *responsesModel) close() {
	close(m.closing)
	_ = m.http.Close() // the listener and the connections are gone in any case
	m.running.Wait()
}

// ServeHTTP answers one request with the next answer.
func (m *responsesModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/responses" {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err == nil && !json.Valid(body) {
		err = errors.New("the request is no JSON")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := m.take()
	w.Header().Set("Content-Type", "text/event-stream")
	write(w, answer.head)
	if answer.gate != nil {
		select {
		case <-answer.gate:
		case <-m.closing:
			return
		case <-r.Context().Done():
			return
		}
	}
	for _, e := range answer.rest {
		write(w, e)
	}
}

// write sends text at once. A client that has left needs nothing more.
func write(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// encodeEvents makes the events of an answer. An answer is one output item, a
// message or a function call.
func encodeEvents(r reply) events {
	type m = map[string]any
	response := func(status string, output ...any) m {
		return m{"id": "resp_1", "object": "response", "status": status, "output": append([]any{}, output...)}
	}
	out := events{gate: r.gate, head: event("response.created", m{"response": response("in_progress")})}
	var item m
	if r.call.name != "" {
		item = m{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": r.call.name, "arguments": r.call.arguments, "status": "completed"}
	} else {
		message := func(status string, content ...any) m {
			return m{"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": append([]any{}, content...)}
		}
		out.head += event("response.output_item.added", m{"output_index": 0, "item": message("in_progress")})
		for _, d := range r.texts() {
			out.rest = append(out.rest, event("response.output_text.delta", m{"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": d}))
		}
		item = message("completed", m{"type": "output_text", "text": strings.Join(r.texts(), ""), "annotations": []any{}})
	}
	done := response("completed", item)
	done["usage"] = m{
		"input_tokens": 10, "input_tokens_details": m{"cached_tokens": 0},
		"output_tokens": 1 + len(r.deltas), "output_tokens_details": m{"reasoning_tokens": 0},
		"total_tokens": 11 + len(r.deltas),
	}
	out.rest = append(out.rest,
		event("response.output_item.done", m{"output_index": 0, "item": item}),
		event("response.completed", m{"response": done}))
	return out
}

// event encodes one server-sent event of a type.
func event(kind string, members map[string]any) string {
	members["type"] = kind
	return "event: " + kind + "\ndata: " + object(members) + "\n\n"
}
