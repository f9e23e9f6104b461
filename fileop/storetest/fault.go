package storetest

import (
	"context"
	"errors"
	"sync"

	"kimi-acp/fileop"
)

// Fault passes operations on to a Store and makes one of them fail. It may be
// called by several goroutines at once.
type Fault struct {
	store fileop.Store
	at    int
	after bool
	err   error

	mu    sync.Mutex
	calls int
}

var _ fileop.Store = (*Fault)(nil)

// FailBefore lets the n-th operation, from 1, fail with err and do nothing. With 0
// none fails.
func FailBefore(s fileop.Store, n int, err error) *Fault {
	return &Fault{store: s, at: n, err: err}
}

// FailAfter lets the n-th operation, from 1, do its work and then fail with err, as
// when its answer is lost. With 0 none fails.
func FailAfter(s fileop.Store, n int, err error) *Fault {
	return &Fault{store: s, at: n, err: err, after: true}
}

// Calls says how many operations there were.
func (f *Fault) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Read implements fileop.Store.
func (f *Fault) Read(ctx context.Context, path string) ([]byte, error) {
	var data []byte
	err := f.do(func() (err error) { data, err = f.store.Read(ctx, path); return err })
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Write implements fileop.Store.
func (f *Fault) Write(ctx context.Context, path string, data []byte) error {
	return f.do(func() error { return f.store.Write(ctx, path, data) })
}

// Remove implements fileop.Store.
func (f *Fault) Remove(ctx context.Context, path string) error {
	return f.do(func() error { return f.store.Remove(ctx, path) })
}

// Move implements fileop.Mover where the Store behind does.
func (f *Fault) Move(ctx context.Context, from, to string) error {
	m, ok := f.store.(fileop.Mover)
	if !ok {
		return errors.ErrUnsupported
	}
	return f.do(func() error { return m.Move(ctx, from, to) })
}

func (f *Fault) do(work func() error) error {
	f.mu.Lock()
	f.calls++
	fails := f.calls == f.at
	f.mu.Unlock()
	if fails && !f.after {
		return f.err
	}
	err := work()
	if fails && err == nil {
		err = f.err
	}
	return err
}
