package git

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"kimi-acp/contextprovider"
)

// Options say what a Provider works with. All but Trusted may be left out.
type Options struct {
	// Trusted tells whether git may be run in a folder. Nil: nowhere.
	Trusted func(root string) bool
	// Read gives a file on disk, to count its lines. Nil: they are not counted.
	Read func(ctx context.Context, path string) ([]byte, error)
	// Folders lists the folders below one, and itself, that are worth watching, at most
	// n; ok is false when there are more. Nil: work trees are not watched, and git is
	// asked with every prompt.
	Folders func(ctx context.Context, top string, n int) (all []string, ok bool)
	// Watches bounds the watches of all providers that share it. Nil: one of its own.
	Watches *Watches
	Logger  *slog.Logger // nil: slog.Default

	// noticed, in tests, is told what the watcher has taken in: a path, or "watching".
	noticed func(what string)
}

// Provider tells how the repositories of a session stand; see
// contextprovider.Provider.
type Provider struct {
	o    Options
	ctx  context.Context //nolint:containedctx // the life of the watchers
	stop context.CancelFunc
	wg   sync.WaitGroup

	repositories map[string]*repository // by top folder; used by Gather alone
}

var (
	_ contextprovider.Provider = (*Provider)(nil)
	_ contextprovider.Closer   = (*Provider)(nil)
)

// maxRepositories bounds the repositories of one session.
const maxRepositories = 8

// maxDiffs bounds the files whose diffs are told.
const maxDiffs = 3

// New makes a Provider. It starts nothing.
func New(o Options) *Provider {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Trusted == nil {
		o.Trusted = func(string) bool { return false }
	}
	if o.noticed == nil {
		o.noticed = func(string) {}
	}
	if o.Watches == nil {
		o.Watches = NewWatches(MaxWatches)
	}
	p := &Provider{o: o, repositories: map[string]*repository{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Name is "git".
func (p *Provider) Name() string { return "git" }

// Gather tells how the repositories of the roots stand; a root in none tells nothing.
func (p *Provider) Gather(ctx context.Context, q contextprovider.Query) (contextprovider.Facts, error) {
	var facts contextprovider.Facts
	var failed error
	seen := map[string]bool{}
	for _, root := range q.Roots {
		f, ok := findFolder(root)
		if !ok || seen[f.top] || len(seen) >= maxRepositories {
			continue
		}
		seen[f.top] = true
		g, err := p.one(ctx, f, root, q)
		if err != nil {
			failed = err
			continue
		}
		facts.Git = append(facts.Git, g)
	}
	if len(facts.Git) > 0 {
		failed = nil // what one of them says is worth telling
	}
	return facts, failed
}

func (p *Provider) one(ctx context.Context, f folder, root string, q contextprovider.Query) (contextprovider.GitState, error) {
	// A repository has its own trust; one that reaches above the root has the root's.
	place := f.top
	if rel, err := filepath.Rel(root, f.top); err != nil || !filepath.IsLocal(rel) {
		place = root
	}
	if !p.o.Trusted(place) {
		g := contextprovider.GitState{Root: f.top, Untrusted: true}
		f.head(&g)
		f.operation(&g)
		return g, nil
	}
	r := p.repositories[f.top]
	if r == nil || r.folder != f {
		if r != nil && r.watcher != nil {
			r.watcher.end()
		}
		r = &repository{folder: f, o: p.o}
		p.repositories[f.top] = r
	}
	g, err := r.state(ctx)
	if err != nil {
		return g, err
	}
	if r.watcher == nil {
		// Not before: to look for the folders takes as long as git does, which a prompt
		// waits for. Once they are watched, git is asked again.
		r.watcher = p.watch(r)
	}
	for _, path := range asked(q) {
		// A diff that cannot be told is no reason to tell nothing.
		if d, ok, err := r.diff(ctx, g, path); err == nil && ok {
			g.Diffs = append(g.Diffs, d)
		}
	}
	return g, nil
}

// asked gives the files whose diffs are worth their words: the one in focus, and
// those that are mentioned.
func asked(q contextprovider.Query) []string {
	var all []string
	add := func(path string) {
		if path != "" && len(all) < maxDiffs && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	if q.Editor != nil {
		add(q.Editor.Active)
	}
	for _, m := range q.Mentions {
		add(m.Path)
	}
	return all
}

// Close ends the watchers and waits for them.
func (p *Provider) Close() {
	p.stop()
	p.wg.Wait()
}
