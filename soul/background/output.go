package background

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// How much of an output is kept, in bytes.
const (
	maxTail = 64 << 10 // in memory
	maxFile = 4 << 20  // in each of the two files
)

// The files of an output: when the first is full it takes the place of the second.
const (
	outputFile = "output.log"
	olderFile  = "output.old.log"
)

// output is what a task prints. Of a long one the end is kept.
type output struct {
	mu      sync.Mutex
	tail    []byte
	written int64
	dir     string // of the task; "": nothing is written to files
	file    *os.File
	inFile  int64
	failed  error // of the first write that failed; nothing is written after it
}

// Write takes what was printed. It never fails: what cannot be written to the file is
// kept in memory.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written += int64(len(p))
	o.tail = append(o.tail, p[max(0, len(p)-maxTail):]...)
	if len(o.tail) > 2*maxTail {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-maxTail:]...)
	}
	if o.dir != "" && o.failed == nil {
		o.failed = o.log(p)
	}
	return len(p), nil
}

// log writes to the file. The caller holds the lock.
func (o *output) log(p []byte) error {
	if o.file != nil && o.inFile+int64(len(p)) > maxFile {
		err := errors.Join(o.file.Close(), os.Rename(o.path(outputFile), o.path(olderFile)))
		o.file, o.inFile = nil, 0
		if err != nil {
			return fmt.Errorf("make room for the output of a task: %w", err)
		}
	}
	if o.file == nil {
		f, err := os.OpenFile(o.path(outputFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("keep the output of a task: %w", err)
		}
		o.file = f
	}
	n, err := o.file.Write(p)
	o.inFile += int64(n)
	if err != nil {
		return fmt.Errorf("keep the output of a task: %w", err)
	}
	return nil
}

func (o *output) path(name string) string { return filepath.Join(o.dir, name) }

// last gives at most n bytes of the end, and how many were printed in all.
func (o *output) last(n int) (end []byte, printed int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n = min(n, maxTail, len(o.tail))
	return append([]byte(nil), o.tail[len(o.tail)-n:]...), o.written
}

// close lets go of the file, and gives the first error of writing to it.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		o.failed = errors.Join(o.failed, o.file.Close())
		o.file = nil
	}
	o.dir = ""
	return o.failed
}

// readOutput reads the end of what a task had printed whose process is gone. What
// cannot be read is missing.
func readOutput(dir string) *output {
	o := &output{}
	for _, name := range []string{olderFile, outputFile} {
		text, size, err := readEnd(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		o.written += size
		o.tail = append(o.tail, text...)
	}
	o.tail = o.tail[max(0, len(o.tail)-maxTail):]
	return o
}

// readEnd reads the end of a file.
func readEnd(path string) (text []byte, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fs.ErrInvalid
	}
	at := max(0, info.Size()-maxTail)
	text, err = io.ReadAll(io.NewSectionReader(f, at, maxTail))
	return text, info.Size(), err
}
