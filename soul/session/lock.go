package session

import (
	"errors"
	"fmt"
	"os"

	"kimi-acp/internal/filelock"
)

const lockName = "lock"

// acquire takes the lock of a session: the file named lock in its folder of ours.
// The system gives it back when the process ends, however that happens. A note is
// returned when the file system has no locks and the session is open without one.
func acquire(dir *os.Root) (held heldLock, note string, err error) {
	for range 10 {
		f, err := dir.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return heldLock{}, "", fmt.Errorf("locking the session: %w", err)
		}
		switch err := filelock.Try(f); {
		case errors.Is(err, filelock.ErrLocked):
			return heldLock{}, "", errors.Join(ErrInUse, f.Close())
		case err != nil:
			return heldLock{f}, "the session could not be locked against other programs: " + err.Error(), nil
		}
		// A session that is deleted takes its lock with it; one must hold the file
		// that others will find.
		mine, err := f.Stat()
		if err == nil {
			theirs, err := dir.Lstat(lockName)
			if err == nil && os.SameFile(mine, theirs) {
				return heldLock{f}, "", nil
			}
		}
		if err := (heldLock{f}).Close(); err != nil {
			return heldLock{}, "", err
		}
	}
	return heldLock{}, "", ErrInUse
}

// heldLock is a lock that was taken.
type heldLock struct{ file *os.File }

// Close gives the lock back and closes the file.
func (l heldLock) Close() error {
	filelock.Release(l.file)
	return l.file.Close()
}
