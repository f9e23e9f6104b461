package obs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// rotating appends to a file until it would have more than most bytes; then the file
// becomes path.1, what was that path.2, and so on, and the oldest goes. Other processes
// may do the same with the same file: each goes on in the new one as soon as its own is
// full. It is used by one goroutine at a time.
type rotating struct {
	path    string
	most    int64 // bytes of a file; a longer write has a file of its own
	backups int

	file *os.File
	size int64 // of file, when it was last looked at, and what was written since
}

// openRotating opens the file at path, private, or makes it.
func openRotating(path string, most int64, backups int) (*rotating, error) {
	r := &rotating{path: path, most: most, backups: backups}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *rotating) open() error {
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, privateFile)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("open the log: %w", errors.Join(err, file.Close()))
	}
	r.file, r.size = file, info.Size()
	return nil
}

// Write appends p whole. When the file cannot be rotated it goes on growing, which loses
// less than to stop.
func (r *rotating) Write(p []byte) (int, error) {
	var failed error
	// What another process has begun may be as full.
	for range 2 {
		if r.size > 0 && r.size+int64(len(p)) > r.most && failed == nil {
			failed = r.rotate()
		}
	}
	n, err := r.file.Write(p)
	r.size += int64(n)
	return n, errors.Join(err, failed)
}

// rotate begins a new file, or goes on in the one that another process has begun. Where
// that fails the next write tries again.
func (r *rotating) rotate() error {
	ours, err := r.stillThere()
	if err != nil {
		return err
	}
	err = r.file.Close() // some systems rename no open file
	for n := r.backups; ours && n > 0; n-- {
		from := r.path
		if n > 1 {
			from = r.backup(n - 1)
		}
		if renamed := os.Rename(from, r.backup(n)); renamed != nil && !errors.Is(renamed, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("rotate the log: %w", renamed))
		}
	}
	return errors.Join(err, r.open())
}

// stillThere tells whether the open file is the one at the path.
func (r *rotating) stillThere() (bool, error) {
	open, err := r.file.Stat()
	if errors.Is(err, os.ErrClosed) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("rotate the log: %w", err)
	}
	there, err := os.Stat(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("rotate the log: %w", err)
	}
	return os.SameFile(open, there), nil
}

func (r *rotating) backup(n int) string { return fmt.Sprintf("%s.%d", r.path, n) }

// Close closes the file. Nothing is written after it.
func (r *rotating) Close() error { return r.file.Close() }
