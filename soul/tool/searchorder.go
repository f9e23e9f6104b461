package tool

import (
	"context"
	"sync"
)

// inOrder lets pieces of work that are done side by side take effect in the order of
// their numbers, which begin at 0 and leave none out.
type inOrder struct {
	mu      sync.Mutex
	next    int          // the lowest number that has not finished
	ended   map[int]bool // numbers above next that have
	advance chan struct{}
}

func newInOrder() *inOrder {
	return &inOrder{ended: map[int]bool{}, advance: make(chan struct{})}
}

// wait returns when all numbers below n have finished, or with ctx's error.
func (o *inOrder) wait(ctx context.Context, n int) error {
	for {
		o.mu.Lock()
		next, advance := o.next, o.advance
		o.mu.Unlock()
		if next == n {
			return nil
		}
		select {
		case <-advance:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// finish says that n has taken effect, or has none.
func (o *inOrder) finish(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended[n] = true
	before := o.next
	for o.ended[o.next] {
		delete(o.ended, o.next)
		o.next++
	}
	if o.next > before {
		close(o.advance)
		o.advance = make(chan struct{})
	}
}
