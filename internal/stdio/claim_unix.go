//go:build unix

package stdio

import (
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

const (
	stdin  = 0
	stdout = 1
	stderr = 2
)

func claim() (in, out *os.File, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = null.Close() }() // what was made of it stays open

	fdIn, err := private(stdin)
	if err != nil {
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	fdOut, err := private(stdout)
	if err != nil {
		_ = unix.Close(fdIn)
		return nil, nil, fmt.Errorf("standard output: %w", err)
	}
	// Looked at before anything moves.
	waitIn, waitOut := ownPipe(fdIn, fdOut, stderr), ownPipe(fdOut, fdIn, stderr)

	if waitOut {
		smallPipe(fdOut)
	}
	if err := replace(stderr, stdout); err != nil {
		_ = unix.Close(fdIn)
		_ = unix.Close(fdOut)
		return nil, nil, fmt.Errorf("point standard output at standard error: %w", err)
	}
	if err := replace(int(null.Fd()), stdin); err != nil {
		_ = replace(fdOut, stdout)
		_ = unix.Close(fdIn)
		_ = unix.Close(fdOut)
		return nil, nil, fmt.Errorf("point standard input at the null device: %w", err)
	}

	// Not ignored but caught, since children inherit what is ignored, and programs in a
	// pipeline rely on being ended by it. Nobody needs to read the channel.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)

	return file(fdIn, "protocol input", waitIn), file(fdOut, "protocol output", waitOut), nil
}

// private duplicates a descriptor out of the standard ones, closed in children.
func private(fd int) (int, error) {
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, stderr+1)
}

// ownPipe reports whether fd is a pipe or socket, and not the same one as any of the
// others. Only such a one may be made non-blocking: the mode belongs to the open file,
// and others that use it would suddenly fail to read or write.
func ownPipe(fd int, others ...int) bool {
	var own unix.Stat_t
	if unix.Fstat(fd, &own) != nil {
		return false
	}
	if kind := own.Mode & unix.S_IFMT; kind != unix.S_IFIFO && kind != unix.S_IFSOCK {
		return false
	}
	for _, o := range others {
		var other unix.Stat_t
		if unix.Fstat(o, &other) == nil && other.Dev == own.Dev && other.Ino == own.Ino {
			return false
		}
	}
	return true
}

func file(fd int, name string, nonblocking bool) *os.File {
	if nonblocking {
		// Without it the file works too, but takes no deadlines.
		_ = unix.SetNonblock(fd, true)
	}
	return os.NewFile(uintptr(fd), name)
}
