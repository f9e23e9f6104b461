package jsonrpc

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
)

// noLimit is the limit for messages that never wait.
const noLimit = math.MaxInt

// keptBuffer is the capacity in bytes up to which a buffer is used again; larger
// ones go back to the collector, so that a big message is paid for once.
const keptBuffer = 1 << 20

// outbox is the ordered queue of outgoing bytes. Its one writer takes all that is
// queued and writes it at once, so that a fast stream costs few system calls and
// a peer never sees messages interleaved.
type outbox struct {
	w       io.Writer
	framing Framing
	tap     func(Direction, []byte)
	done    chan struct{} // closed when nothing is taken any more
	drained chan struct{} // closed when the writer has ended

	mu      sync.Mutex
	ready   sync.Cond // something is queued, or closed
	room    sync.Cond // something was written, or closed, or hurried
	queue   []byte
	replies int    // where in queue the last reply ends
	spare   []byte // the buffer to fill while the other is being written
	writing int    // bytes of the Write that is under way
	hurried bool   // replies wait no more
	closed  bool
	err     error // why a Write failed
}

func newOutbox(w io.Writer, framing Framing, tap func(Direction, []byte)) *outbox {
	o := &outbox{w: w, framing: framing, tap: tap, done: make(chan struct{}), drained: make(chan struct{})}
	o.ready.L, o.room.L = &o.mu, &o.mu
	return o
}

// rank is how a message stands to the others.
type rank uint8

const (
	inOrder    rank = iota // waits its turn
	aReply                 // does not wait for room once the outbox is hurried
	overtaking             // like aReply, and overtakes what is queued but for other replies
)

// put queues one message, of which it keeps nothing. It waits while limit or more
// bytes are queued, so the queue exceeds a limit by one message at most. It fails
// with ErrClosed only.
func (o *outbox) put(message []byte, limit int, as rank) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.closed && !(as != inOrder && o.hurried) && o.waiting() >= limit {
		o.room.Wait()
	}
	if o.closed {
		return ErrClosed
	}
	if o.tap != nil {
		o.tap(Out, message)
	}
	if len(o.queue) == 0 {
		o.ready.Signal()
	}
	if as == overtaking && o.replies < len(o.queue) {
		frame := o.framing.appendFrame(nil, message)
		o.queue = slices.Insert(o.queue, o.replies, frame...)
		o.replies += len(frame)
		return nil
	}
	o.queue = o.framing.appendFrame(o.queue, message)
	if as != inOrder {
		o.replies = len(o.queue)
	}
	return nil
}

// waiting is the number of bytes that the peer has not taken; mu is held.
func (o *outbox) waiting() int { return len(o.queue) + o.writing }

// hurry lets replies wait no more: the connection is ending, so there are no
// more of them than requests in flight.
func (o *outbox) hurry() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hurried = true
	o.room.Broadcast()
}

// close ends the taking of messages; what is queued is still written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut()
}

// shut does the work of close; mu is held.
func (o *outbox) shut() {
	if o.closed {
		return
	}
	o.closed = true
	close(o.done)
	o.ready.Broadcast()
	o.room.Broadcast()
}

// failure is the error of the Write that ended the outbox, nil if none did.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// run writes until the outbox is closed and empty, or a Write fails.
func (o *outbox) run() {
	defer close(o.drained)
	for {
		batch := o.take()
		if batch == nil {
			return
		}
		n, err := o.w.Write(batch)
		if err == nil && n < len(batch) {
			err = io.ErrShortWrite
		}
		o.wrote(batch, err)
		if err != nil {
			return
		}
	}
}

// take waits for queued bytes and takes them all; nil means that there will be
// none.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closed {
		o.ready.Wait()
	}
	if len(o.queue) == 0 {
		return nil
	}
	batch := o.queue
	o.queue, o.spare, o.replies = o.spare[:0], nil, 0
	o.writing = len(batch)
	return batch
}

// wrote ends what take began.
func (o *outbox) wrote(batch []byte, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = 0
	if err != nil {
		o.err = fmt.Errorf("write: %w", err)
		o.queue, o.replies = nil, 0
		o.shut()
		return
	}
	if cap(batch) <= keptBuffer {
		o.spare = batch
	}
	o.room.Broadcast()
}
