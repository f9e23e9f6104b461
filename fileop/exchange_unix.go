//go:build linux || darwin

package fileop

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renamed tells what came of a rename: what the system or the file system does not know
// is errNoExchange.
func renamed(from, to string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
		return errNoExchange
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}
