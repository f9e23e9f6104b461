//go:build unix

package fileop

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// fdFolder is an openFolder over a bare descriptor. Where tens of thousands of
// files are read, half the time of os.Root and os.File goes into what is not needed
// here: a second look at each entry, finalizers, the poller.
type fdFolder struct {
	fd   int
	path string // for systems whose listings do not tell folders from files
}

const openFolderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// openIn opens a folder of a root. path is its real path.
func openIn(root *os.Root, rel, path string) (openFolder, error) {
	f, err := root.Open(rel)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var folder openFolder
	control := conn.Control(func(fd uintptr) {
		folder, err = fdFolder{fd: int(fd), path: path}.folder(".")
	})
	return folder, errors.Join(control, err)
}

func (d fdFolder) list(n int) ([]fs.DirEntry, error) {
	fd, err := openat(d.fd, ".", openFolderFlags)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), d.path)
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	return readSome(f, n)
}

func (d fdFolder) folder(name string) (openFolder, error) {
	fd, err := openat(d.fd, name, openFolderFlags)
	if err != nil {
		return nil, err
	}
	path := d.path
	if name != "." {
		path += string(os.PathSeparator) + name
	}
	return fdFolder{fd: fd, path: path}, nil
}

func (d fdFolder) file(name string) (openFile, error) {
	fd, err := openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return fdFile(fd), nil
}

func (d fdFolder) fingerprint(name string) (fingerprint, error) { return fingerprintAt(d.fd, name) }

func (d fdFolder) close() { _ = unix.Close(d.fd) }

type fdFile int

func (f fdFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(f), p)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f fdFile) Close() error { return unix.Close(int(f)) }

func (f fdFile) size(name string) (int64, error) {
	var info unix.Stat_t
	for {
		if err := unix.Fstat(int(f), &info); err == nil {
			break
		} else if !errors.Is(err, unix.EINTR) {
			return 0, err
		}
	}
	switch info.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return info.Size, nil
	case unix.S_IFDIR:
		return 0, notRegular(name, fs.ModeDir)
	case unix.S_IFIFO:
		return 0, notRegular(name, fs.ModeNamedPipe)
	}
	return 0, notRegular(name, fs.ModeIrregular)
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
