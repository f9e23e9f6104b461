package fileop

import (
	"context"
	"sync"
)

// pathLocks let one goroutine at a time have a path. The zero value is ready.
type pathLocks struct {
	mu    sync.Mutex
	paths map[string]*pathLock
}

type pathLock struct {
	turn  chan struct{} // holds a token while someone has the path
	users int           // who has it or waits for it; the last one removes it
}

// lock waits for its turn or for the end of ctx.
func (l *pathLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	p := l.paths[key]
	if p == nil {
		if l.paths == nil {
			l.paths = map[string]*pathLock{}
		}
		p = &pathLock{turn: make(chan struct{}, 1)}
		l.paths[key] = p
	}
	p.users++
	l.mu.Unlock()

	select {
	case p.turn <- struct{}{}:
		return func() { <-p.turn; l.leave(key, p) }, nil
	case <-ctx.Done():
		l.leave(key, p)
		return nil, ctx.Err()
	}
}

// lockBoth is lock for two paths, which may be one. All take two paths in the same
// order, so nobody waits for each other.
func (l *pathLocks) lockBoth(ctx context.Context, a, b string) (unlock func(), err error) {
	if a == b {
		return l.lock(ctx, a)
	}
	first, err := l.lock(ctx, min(a, b))
	if err != nil {
		return nil, err
	}
	second, err := l.lock(ctx, max(a, b))
	if err != nil {
		first()
		return nil, err
	}
	return func() { second(); first() }, nil
}

func (l *pathLocks) leave(key string, p *pathLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(l.paths, key)
	}
}
