package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"kimi-acp/internal/modeltest"
)

// dialect is the API in which an agent speaks with its model.
type dialect uint8

// The dialects.
const (
	chat      dialect = iota // OpenAI chat completions
	responses                // OpenAI responses
)

// reply is one answer of the model. The zero value says "ok".
type reply struct {
	gate   <-chan struct{} // waited for before the first delta; nil: none
	deltas []string        // pieces of text, each sent and flushed by itself
	call   toolCall        // made in place of text if it has a name
}

// model serves answers over loopback. All methods may be called at once.
type model interface {
	// baseURL is what the agent is told, without a final slash.
	baseURL() string
	// push queues an answer. It is encoded now, so that serving it later costs
	// little. A request for which none is queued is answered with "ok".
	push(r reply)
	// arrival gives when the next request of those not yet given had come whole,
	// and waits for it. It fails with ctx's error.
	arrival(ctx context.Context) (time.Time, error)
	// forget drops the arrivals so far, and answers that nobody asked for.
	forget()
	// close breaks all connections and waits for what serves them.
	close()
}

func startModel(d dialect) (model, error) {
	if d == responses {
		return startResponses()
	}
	return startChat()
}

// queue is what the dialects share: encoded answers, and when requests came.
type queue[T any] struct {
	usual T // the answer for a request that nobody expected

	mu      sync.Mutex
	ready   []T           // guarded by mu
	arrived []time.Time   // guarded by mu
	more    chan struct{} // guarded by mu; closed and replaced when a request comes
}

func newQueue[T any](usual T) *queue[T] { return &queue[T]{usual: usual, more: make(chan struct{})} }

func (q *queue[T]) add(answer T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready = append(q.ready, answer)
}

// take notes a request and gives its answer.
func (q *queue[T]) take() T {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.arrived = append(q.arrived, now)
	close(q.more)
	q.more = make(chan struct{})
	if len(q.ready) == 0 {
		return q.usual
	}
	answer := q.ready[0]
	q.ready = q.ready[1:]
	return answer
}

func (q *queue[T]) arrival(ctx context.Context) (time.Time, error) {
	for {
		q.mu.Lock()
		more := q.more
		if len(q.arrived) > 0 {
			at := q.arrived[0]
			q.arrived = q.arrived[1:]
			q.mu.Unlock()
			return at, nil
		}
		q.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("wait for a model request: %w", ctx.Err())
		}
	}
}

func (q *queue[T]) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready, q.arrived = nil, nil
}

// chatModel speaks chat completions.
type chatModel struct {
	*queue[modeltest.Reply]
	server *modeltest.Server
}

func startChat() (*chatModel, error) {
	server, err := modeltest.Start("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &chatModel{newQueue(chatReply(reply{})), server}
	server.Answer(func(*modeltest.Request) modeltest.Reply { return m.take() })
	return m, nil
}

func (m *chatModel) baseURL() string { return m.server.URL() }
func (m *chatModel) push(r reply)    { m.add(chatReply(r)) }
func (m *chatModel) close()          { m.server.Close() }

func chatReply(r reply) modeltest.Reply {
	out := modeltest.Reply{Usage: &modeltest.Usage{Prompt: 10, Completion: 1 + len(r.deltas)}}
	if r.gate != nil {
		out.Parts = append(out.Parts, modeltest.Gate(r.gate))
	}
	if r.call.name != "" {
		out.Parts = append(out.Parts, modeltest.Call(0, "call_1", r.call.name, r.call.arguments))
		return out
	}
	for _, d := range r.texts() {
		out.Parts = append(out.Parts, modeltest.Lines(chatEvent(d)))
	}
	return out
}

// chatEvent encodes an event with a piece of text, up to the line end that
// modeltest adds.
func chatEvent(text string) string {
	return "data: " + object(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "model",
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": text}, "finish_reason": nil}},
	}) + "\n"
}

// texts are the pieces of the answer's text.
func (r reply) texts() []string {
	if len(r.deltas) == 0 {
		return []string{"ok"}
	}
	return r.deltas
}
