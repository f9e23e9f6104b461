package trust

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Gate is what code of a session asks before it reads or runs anything by which the
// workspace could have its own code run. It may be used by several goroutines at once.
type Gate struct {
	store   *Store
	roots   []string
	asking  chan struct{} // holds one while nobody is asked
	granted bool          // for this session, by whoever started it

	mu   sync.Mutex
	shut bool // the user was asked in this session, and did not say yes
}

// NewGate makes the gate of a session on these folders. Granted opens it for the
// session whatever the Store says.
func NewGate(s *Store, roots []string, granted bool) *Gate {
	g := &Gate{store: s, roots: slices.Clone(roots), asking: make(chan struct{}, 1), granted: granted}
	g.asking <- struct{}{}
	return g
}

// Trusted tells whether the user trusts each folder of the workspace. It reads one small
// file, and counts what it cannot find out as no.
func (g *Gate) Trusted() bool {
	return g.granted || len(g.roots) > 0 && !slices.ContainsFunc(g.roots, func(root string) bool {
		a, err := g.store.Of(root)
		return err != nil || a != Trusted
	})
}

// Ask tells whether the workspace is trusted, and has the user asked first where that
// is not decided: once a session, however many ask at once. Put puts the question, about
// these folders, and gives the answer: Trusted or Never, which are kept, or Undecided,
// which holds for the session. An error of Put leaves it open, and is given back.
func (g *Gate) Ask(ctx context.Context, put func(ctx context.Context, folders []string) (Answer, error)) (trusted bool, err error) {
	select {
	case <-g.asking:
		defer func() { g.asking <- struct{}{} }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if g.Trusted() {
		return true, nil
	}
	undecided := g.undecided()
	if len(undecided) == 0 {
		return false, nil
	}
	a, err := put(ctx, undecided)
	if err != nil {
		return false, err
	}
	if a != Trusted {
		g.close()
	}
	if a != Undecided {
		for _, root := range undecided {
			_, failed := g.store.Set(root, a)
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		g.close() // a question whose answer cannot be kept is not put again
	}
	return g.Trusted(), err
}

// undecided gives the folders to ask for; none when one of them is refused, cannot be
// trusted, or the question is over for this session.
func (g *Gate) undecided() []string {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut {
		return nil
	}
	var folders []string
	for _, root := range g.roots {
		a, err := g.store.Of(root)
		if err != nil || a == Never {
			return nil
		}
		if a == Trusted {
			continue
		}
		real, err := Real(root)
		if err != nil || g.store.path == "" || g.store.tooWide(real) != nil {
			return nil
		}
		if !slices.Contains(folders, real) {
			folders = append(folders, real)
		}
	}
	return folders
}

func (g *Gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

// Decided gives what was decided about the folders of the workspace, or about those above
// that they go by.
func (g *Gate) Decided() []Entry {
	var decided []Entry
	for _, root := range g.roots {
		e, err := g.store.entry(root)
		if err == nil && e.Trust != Undecided && !slices.Contains(decided, e) {
			decided = append(decided, e)
		}
	}
	return decided
}

// Forget takes back what was decided about a folder. It is not asked for again in this
// session.
func (g *Gate) Forget(path string) error {
	g.close()
	_, err := g.store.Remove(path)
	return err
}
