package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/proc"
)

// Options say what Servers work with. Roots, Runner and Read must be set.
type Options struct {
	Roots []string // absolute; files outside of them are not asked about
	// Trusted tells whether servers may be started for the files of a root: they run
	// what the workspace says. Nil: for none.
	Trusted func(root string) bool
	Runner  *proc.Runner
	Environ []string // of all servers, already without secrets
	Servers []Server // the first that serves a file is used; nil: Builtin()
	// Read gives the text of a file as the user sees it.
	Read func(ctx context.Context, path string) (string, error)
	// Unsaved lists files whose text may differ from what is on disk. Nil: none do.
	Unsaved func() []string
	// Scan gives the files of a root that are wanted, for what is found without a
	// server; visits may come side by side. Nil: only files that are named are looked at.
	Scan   func(ctx context.Context, root string, want func(path string) bool, visit func(path string, data []byte)) error
	Slots  *Slots       // bounds the servers of all that share it; nil: of its own
	Logger *slog.Logger // nil: slog.Default

	pace pace // the zero value is the usual one
}

// pace says when servers are started and ended, and how long they are waited for.
type pace struct {
	idle    time.Duration // after which a server that nobody asks is ended
	trust   time.Duration // between looks whether the workspace of a server is still trusted
	backOff time.Duration // after the first failure; twice as long after each further one
	now     func() time.Time

	check    time.Duration // that an edit waits
	baseline time.Duration // of it, for how things stood before
	gather   time.Duration // that a provider takes
	settle   time.Duration // that a file has to be left alone by a server
}

// filled is the pace with the usual one where it says nothing.
func (p pace) filled() pace {
	if p.now == nil {
		p.now = time.Now
	}
	p.idle = cmp.Or(p.idle, idleTime)
	p.trust = cmp.Or(p.trust, trustTime)
	p.backOff = cmp.Or(p.backOff, backOffTime)
	p.check = cmp.Or(p.check, longestCheck)
	p.baseline = cmp.Or(p.baseline, baselineCheck)
	p.gather = cmp.Or(p.gather, gatherTime)
	p.settle = cmp.Or(p.settle, settleTime)
	return p
}

// The usual pace, and the bounds on servers.
const (
	idleTime      = 10 * time.Minute
	trustTime     = 3 * time.Second
	backOffTime   = 2 * time.Second
	maxFailures   = 3               // within failureTime: then a server is given up
	failureTime   = 3 * time.Minute //
	longestWarmUp = 5 * time.Minute // that a server may read the workspace before it answers
	missingTime   = time.Minute     // until it is looked again for a program that is not there
	MaxServers    = 6               // servers of one process, where Slots do not say otherwise
)

// Servers are the language servers of a session. They may be used by several goroutines
// at once; Close ends them.
type Servers struct {
	o    Options
	ctx  context.Context //nolint:containedctx // the life of the servers
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu     sync.Mutex
	posts  map[post]*watch
	closed bool
	edited []string // files that were edited, the latest last
}

var _ contextprovider.Code = (*Servers)(nil)

// post is a place where a server may work.
type post struct{ name, dir string }

// watch is what is known of a server at its post. It is guarded by the mu of Servers.
type watch struct {
	root     string        // whose trust it needs
	client   *client       // nil: none runs
	starting chan struct{} // closed when the start that is under way is over; nil: none is
	failures []time.Time
	rest     time.Time // until then it is not started
	why      string    // it does not run
	used     time.Time
}

// New makes Servers and starts none.
func New(o Options) *Servers {
	if o.Trusted == nil {
		o.Trusted = func(string) bool { return false }
	}
	if o.Servers == nil {
		o.Servers = Builtin()
	}
	if o.Unsaved == nil {
		o.Unsaved = func() []string { return nil }
	}
	if o.Slots == nil {
		o.Slots = NewSlots(MaxServers)
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.pace = o.pace.filled()
	s := &Servers{o: o, posts: map[post]*watch{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends all servers and waits for them, which is short: they are killed.
func (s *Servers) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.wg.Wait()
}

// rootOf is the root that a file lies in, "" for none.
func (s *Servers) rootOf(path string) string {
	best := ""
	for _, root := range s.o.Roots {
		rel, err := filepath.Rel(root, path)
		if err == nil && filepath.IsLocal(rel) && len(root) > len(best) {
			best = root
		}
	}
	return best
}

// errStarting says that a server will be there later.
var errStarting = errors.New("the language server is starting")

// forFile gives the server for a file. One that does not run is started; with wait it is
// waited for until ctx ends, otherwise the error is errStarting. Where none can be had,
// the error wraps contextprovider.ErrNoServer.
func (s *Servers) forFile(ctx context.Context, path string, wait bool) (*client, error) {
	refuse := func(format string, args ...any) (*client, error) {
		return nil, fmt.Errorf("%w: %s", contextprovider.ErrNoServer, fmt.Sprintf(format, args...))
	}
	root := s.rootOf(path)
	if root == "" {
		return refuse("it lies outside of the workspace")
	}
	i := slices.IndexFunc(s.o.Servers, func(v Server) bool { return v.serves(path) })
	if i < 0 {
		return refuse("none is known for %s files", strings.TrimPrefix(filepath.Ext(path), "."))
	}
	if !s.o.Trusted(root) {
		return refuse("the workspace is not trusted, so nothing of it is run")
	}
	server := s.o.Servers[i]
	p := post{server.Name, server.home(path, root)}

	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return refuse("the session is over")
	}
	w := s.posts[p]
	if w == nil {
		w = &watch{root: root}
		s.posts[p] = w
	}
	w.used = s.o.pace.now()
	if w.client != nil {
		defer s.mu.Unlock()
		return w.client, nil
	}
	if w.starting == nil {
		if w.used.Before(w.rest) {
			defer s.mu.Unlock()
			return refuse("%s", w.why)
		}
		if !s.o.Slots.take() {
			s.mu.Unlock()
			return refuse("too many of them run already")
		}
		w.starting = make(chan struct{})
		s.wg.Go(func() {
			defer s.o.Slots.give()
			s.serve(w, server, p.dir, path)
		})
	}
	starting := w.starting
	s.mu.Unlock()
	if !wait {
		return nil, errStarting
	}
	select {
	case <-starting:
	case <-ctx.Done():
		return nil, fmt.Errorf("%s is not ready yet: %w", server.Name, ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.client == nil {
		return refuse("%s", w.why)
	}
	return w.client, nil
}

// serve runs a server from its start, for a file, to its end.
func (s *Servers) serve(w *watch, server Server, dir, path string) {
	began := s.o.pace.now()
	c, err := open(s.ctx, server, dir, s.o)
	s.mu.Lock()
	w.client = c
	close(w.starting)
	w.starting = nil
	if err != nil {
		s.failed(w, server, err)
	}
	s.mu.Unlock()
	if err != nil {
		return
	}
	s.o.Logger.Info("a language server runs", "server", server.Name, "started_ms", s.o.pace.now().Sub(began).Milliseconds())
	s.wg.Go(func() { s.warm(c, path) })
	crashed, grace := s.await(w, c)
	c.end(grace)
	if !crashed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed(w, server, fmt.Errorf("%s ended by itself: %s", server.Name, firstLine(c.service.Complaint())))
}

// warm waits until a server answers about a file: many read the whole workspace first.
func (s *Servers) warm(c *client, path string) {
	ctx, cancel := context.WithTimeout(s.ctx, longestWarmUp)
	defer cancel()
	text, err := s.o.Read(ctx, path)
	if err != nil {
		return // a file that is gone: another one will do
	}
	if _, _, err := c.documents.syncSince(0, path, text); err != nil && !errors.Is(err, errOvertaken) {
		return
	}
	err = c.conn.Call(ctx, protocol.MethodTextDocumentDocumentSymbol, protocol.DocumentSymbolParams{TextDocument: identifier(path)}, nil)
	var refused *jsonrpc.Error
	if err == nil || errors.As(err, &refused) {
		c.warm.Store(true)
	}
}

// await returns when a server is over, or is to be ended with some grace. From then on
// nobody is given the server.
func (s *Servers) await(w *watch, c *client) (crashed bool, grace time.Duration) {
	defer func() {
		s.mu.Lock()
		w.client = nil
		s.mu.Unlock()
	}()
	idle := time.NewTimer(s.o.pace.idle)
	defer idle.Stop()
	trust := time.NewTicker(s.o.pace.trust)
	defer trust.Stop()
	for {
		select {
		case <-c.over:
			return s.ctx.Err() == nil, 0
		case <-s.ctx.Done():
			return false, 0
		case <-trust.C:
			if s.o.Trusted(w.root) {
				continue
			}
			s.o.Logger.Info("a language server is ended, since its workspace is no longer trusted", "server", c.server.Name)
			return false, 0
		case <-idle.C:
		}
		s.mu.Lock()
		left := s.o.pace.idle - s.o.pace.now().Sub(w.used)
		if left <= 0 {
			w.client = nil
		}
		s.mu.Unlock()
		if left <= 0 {
			s.o.Logger.Info("a language server that nobody asks is ended", "server", c.server.Name)
			return false, longestGoodbye
		}
		idle.Reset(left)
	}
}

// failed notes a failure and when to try again; mu is held.
func (s *Servers) failed(w *watch, server Server, err error) {
	now := s.o.pace.now()
	if errors.Is(err, exec.ErrNotFound) {
		w.why, w.rest = server.Command[0]+" is not installed", now.Add(missingTime)
		return
	}
	w.failures = slices.DeleteFunc(append(w.failures, now), func(t time.Time) bool { return now.Sub(t) > failureTime })
	w.why = clip(err.Error(), maxMessage)
	w.rest = now.Add(s.o.pace.backOff << (len(w.failures) - 1))
	if len(w.failures) >= maxFailures {
		w.why = fmt.Sprintf("%s failed %d times and is not started again in this session (%s)", server.Name, len(w.failures), w.why)
		w.rest = now.Add(1000 * time.Hour)
	}
	s.o.Logger.Warn("a language server failed", "server", server.Name, "failures", len(w.failures), "error", clip(err.Error(), maxMessage))
}

// running are the servers that run, and may.
func (s *Servers) running() []*client {
	trusted := map[string]bool{} // by root: it is read from a file
	for _, root := range s.rootsInUse() {
		trusted[root] = s.o.Trusted(root)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*client
	for _, w := range s.posts {
		if w.client != nil && trusted[w.root] {
			w.used = s.o.pace.now()
			all = append(all, w.client)
		}
	}
	slices.SortFunc(all, func(a, b *client) int { return strings.Compare(a.server.Name+a.dir, b.server.Name+b.dir) })
	return all
}

// rootsInUse are the roots in which a server runs, each once.
func (s *Servers) rootsInUse() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var roots []string
	for _, w := range s.posts {
		if w.client != nil && !slices.Contains(roots, w.root) {
			roots = append(roots, w.root)
		}
	}
	return roots
}

// ready is the server for a file if it runs and has shown that it knows something, nil
// otherwise. One that does not run is started.
func (s *Servers) ready(ctx context.Context, path string) *client {
	c, err := s.forFile(ctx, path, false)
	if err != nil || !c.warm.Load() {
		return nil
	}
	return c
}
