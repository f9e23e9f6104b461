package contextprovider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// DefaultDeadline is how long a prompt waits for its context.
const DefaultDeadline = 150 * time.Millisecond

// longestGather is how long a provider may take for a result that is used later.
const longestGather = 10 * time.Second

// Registry holds the providers of a session and asks them side by side. It may be
// used by several goroutines at once; Close ends it.
type Registry struct {
	log  *slog.Logger
	ctx  context.Context //nolint:containedctx // the life of what runs longer than a prompt waits
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	members []*member // by falling priority, then by name
	closed  bool
}

// member is a provider and what is known of it.
type member struct {
	Registration
	name   string
	flight *flight // under way, or nil
	next   *flight // that follows it, or nil
	last   *flight // the latest that succeeded, or nil
}

// flight is one call of a provider.
type flight struct {
	query Query         // guarded by the registry's mu until the call begins
	done  chan struct{} // closed when facts and err are set
	facts Facts
	err   error
}

// NewRegistry makes an empty registry. A nil logger is slog.Default.
func NewRegistry(log *slog.Logger) *Registry {
	if log == nil {
		log = slog.Default()
	}
	r := &Registry{log: log}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Register adds a provider. A second one of the same name is an error.
func (r *Registry) Register(g Registration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := g.Provider.Name()
	if slices.ContainsFunc(r.members, func(m *member) bool { return m.name == name }) {
		return fmt.Errorf("a context provider named %q is there already", name)
	}
	g.Share = max(g.Share, 1)
	r.members = append(r.members, &member{Registration: g, name: name})
	slices.SortFunc(r.members, func(a, b *member) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.name, b.name))
	})
	return nil
}

// Gather asks all providers and waits for them, but no longer than deadline and no
// longer than ctx. A provider that is late goes on, and what it gives is used by the
// next Gather that it does not answer in time; the bundle says so.
func (r *Registry) Gather(ctx context.Context, q Query, deadline time.Duration) Bundle {
	r.mu.Lock()
	members := slices.Clone(r.members)
	flights := make([]*flight, len(members))
	for i, m := range members {
		flights[i] = r.launch(m, q)
	}
	r.mu.Unlock()

	b := Bundle{Session: sessionContext(q), shares: map[string]int{}}
	over := time.NewTimer(deadline)
	defer over.Stop()
	late := false
	for i, m := range members {
		f := flights[i]
		if f == nil {
			continue
		}
		if !late {
			select {
			case <-f.done:
			case <-over.C:
				late = true
			case <-ctx.Done():
				late = true
			}
		}
		b.take(m, f, r.latest(m))
	}
	return b
}

// launch begins a call of a provider, or lets it follow the one that is under way: that
// one was asked before, perhaps with less known. mu is held. It is nil when the registry
// is closed.
func (r *Registry) launch(m *member, q Query) *flight {
	switch {
	case r.closed:
		return nil
	case m.next != nil:
		m.next.query = q
		return m.next
	case m.flight != nil:
		m.next = &flight{query: q, done: make(chan struct{})}
		return m.next
	}
	m.flight = &flight{query: q, done: make(chan struct{})}
	first := m.flight
	r.wg.Go(func() {
		for f, q := first, q; f != nil; {
			f, q = r.fly(m, f, q)
		}
	})
	return first
}

// fly does one call and gives the one that is to follow it, nil for none.
func (r *Registry) fly(m *member, f *flight, q Query) (next *flight, query Query) {
	ctx, cancel := context.WithTimeout(r.ctx, longestGather)
	defer cancel()
	f.facts, f.err = r.call(ctx, m.Provider, q)
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.err == nil {
		m.last = f
	}
	m.flight, m.next = m.next, nil
	close(f.done)
	if m.flight == nil {
		return nil, Query{}
	}
	return m.flight, m.flight.query
}

// call runs a provider; a panic in it is its own.
func (r *Registry) call(ctx context.Context, p Provider, q Query) (facts Facts, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.log.Error("bug: a context provider panicked", "provider", p.Name(), "panic", v, "stack", string(debug.Stack()))
			err = errors.New("it failed")
		}
	}()
	return p.Gather(ctx, q)
}

func (r *Registry) latest(m *member) *flight {
	r.mu.Lock()
	defer r.mu.Unlock()
	return m.last
}

// take adds what a call gave, or what the one before it gave, or why there is nothing.
func (b *Bundle) take(m *member, f, last *flight) {
	select {
	case <-f.done:
		if f.err != nil {
			b.Missed = append(b.Missed, Missed{m.name, f.err.Error()})
			return
		}
		b.merge(f.facts, m.Share)
		return
	default:
	}
	if last == nil {
		b.Missed = append(b.Missed, Missed{m.name, "not ready in time"})
		return
	}
	b.merge(last.facts, m.Share)
	b.Missed = append(b.Missed, Missed{m.name, "not ready in time: what is told may be old"})
}

// Close ends what runs, waits for it and closes the providers.
func (r *Registry) Close() {
	r.mu.Lock()
	r.closed = true
	members := r.members
	r.mu.Unlock()
	r.stop()
	r.wg.Wait()
	for _, m := range members {
		if c, ok := m.Provider.(Closer); ok {
			c.Close()
		}
	}
}

func sessionContext(q Query) SessionContext {
	s := SessionContext{SessionID: q.SessionID, Roots: q.Roots}
	if e := q.Editor; e != nil {
		s.CurrentFile, s.Cursor = e.Active, e.Cursor
		if e.Selection != nil {
			s.Selection = &LineRange{First: e.Selection.From.Line, Last: e.Selection.To.Line}
		}
	}
	return s
}
