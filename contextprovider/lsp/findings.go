package lsp

import (
	"context"
	"maps"
	"sync"
	"time"

	"kimi-acp/contextprovider"
)

// Bounds on what is kept of a server's problems.
const (
	maxFiles   = 400  // files with problems
	maxPerFile = 200  // problems of one file
	maxMessage = 1000 // bytes of one message
)

// settleTime is how long a file has to be left alone by a server before what it says
// counts as all: many tell what is wrong with the syntax first.
const settleTime = 120 * time.Millisecond

// published is what a server last said about a file.
type published struct {
	seq     int64 // counts the publications of a server
	version int   // of the text that it is about, 0: not said
	at      time.Time
	all     []contextprovider.Diagnostic
}

// about tells whether it is about a version of a text that the server was told at a mark,
// or about a later one.
func (p published) about(version int, mark int64) bool {
	return p.version >= version || p.version == 0 && p.seq > mark
}

// findings keeps what a server publishes. It may be used by several goroutines at once.
type findings struct {
	settle time.Duration // see settleTime

	mu      sync.Mutex
	seq     int64
	files   map[string]published
	changed chan struct{} // closed at the next publication
}

func newFindings(settle time.Duration) *findings {
	return &findings{settle: settle, files: map[string]published{}, changed: make(chan struct{})}
}

// put takes in what a server says about a file. A version that we have not reached is a
// server's mistake, and counts as not said.
func (f *findings) put(path string, version, current int, all []contextprovider.Diagnostic) {
	if version < 0 || version > current {
		version = 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	if _, known := f.files[path]; !known && len(f.files) >= maxFiles {
		f.dropOldest()
	}
	f.files[path] = published{seq: f.seq, version: version, at: time.Now(), all: all}
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *findings) dropOldest() {
	oldest := ""
	for path, p := range f.files {
		if oldest == "" || p.seq < f.files[oldest].seq {
			oldest = path
		}
	}
	delete(f.files, oldest)
}

// mark gives the number of the latest publication.
func (f *findings) mark() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

// all gives what is known of every file.
func (f *findings) all() map[string]published {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.files)
}

// quiet waits until a server has published nothing for a moment, or ctx ends.
func (f *findings) quiet(ctx context.Context) {
	for {
		f.mu.Lock()
		var last time.Time
		for _, p := range f.files {
			if p.at.After(last) {
				last = p.at
			}
		}
		changed := f.changed
		f.mu.Unlock()
		rest := time.NewTimer(f.settle - time.Since(last))
		select {
		case <-changed:
			rest.Stop()
		case <-rest.C:
			return
		case <-ctx.Done():
			rest.Stop()
			return
		}
	}
}

// get gives what is known of a file.
func (f *findings) get(path string) (published, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.files[path]
	return p, ok
}

// await waits for what a server says about a version of a file: something published
// after mark that is about this version, or does not say about which, and is not
// followed by anything for a moment. It is false when ctx ended before there was
// anything.
func (f *findings) await(ctx context.Context, path string, version int, mark int64) (published, bool) {
	for {
		f.mu.Lock()
		p, ok := f.files[path]
		changed := f.changed
		f.mu.Unlock()
		ok = ok && p.seq > mark && (p.version == 0 || p.version >= version)
		if !ok {
			select {
			case <-changed:
			case <-ctx.Done():
				return published{}, false
			}
			continue
		}
		quiet := time.NewTimer(f.settle - time.Since(p.at))
		select {
		case <-changed:
			quiet.Stop()
		case <-quiet.C:
			return p, true
		case <-ctx.Done():
			quiet.Stop()
			return p, true
		}
	}
}
