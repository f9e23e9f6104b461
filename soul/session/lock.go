package session

import (
	"errors"
	"fmt"
	"os"
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
		switch err := lockFile(f); {
		case errors.Is(err, errLocked):
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

// errLocked is what lockFile gives when somebody else has the lock.
var errLocked = errors.New("the file is locked")

// heldLock is a lock that was taken.
type heldLock struct{ file *os.File }

// Close gives the lock back, before the file is closed: a process that is being
// started has all files for a moment, and would keep the lock for as long.
func (l heldLock) Close() error {
	unlockFile(l.file)
	return l.file.Close()
}
