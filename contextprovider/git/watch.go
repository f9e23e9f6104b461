package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

const (
	// MaxWatches is how many folders of one work tree are watched.
	MaxWatches = 4000
	// maxRefs bounds the folders of refs that are watched besides.
	maxRefs = 256
)

// Watches bounds what several providers watch together. It may be used by several
// goroutines at once.
type Watches struct {
	mu   sync.Mutex
	left int
}

// NewWatches makes a bound of n folders.
func NewWatches(n int) *Watches { return &Watches{left: n} }

// take gives up to n watches.
func (w *Watches) take(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = min(n, w.left)
	w.left -= n
	return n
}

func (w *Watches) give(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left += n
}

// watchesTrees tells whether watching a folder costs one watch. Where the system
// watches by open files, each file in it costs one.
func watchesTrees() bool { return runtime.GOOS == "linux" || runtime.GOOS == "windows" }

// watcher notices what happens in a repository.
type watcher struct {
	stop context.CancelFunc
	done chan struct{}
}

func (w *watcher) end() {
	w.stop()
	<-w.done
}

// watch begins to watch a repository, beside everything else. What cannot be watched
// is asked for with each prompt.
func (p *Provider) watch(r *repository) *watcher {
	ctx, stop := context.WithCancel(p.ctx)
	w := &watcher{stop: stop, done: make(chan struct{})}
	p.wg.Go(func() {
		defer close(w.done)
		if p.o.Folders == nil || !watchesTrees() {
			return
		}
		s := sight{repository: r, o: p.o, watched: map[string]bool{}}
		if err := s.run(ctx); err != nil && ctx.Err() == nil {
			p.o.Logger.Debug("a repository is not watched; git is asked with each prompt", "error", err)
		}
	})
	return w
}

// sight is one watcher at work. It is used by one goroutine.
type sight struct {
	*repository
	o       Options
	notify  *fsnotify.Watcher
	watched map[string]bool // the folders of the work tree
	taken   int             // of o.Watches
}

var errTooMany = errors.New("there are more folders than are watched")

func (s *sight) run(ctx context.Context) (err error) {
	// Large enough for what a checkout does while we look the other way.
	if s.notify, err = fsnotify.NewBufferedWatcher(4096); err != nil {
		return err
	}
	defer func() {
		s.watching(false)
		_ = s.notify.Close() // it holds nothing but descriptors
		s.o.Watches.give(s.taken)
	}()
	if err := s.watchRepository(); err != nil {
		return err
	}
	if err := s.watchTree(ctx); err != nil {
		return err
	}
	s.watching(true)
	// The first prompt after this finds everything ready.
	if _, err := s.state(ctx); err != nil {
		s.o.Logger.Debug("git could not be asked", "error", err)
	}
	s.o.noticed("watching")
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-s.notify.Events:
			if !ok {
				return errors.New("the watcher ended")
			}
			if s.seen(e) {
				if err := s.again(ctx); err != nil {
					return err
				}
			}
			s.o.noticed(e.Name)
		case err := <-s.notify.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return err
			}
			if err := s.again(ctx); err != nil {
				return err
			}
		}
	}
}

// again looks for folders after something happened that may have made some.
func (s *sight) again(ctx context.Context) error {
	s.watching(false) // until they are watched too
	if err := s.watchTree(ctx); err != nil {
		return err
	}
	s.watching(true)
	return nil
}

// watchRepository watches index, HEAD and refs. Their folders are watched, since git
// replaces the files.
func (s *sight) watchRepository() error {
	if err := s.notify.Add(s.git); err != nil {
		return err
	}
	if s.common != s.git {
		if err := s.notify.Add(s.common); err != nil {
			return err
		}
	}
	n := 0
	err := filepath.WalkDir(filepath.Join(s.common, "refs"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // what cannot be listed cannot be watched
		}
		if n++; n > maxRefs {
			return errTooMany
		}
		return s.notify.Add(path)
	})
	return err
}

// watchTree watches the folders of the work tree that are not watched yet.
func (s *sight) watchTree(ctx context.Context) error {
	all, ok := s.o.Folders(ctx, s.top, MaxWatches)
	if !ok {
		return errTooMany
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	there := make(map[string]bool, len(all))
	for _, dir := range all {
		there[dir] = true
		if s.watched[dir] {
			continue
		}
		if s.o.Watches.take(1) == 0 {
			return errTooMany
		}
		s.taken++
		if err := s.notify.Add(dir); err != nil {
			if os.IsNotExist(err) {
				continue // gone again, which is an event of its own
			}
			return err
		}
		s.watched[dir] = true
	}
	for dir := range s.watched {
		if !there[dir] {
			_ = s.notify.Remove(dir) // it may be gone already
			delete(s.watched, dir)
			s.o.Watches.give(1)
			s.taken--
		}
	}
	return nil
}

// seen takes in an event; true: the folders have to be looked for again.
func (s *sight) seen(e fsnotify.Event) bool {
	dir := filepath.Dir(e.Name)
	if within(dir, s.git) || within(dir, s.common) {
		if strings.HasSuffix(e.Name, ".lock") {
			return false // what it becomes is an event too
		}
		s.shaken()
		if e.Has(fsnotify.Create) && within(dir, filepath.Join(s.common, "refs")) {
			if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
				_ = s.notify.Add(e.Name) // else its branches are seen when HEAD moves
			}
		}
		return false
	}
	if e.Op == fsnotify.Chmod {
		s.touched(e.Name)
		return false
	}
	if s.watched[e.Name] { // a folder of ours went away
		return e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	}
	switch filepath.Base(e.Name) {
	case ".gitignore", ".gitmodules", ".git":
		return true
	}
	if e.Has(fsnotify.Create) {
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
			return true
		}
	}
	s.touched(e.Name)
	return false
}

// within tells whether a path is a folder or lies in it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+string(filepath.Separator))
}
