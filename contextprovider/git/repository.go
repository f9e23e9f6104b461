package git

import (
	"context"
	"maps"
	"slices"
	"sync"

	"kimi-acp/contextprovider"
)

// repository is one repository of a session and what is known of it.
type repository struct {
	folder
	o Options

	refreshing sync.Mutex // held while git is asked, so that answers come in order

	mu      sync.Mutex
	known   *contextprovider.GitState // nil: nothing yet. It is never changed, only replaced
	stale   bool                      // anything may have changed since
	paths   map[string]bool           // files that have changed since, absolute
	watched bool                      // changes are noticed; else everything is asked each time
	diffs   map[string]contextprovider.GitDiff

	watcher *watcher // nil: not begun
}

// maxPaths is for how many changed files git is asked by name; more, and it is asked
// for everything.
const maxPaths = 64

// state tells how the repository stands.
func (r *repository) state(ctx context.Context) (contextprovider.GitState, error) {
	r.refreshing.Lock()
	defer r.refreshing.Unlock()
	r.mu.Lock()
	known, all, paths := r.known, r.known == nil || r.stale || !r.watched, r.paths
	if !all && len(paths) == 0 {
		r.mu.Unlock()
		return *known, nil
	}
	r.stale, r.paths = false, nil
	r.mu.Unlock()

	next, err := r.look(ctx, known, all, slices.Sorted(maps.Keys(paths)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.stale = true
		return contextprovider.GitState{}, err
	}
	r.known, r.diffs = &next.state, r.diffsAfter(next)
	return next.state, nil
}

// look asks git.
func (r *repository) look(ctx context.Context, known *contextprovider.GitState, all bool, paths []string) (seen, error) {
	git, err := newRunner(ctx, r.top)
	if err != nil {
		return seen{}, err
	}
	if !all && separate(*known, paths) {
		return r.some(ctx, git, *known, paths)
	}
	return r.whole(ctx, git)
}

// diffsAfter gives the diffs that hold after a look: with those that came with it the
// diffs of the files that git was not asked about. r.mu is held.
func (r *repository) diffsAfter(next seen) map[string]contextprovider.GitDiff {
	if next.only == nil || len(r.diffs)+len(next.diffs) > maxPaths {
		return next.diffs
	}
	diffs := maps.Clone(r.diffs)
	for _, path := range next.only {
		delete(diffs, path)
	}
	maps.Copy(diffs, next.diffs)
	return diffs
}

// diff tells how a file differs from the last commit; ok is false when it does not,
// or is none of those whose text can be compared.
func (r *repository) diff(ctx context.Context, g contextprovider.GitState, path string) (d contextprovider.GitDiff, ok bool, err error) {
	i := slices.IndexFunc(g.Changes, func(c contextprovider.GitChange) bool { return c.Path == path })
	if i < 0 || g.NoCommits {
		return d, false, nil
	}
	if c := g.Changes[i]; c.Unstaged == '?' || c.Submodule || c.Conflict {
		return d, false, nil
	}
	r.mu.Lock()
	d, ok = r.diffs[path]
	known := r.known
	r.mu.Unlock()
	if ok {
		return d, d.Text != "", nil
	}
	git, err := newRunner(ctx, r.top)
	if err != nil {
		return d, false, err
	}
	if d, err = git.diff(ctx, path); err != nil {
		return d, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// What was asked for before the last look may be older than what that one knows.
	if r.watched && r.known == known && len(r.diffs) < maxPaths {
		r.diffs[path] = d
	}
	return d, d.Text != "", nil
}

// touched notes files that have changed.
func (r *repository) touched(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stale {
		return
	}
	if len(r.paths) >= maxPaths {
		r.stale, r.paths = true, nil
		return
	}
	if r.paths == nil {
		r.paths = map[string]bool{}
	}
	r.paths[path] = true
}

// shaken notes that anything may have changed.
func (r *repository) shaken() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stale, r.paths = true, nil
}

// watching says whether changes are noticed from here on.
func (r *repository) watching(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched = on
	r.stale, r.paths = true, nil
}
