package keptfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"kimi-acp/internal/filelock"
)

// How often, and after how long a pause, a lock that others have is tried again.
const (
	lockTries = 200
	lockPause = 10 * time.Millisecond
)

var errBusy = errors.New("another program does not let go of it")

// heldLock is a lock that was taken. It is on a file of its own, which stays: the
// file that it guards is replaced by others.
type heldLock struct{ file *os.File }

func acquire(dir *os.Root, name string) (heldLock, error) {
	if info, err := dir.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return heldLock{}, &fs.PathError{Op: "lock", Path: name, Err: errNotRegular}
	}
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return heldLock{}, err
	}
	for range lockTries {
		err = filelock.Try(f)
		if !errors.Is(err, filelock.ErrLocked) {
			break
		}
		time.Sleep(lockPause)
	}
	if errors.Is(err, filelock.ErrLocked) {
		err = errBusy
	}
	if err != nil {
		return heldLock{}, errors.Join(err, f.Close())
	}
	return heldLock{f}, nil
}

// release gives the lock back, and lets go of its file.
func (l heldLock) release() error {
	filelock.Release(l.file)
	return l.file.Close()
}
