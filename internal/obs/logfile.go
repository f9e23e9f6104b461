package obs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const (
	logName    = "kimi-acp.log"
	maxLogMiB  = 10
	maxBackups = 3

	privateDir  = 0o700
	privateFile = 0o600
)

// logFile is the file behind the log, opened at the first write. Writes never fail as
// far as the caller can see: the first failure is told to warn, once.
type logFile struct {
	dir  string
	warn func(error) // called with mu held

	mu     sync.Mutex
	out    *rotating
	dead   bool // closed, or could not be opened
	warned bool
}

func (f *logFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return len(p), nil
	}
	if f.out == nil {
		if err := f.open(); err != nil {
			f.dead = true
			f.warnOnce(err)
			return len(p), nil
		}
	}
	// A full disk may have room again later, so a failed write is not the end.
	if _, err := f.out.Write(p); err != nil {
		f.warnOnce(err)
	}
	return len(p), nil
}

// open makes folder and file private, also those that an earlier version or another
// program left open to others.
func (f *logFile) open() error {
	if err := makeFolder(f.dir); err != nil {
		return err
	}
	path := filepath.Join(f.dir, logName)
	out, err := openRotating(path, maxLogMiB<<20, maxBackups)
	if err != nil {
		return err
	}
	if err := tighten(path, privateFile); err != nil {
		return errors.Join(err, out.Close())
	}
	f.out = out
	return nil
}

// makeFolder makes the folder of the logs, or makes the one that is there private.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, privateDir); err != nil {
		return fmt.Errorf("make the log folder: %w", err)
	}
	return tighten(dir, privateDir)
}

// tighten takes from others whatever rights they have beyond mode.
func tighten(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at the log's permissions: %w", err)
	}
	if info.Mode().Perm()&^mode == 0 {
		return nil
	}
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("make the log private: %w", err)
	}
	return nil
}

func (f *logFile) warnOnce(err error) {
	if !f.warned {
		f.warned = true
		f.warn(err)
	}
}

func (f *logFile) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
	if f.out == nil {
		return nil
	}
	err := f.out.Close()
	f.out = nil
	if err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("close the log: %w", err)
	}
	return nil
}
