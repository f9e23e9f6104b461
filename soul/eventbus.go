package soul

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// BusEvent is something that happened to a session, for those who keep watch
// over the whole program (logs, statistics). Payload is a value that nobody
// changes any more.
type BusEvent struct {
	Time      time.Time
	SessionID string
	Payload   any // SessionMoved, TurnStarted, TurnFinished, ToolFinished
}

// SessionMoved says that a session changed its state.
type SessionMoved struct{ From, To SessionState }

// TurnStarted says that a turn began.
type TurnStarted struct{}

// TurnFinished says how a turn ended. Err is nil when it ended with a stop reason.
type TurnFinished struct {
	Outcome Outcome
	Err     error
	Took    time.Duration
}

// EventBus hands events to subscribers, one after the other, on the publisher's
// goroutine. A subscriber that panics is its own failure: it is logged, and the
// others still get the event. The zero value is ready; it may be used by several
// goroutines at once.
type EventBus struct {
	Logger *slog.Logger // nil: slog.Default

	mu   sync.Mutex
	next int
	subs map[int]func(BusEvent)
	keys []int // in order of subscription
}

// Subscribe adds a subscriber and gives the function that removes it.
func (b *EventBus) Subscribe(f func(BusEvent)) (cancel func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = map[int]func(BusEvent){}
	}
	key := b.next
	b.next++
	b.subs[key] = f
	b.keys = append(b.keys, key)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subs, key)
	}
}

// Publish hands e to all who are subscribed now. A nil bus drops it.
func (b *EventBus) Publish(e BusEvent) {
	if b == nil {
		return
	}
	b.mu.Lock()
	var subs []func(BusEvent)
	kept := b.keys[:0]
	for _, k := range b.keys {
		if f, ok := b.subs[k]; ok {
			subs = append(subs, f)
			kept = append(kept, k)
		}
	}
	b.keys = kept
	b.mu.Unlock()
	for _, f := range subs {
		b.deliver(f, e)
	}
}

func (b *EventBus) deliver(f func(BusEvent), e BusEvent) {
	defer func() {
		if p := recover(); p != nil {
			log := b.Logger
			if log == nil {
				log = slog.Default()
			}
			log.Error("a subscriber of the event bus panicked", "event", fmt.Sprintf("%T", e.Payload), "panic", fmt.Sprint(p))
		}
	}()
	f(e)
}
