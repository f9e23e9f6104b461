package wire

import (
	"context"
	"io"
	"sync"
)

// Queue is a View for a consumer with a goroutine of its own. It holds a bounded
// number of messages, in order; when it is full, Receive blocks, and with it the
// soul. All methods may be called at once.
type Queue struct {
	messages chan Message
	closed   chan struct{}
	close    sync.Once
}

// NewQueue makes a Queue that holds up to n messages, n ≥ 0.
func NewQueue(n int) *Queue {
	return &Queue{messages: make(chan Message, n), closed: make(chan struct{})}
}

// Receive queues the message. It blocks while the queue is full; Close releases
// it, and the message is dropped then, as is every later one.
func (q *Queue) Receive(m Message) {
	select {
	case <-q.closed:
		return
	default:
	}
	select {
	case q.messages <- m:
	case <-q.closed:
	}
}

// Next gives the next message and waits for it. After Close it gives what is still
// queued, and then io.EOF. When ctx ends first, it gives ctx's error.
func (q *Queue) Next(ctx context.Context) (Message, error) {
	select {
	case m := <-q.messages:
		return m, nil
	default:
	}
	select {
	case m := <-q.messages:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-q.closed:
	}
	select {
	case m := <-q.messages:
		return m, nil
	default:
		return nil, io.EOF
	}
}

// Close ends the queue. A consumer that gives up must call it, or the soul hangs.
// It may be called again.
func (q *Queue) Close() { q.close.Do(func() { close(q.closed) }) }
