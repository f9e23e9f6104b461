//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// try takes the lock; see Try.
func try(f *os.File) error {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}

// release gives the lock back; see Release.
func release(f *os.File) {
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing the file does it otherwise
}
