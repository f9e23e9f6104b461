package config

import (
	"context"
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// An edit is over when nothing has happened for settleTime, or after longestEdit.
// Editors write in several moves, and what lies between them is not meant to be read.
const (
	settleTime  = 100 * time.Millisecond
	longestEdit = time.Second
)

// Source gives the settings as they are now. Its methods may be called by several
// goroutines at once.
type Source struct {
	stop    context.CancelFunc
	running sync.WaitGroup
	read    chan struct{} // Current has read the files; holds one

	mu      sync.Mutex
	loader  *loader
	now     snapshot
	folders *folders         // nil: nothing can be watched
	polled  bool             // not all files are watched
	stamps  map[string]stamp // of the files when they were read, kept while polled
}

// snapshot is what one reading gave.
type snapshot struct {
	config   Config
	warnings []Warning
}

// Watch reads the settings as Load does, and again whenever a file of them changes,
// until ctx ends. A file that cannot be read while it is edited keeps what it said
// before, with a warning. Where files cannot be watched, Current looks whether they have
// changed. getenv must be safe for use by several goroutines at once.
//
// onChange, if it is not nil, is called once for each change of the settings or the
// warnings, by a goroutine of the Source and never twice at once. It may call Current
// and must not call Close.
//
// The caller closes the Source.
func Watch(ctx context.Context, getenv func(name string) string, flags Flags, onChange func(Config, []Warning)) *Source {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return watch(ctx, newLoader(getenv, flags), onChange, nil)
	}
	return watch(ctx, newLoader(getenv, flags), onChange, w)
}

// watch is Watch with a watcher, which it closes in the end, or nil for none.
func watch(ctx context.Context, l *loader, onChange func(Config, []Warning), w *fsnotify.Watcher) *Source {
	ctx, stop := context.WithCancel(ctx)
	s := &Source{stop: stop, read: make(chan struct{}, 1), loader: l}
	var (
		events chan fsnotify.Event
		lost   chan error
	)
	if w != nil {
		s.folders, events, lost = &folders{watcher: w}, w.Events, w.Errors
	}
	s.refresh()
	told := s.now
	tell := func() {
		if now := s.snapshot(); !reflect.DeepEqual(now, told) {
			told = now
			if onChange != nil {
				onChange(now.config, now.warnings)
			}
		}
	}
	s.running.Go(func() {
		s.run(ctx, events, lost, tell)
		if w != nil {
			// There is nothing to do about a watch that cannot be given back.
			_ = w.Close()
		}
	})
	return s
}

// Current gives the settings now in force, and what was wrong when they were read.
func (s *Source) Current() (Config, []Warning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.polled && !maps.Equal(s.stamps, stampsOf(s.loader.paths())) {
		s.refresh()
		select {
		case s.read <- struct{}{}:
		default: // the goroutine is to look already
		}
	}
	return s.now.config, s.now.warnings
}

// Close ends the watching and waits until nothing of it runs any more. From then on
// Current gives what was read last.
func (s *Source) Close() {
	s.stop()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polled = false
}

// run reads the settings again when their files have changed and settled, and calls tell
// after each reading.
func (s *Source) run(ctx context.Context, events <-chan fsnotify.Event, lost <-chan error, tell func()) {
	var (
		settled  <-chan time.Time
		deadline time.Time // of the edit that goes on; zero: none does
	)
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if !s.concerns(e.Name) {
				continue
			}
		case <-lost: //nolint:errcheck // which of them is of no interest: events did not reach us: any file may have changed
		case <-s.read:
			tell()
			continue
		case <-settled:
			settled, deadline = nil, time.Time{}
			s.reload()
			tell()
			continue
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(longestEdit)
		}
		settled = time.After(min(settleTime, time.Until(deadline)))
	}
}

func (s *Source) concerns(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folders.concerns(path)
}

func (s *Source) snapshot() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *Source) reload() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
}

// refresh reads the settings. What changes while it reads is seen again: the folders are
// watched, and the stamps taken, before that.
func (s *Source) refresh() {
	paths := s.loader.paths()
	s.polled = s.folders == nil || !s.folders.watch(paths)
	s.stamps = nil
	if s.polled {
		s.stamps = stampsOf(paths)
	}
	s.now.config, s.now.warnings = s.loader.load()
}
