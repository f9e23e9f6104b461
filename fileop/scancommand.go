package fileop

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"
)

// ScanLimits bound what is looked at around a command.
type ScanLimits struct {
	Files     int           // that are looked at; 0: 50 000
	FileBytes int64         // of the largest file whose contents are kept; 0: 1 MiB
	Bytes     int64         // of contents that are kept beforehand; 0: 128 MiB
	Before    time.Duration // for reading before a command, and as much again for walking; 0: 2 s
	After     time.Duration // the same after it; 0: 5 s
	Changes   int           // that become actions after one command; 0: 2000
}

func (l ScanLimits) filled() ScanLimits {
	set := func(n *int, to int) {
		if *n <= 0 {
			*n = to
		}
	}
	set(&l.Files, 50_000)
	set(&l.Changes, 2000)
	if l.FileBytes <= 0 {
		l.FileBytes = 1 << 20
	}
	if l.Bytes <= 0 {
		l.Bytes = 128 << 20
	}
	if l.Before <= 0 {
		l.Before = 2 * time.Second
	}
	if l.After <= 0 {
		l.After = 5 * time.Second
	}
	return l
}

// Coverage says what the scan around a command could not see to.
type Coverage struct {
	Files    int  // looked at before the command
	Partial  bool // there are more, for which there was no time or which are too many
	Unusable int  // files that cannot be read, or whose names are not UTF-8
	Others   int  // files that somebody else changed meanwhile, which are left out
	NotKept  int  // changed files whose bytes from before were not kept
	Dropped  int  // changes that are too many to be journaled
}

// Note says in a sentence why changes by the command may not be undone; "" if all can.
func (c Coverage) Note() string {
	note := ""
	add := func(format string, args ...any) {
		if note != "" {
			note += "; "
		}
		note += fmt.Sprintf(format, args...)
	}
	if c.Partial {
		add("for want of time or room the files looked at were only %d", c.Files)
	}
	if c.NotKept > 0 {
		add("changed files whose contents from before were not kept: %d", c.NotKept)
	}
	if c.Unusable > 0 {
		add("files that could not be looked at: %d", c.Unusable)
	}
	if c.Others > 0 {
		add("files that the user changed meanwhile, which are not taken for the command's: %d", c.Others)
	}
	if c.Dropped > 0 {
		add("changes beyond those that are taken down: %d", c.Dropped)
	}
	if note != "" {
		note = "Not every change by this command can be undone: " + note + "."
	}
	return note
}

// CommandScans finds what commands change, by looking at the files on disk before
// and after each. Files that are ignored are not looked at. What it has seen it
// remembers, so that only what has changed is read again.
//
// It serves one command at a time; its methods wait for each other.
type CommandScans struct {
	operator *Operator
	journal  *Journal
	limits   ScanLimits
	now      func() time.Time

	mu      sync.Mutex
	scratch scratch
	files   map[string]*scanned // as they were when they were looked at last
	round   uint32              // of the latest pass over them
}

// scanned is what is known of a file.
type scanned struct {
	stat   fingerprint
	at     time.Time // before it was looked at
	id     ContentID // "": its bytes were not read
	kept   stretch   // where in the scratch file its bytes are
	inside bool      // they are there
	round  uint32    // of the pass that came by it last
}

// certain tells whether a file with the same fingerprint has the same bytes. A file
// that was changed shortly before it was looked at may have been changed again
// within the resolution of its times.
func (s *scanned) certain() bool {
	return s.stat.changed().Before(s.at.Add(-s.stat.resolution()))
}

// timeResolution is that of the coarsest file systems, fineResolution that of those which
// tell parts of a second, with room: their clock ticks every 1 to 10 ms.
const (
	timeResolution = 2 * time.Second
	fineResolution = 100 * time.Millisecond
)

// resolution is how far apart two changes of a file must be to be told apart for sure.
func (p fingerprint) resolution() time.Duration {
	if p.written%int64(time.Second) == 0 {
		return timeResolution
	}
	return fineResolution
}

// NewCommandScans makes a scanner that keeps contents in a scratch file of its own.
func NewCommandScans(o *Operator, j *Journal, s Scratch, l ScanLimits) *CommandScans {
	l = l.filled()
	return &CommandScans{
		operator: o, journal: j, limits: l, now: time.Now,
		scratch: scratch{file: s, limit: l.Bytes}, files: map[string]*scanned{},
	}
}

// CommandScan is a scan that waits for its command to end.
type CommandScan struct {
	scans    *CommandScans
	began    time.Time
	coverage Coverage
	unsaved  map[string]bool     // by path: the editor held another text than the disk
	ended    time.Time           // when nothing of the command ran any more; zero: not known
	came     map[string]*scanned // after it: the files that may be others than before
	stayed   int                 // after it: how many of the files from before were come by
}

// Before looks at the files ahead of a command. An error is ctx's, or one of walking
// the roots; the command may be run all the same, its changes are not found then.
func (s *CommandScans) Before(ctx context.Context) (*CommandScan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidy()
	scan := &CommandScan{scans: s, began: s.now(), came: map[string]*scanned{}}
	p := pass{scans: s, want: s.unknown}
	if err := p.run(ctx, s.limits.Before); err != nil {
		return nil, fmt.Errorf("looking at the files before the command: %w", err)
	}
	if p.files != len(s.files) {
		maps.DeleteFunc(s.files, func(_ string, f *scanned) bool { return f.round != s.round })
	}
	scan.coverage = Coverage{Files: p.files, Partial: p.partial, Unusable: p.unusable}
	scan.unsaved = s.operator.unsavedFiles(ctx)
	return scan, nil
}

// unknown gives what is known of a file that a pass came by, and whether its bytes have
// to be read.
func (s *CommandScans) unknown(path string, stat fingerprint) (*scanned, bool) {
	f := s.files[path]
	small := stat.size <= s.limits.FileBytes
	if f != nil && f.stat == stat && f.certain() && (f.id != "" || !small) {
		f.round = s.round
		return f, false
	}
	f = &scanned{stat: stat, at: s.now(), round: s.round}
	s.files[path] = f
	return f, small
}

// tidy starts over when most of the scratch file holds what nobody needs any more.
func (s *CommandScans) tidy() {
	if s.scratch.used <= s.limits.Bytes/2 {
		return
	}
	live := int64(0)
	for _, f := range s.files {
		if f.inside {
			live += f.kept.n
		}
	}
	if live < s.scratch.used/2 {
		s.scratch.reset()
		clear(s.files)
	}
}
