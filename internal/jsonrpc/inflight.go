package jsonrpc

import "sync"

// inflight is what the peer waits for: its requests that have no reply yet, and
// the functions that run for its messages.
type inflight struct {
	max int // requests at a time

	mu      sync.Mutex
	byID    map[ID]*Call  // until the reply is being sent
	open    int           // requests until their reply is queued
	working int           // functions started by Go and GoLocal
	local   int           // of these, by GoLocal
	idle    chan struct{} // from drain until it is closed, otherwise nil
	settled chan struct{} // likewise
}

func newInflight(most int) *inflight {
	return &inflight{max: most, byID: make(map[ID]*Call)}
}

// admission is what became of a request that arrived.
type admission uint8

const (
	admitted admission = iota
	duplicate
	tooMany
)

// admit takes a request in, unless its id is in use or there are too many.
func (f *inflight) admit(c *Call) admission {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, used := f.byID[c.id]; used {
		return duplicate
	}
	if f.open >= f.max {
		return tooMany
	}
	f.byID[c.id] = c
	f.open++
	return admitted
}

// release frees the call's id.
func (f *inflight) release(c *Call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byID, c.id)
}

// cancel ends the context of the request with the id, if there is one.
func (f *inflight) cancel(id ID) bool {
	f.mu.Lock()
	c := f.byID[id]
	f.mu.Unlock()
	if c == nil {
		return false
	}
	c.cancel(ErrCancelled)
	return true
}

// end says that the reply to a request is queued.
func (f *inflight) end() { f.count(&f.open, -1) }

// begin and finish enclose a function started by Go, or by GoLocal.
func (f *inflight) begin(local bool)  { f.work(local, 1) }
func (f *inflight) finish(local bool) { f.work(local, -1) }

func (f *inflight) work(local bool, by int) {
	if local {
		f.count(&f.local, by)
	}
	f.count(&f.working, by)
}

func (f *inflight) count(which *int, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*which += by
	f.settle()
}

// drain gives a channel that is closed as soon as nothing is open or working, and
// one that is closed as soon as no local function works. It is called once, when no
// request is admitted any more.
func (f *inflight) drain() (idle, settled <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle, f.settled = make(chan struct{}), make(chan struct{})
	idle, settled = f.idle, f.settled
	f.settle()
	return idle, settled
}

// settle closes the channels of drain when it is time; mu is held.
func (f *inflight) settle() {
	if f.settled != nil && f.local == 0 {
		close(f.settled)
		f.settled = nil
	}
	if f.idle != nil && f.open+f.working == 0 {
		close(f.idle)
		f.idle = nil
	}
}
