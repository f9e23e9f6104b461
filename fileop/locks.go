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

func (l *pathLocks) leave(key string, p *pathLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(l.paths, key)
	}
}
