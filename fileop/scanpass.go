package fileop

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"
)

// pass is one walk over the files around a command.
type pass struct {
	scans *CommandScans
	// want gives what is known of a file, and whether its bytes are to be read into it.
	want func(path string, stat fingerprint) (f *scanned, read bool)
	stop time.Time // when no more is read

	mu       sync.Mutex // of what is below, of what want knows, and of the scratch
	files    int        // that were come by
	reading  map[string]*scanned
	partial  bool
	unusable int
}

// run walks for a limited time. What is not reached in time is no error.
func (p *pass) run(ctx context.Context, limit time.Duration) error {
	p.scans.round++
	p.reading = map[string]*scanned{}
	p.stop = p.scans.now().Add(limit)
	timed, cancel := context.WithTimeout(ctx, 2*limit)
	defer cancel()
	files := p.scans.limits.Files
	err := p.scans.operator.Scan(timed, "", ScanOptions{
		WalkOptions: WalkOptions{MaxEntries: 4 * files},
		Workers:     4,
		MaxFile:     MaxEdit,
		Want:        func(e Entry) bool { return p.wants(e, files) },
		Visit:       p.visited,
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrWalkLimit), timed.Err() != nil:
		p.partial = true
		return nil
	}
	return err
}

func (p *pass) wants(e Entry, limit int) bool {
	// The look at the disk comes before the lock: readers may be waiting for that.
	stat, err := e.folder.fingerprint(filepath.Base(e.Path))
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !utf8.ValidString(e.Path):
		p.unusable++
		return false
	case p.files >= limit:
		p.partial = true
		return false
	case err != nil:
		if !errors.Is(err, fs.ErrNotExist) {
			p.unusable++
		}
		return false
	}
	p.files++
	f, read := p.want(e.Path, stat)
	if !read || !p.scans.now().Before(p.stop) {
		return false
	}
	p.reading[e.Path] = f
	return true
}

func (p *pass) visited(_ int, e Entry, data []byte, err error) {
	if err != nil {
		if !errors.Is(err, ErrTooLarge) && !errors.Is(err, fs.ErrNotExist) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.unusable++
		}
		return
	}
	id := contentID(data)
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.reading[e.Path]; f != nil {
		p.scans.remember(f, id, data)
		delete(p.reading, e.Path)
	}
}

// remember keeps what was read of a file.
func (s *CommandScans) remember(f *scanned, id ContentID, data []byte) {
	f.id = id
	if int64(len(data)) <= s.limits.FileBytes {
		f.kept, f.inside = s.scratch.add(data)
	}
}
