package tool

import (
	"context"
	"sync"
)

// gate lets n callers in at once; the others wait, first come first served.
type gate chan struct{}

func newGate(n int) gate { return make(gate, n) }

// enter waits for a place, or returns ctx's error. Each nil is followed by one leave.
func (g gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) leave() { <-g }

// leaveAfter is leave, once gone is closed; nil: at once.
func (g gate) leaveAfter(gone <-chan struct{}) {
	if gone == nil {
		g.leave()
		return
	}
	go func() { // bounded by what closes gone; the next change waits for it
		<-gone
		g.leave()
	}()
}

// pathTurns lets one caller in for each path. It keeps only the paths in use.
type pathTurns struct {
	mu    sync.Mutex
	paths map[string]*pathTurn
}

type pathTurn struct {
	gate  gate
	users int // inside or waiting
}

// enter waits until path is free, or returns ctx's error. Each nil is followed
// by one call of leave.
func (t *pathTurns) enter(ctx context.Context, path string) (leave func(), err error) {
	t.mu.Lock()
	if t.paths == nil {
		t.paths = map[string]*pathTurn{}
	}
	p := t.paths[path]
	if p == nil {
		p = &pathTurn{gate: newGate(1)}
		t.paths[path] = p
	}
	p.users++
	t.mu.Unlock()

	done := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if p.users--; p.users == 0 {
			delete(t.paths, path)
		}
	}
	if err := p.gate.enter(ctx); err != nil {
		done()
		return nil, err
	}
	return func() {
		p.gate.leave()
		done()
	}, nil
}
