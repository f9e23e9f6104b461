package wire

import "sync"

// Stream says which messages a View gets.
type Stream uint8

// The streams of a Wire.
const (
	// Raw is every message, as it was sent.
	Raw Stream = iota + 1
	// Merged is what is worth keeping: adjacent deltas are one message, Local
	// messages are left out.
	Merged
)

// View watches a Wire.
type View interface {
	// Receive takes the messages in order, one at a time, on the sender's
	// goroutine. It may block: that slows the soul, and nothing is dropped. It
	// must not change the message, and must not call Send, Flush, Close, EndTurn
	// or a method that waits for an answer on the same Wire; to resolve a request
	// and to detach is allowed.
	Receive(m Message)
}

// ViewFunc is a function that serves as a View.
type ViewFunc func(Message)

// Receive calls f.
func (f ViewFunc) Receive(m Message) { f(m) }

// Wire carries messages from a soul to its views, and answers back. All methods
// may be called at once.
type Wire struct {
	// delivery is held while a message goes to the views: it is what gives all
	// views one order. A view that blocks holds it, so what a blocked view may be
	// waiting for (an answer, its own end) must do with mu alone. It is taken
	// before mu.
	delivery sync.Mutex
	merge    merger

	mu       sync.Mutex
	views    []*attached
	requests []*pending // that are not answered, in the order of their publication
	tools    ToolHandler
	ending   bool // Close was called: new requests are answered at once
	closed   bool // nothing is delivered any more

	close sync.Once
}

// attached is a view's place on a Wire.
type attached struct {
	stream Stream
	view   View
	gone   bool // under Wire.mu
}

// New makes a Wire without views.
func New() *Wire { return &Wire{} }

// Attach makes v receive the messages sent from now on; a merged message of which
// a part was sent before comes whole. After detach has returned no Receive begins,
// though one that has begun may still run. Detach may be called again. On a closed
// Wire, Attach does nothing.
func (w *Wire) Attach(s Stream, v View) (detach func()) {
	a := &attached{stream: s, view: v}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.views = append(w.views, a)
	}
	return func() { w.detach(a) }
}

func (w *Wire) detach(a *attached) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.gone = true
	// A new slice: deliver may be walking along the old one.
	var rest []*attached
	for _, other := range w.views {
		if other != a {
			rest = append(rest, other)
		}
	}
	w.views = rest
}

// Send gives the event to all views before it returns; it blocks as long as a view
// does. The event and what it points to must not be changed afterwards. On a
// closed Wire, Send does nothing.
func (w *Wire) Send(e Event) {
	w.delivery.Lock()
	defer w.delivery.Unlock()
	w.publish(e)
}

// Flush gives the merged stream what is held back in the hope of more. Messages
// that are no deltas do that by themselves.
func (w *Wire) Flush() {
	w.delivery.Lock()
	defer w.delivery.Unlock()
	w.merge.flush(w.toMerged)
}

// Close answers the pending requests, those of background agents too, as EndTurn
// does, flushes the merged stream and detaches all views. It waits for a view that
// blocks. Queues are not closed; their owners do that afterwards.
func (w *Wire) Close() {
	w.close.Do(func() {
		w.mu.Lock()
		w.ending = true
		w.mu.Unlock()
		w.endRequests(func(Request) bool { return true })

		w.delivery.Lock()
		defer w.delivery.Unlock()
		w.merge.flush(w.toMerged)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.closed = true
		w.views = nil
	})
}

// publish delivers m to both streams. The caller holds delivery.
func (w *Wire) publish(m Message) {
	w.mu.Lock()
	closed := w.closed
	w.mu.Unlock()
	if closed {
		return
	}
	// Merged first: what is written down there is on disk before anybody sees it, so a
	// program that dies here has shown nothing that it does not know of later.
	if !Local(m) {
		w.merge.push(m, w.toMerged)
	}
	w.deliver(Raw, m)
}

func (w *Wire) toMerged(m Message) { w.deliver(Merged, m) }

// deliver hands m to the views of a stream. The caller holds delivery.
func (w *Wire) deliver(s Stream, m Message) {
	w.mu.Lock()
	views := w.views
	w.mu.Unlock()
	for _, a := range views {
		if a.stream == s && w.stays(a) {
			a.view.Receive(m)
		}
	}
}

func (w *Wire) stays(a *attached) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !a.gone
}
