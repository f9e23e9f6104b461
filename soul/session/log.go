package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// log appends to a file that other programs know. Each append is one write, on a
// line of its own. The first failure is final: what comes after a gap is worth less
// than no more at all, and after a failed sync nothing is certain any more.
//
// It is used by one goroutine at a time.
type log struct {
	dir    folder
	name   string
	shared bool // others may append in between
	file   file
	size   int64
	mtime  time.Time
	bare   bool // the last line has no end
	failed error
}

// openLog opens a file for appending, and makes it if need be.
func openLog(dir folder, name string, shared bool) (*log, error) {
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	l := &log{dir: dir, name: name, shared: shared, file: f}
	if err := l.look(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// look takes over the state of the file.
func (l *log) look() error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.size, l.mtime, l.bare = info.Size(), info.ModTime(), false
	if l.size > 0 {
		var last [1]byte
		if _, err := l.file.ReadAt(last[:], l.size-1); err != nil {
			return fmt.Errorf("reading the end of %s: %w", l.name, err)
		}
		l.bare = last[0] != '\n'
	}
	return nil
}

// append writes whole lines. It gives the offset at which they begin.
func (l *log) append(lines []byte, sync bool) (at int64, err error) {
	if l.failed != nil {
		return 0, l.failed
	}
	if err := l.tryAppend(lines, sync); err != nil {
		l.failed = fmt.Errorf("writing %s: %w", l.name, err)
		return 0, l.failed
	}
	return l.size - int64(len(lines)), nil
}

func (l *log) tryAppend(lines []byte, sync bool) error {
	if err := l.check(); err != nil {
		return err
	}
	if l.bare {
		lines = append([]byte{'\n'}, lines...)
	}
	n, err := l.file.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err != nil {
		// Half a record helps nobody. When it cannot be taken back, the next opening
		// finds it.
		_ = cut(l.dir, l.name, l.size)
		return err
	}
	if sync {
		if err := l.file.Sync(); err != nil {
			return err
		}
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.size, l.mtime, l.bare = l.size+int64(n), info.ModTime(), false
	return nil
}

// check tells whether the file is as this log left it, and still has its name.
func (l *log) check() error {
	mine, err := l.file.Stat()
	if err != nil {
		return err
	}
	named, err := l.dir.Lstat(l.name)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	switch {
	case !os.SameFile(mine, named):
		return ErrChanged
	case mine.Size() == l.size && mine.ModTime().Equal(l.mtime):
		return nil
	case l.shared:
		return l.look()
	default:
		return ErrChanged
	}
}

// sync makes what was appended outlast a crash of the machine.
func (l *log) sync() {
	if l.failed != nil {
		return
	}
	if err := l.file.Sync(); err != nil {
		l.failed = fmt.Errorf("writing %s: %w", l.name, err)
	}
}

// cut shortens a file. A handle that can only append cannot do that everywhere.
func cut(dir folder, name string, size int64) error {
	f, err := dir.OpenFile(name, os.O_RDWR)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
