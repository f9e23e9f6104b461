package fileop

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// openFolder is a folder that is held open, so that what is in it is reached by a
// single name: a part of its path that is exchanged for a link meanwhile leads
// nowhere else. Its methods may be called at once, but for close.
type openFolder interface {
	// list gives up to n of the folder's entries, without . and .., in no order.
	list(n int) ([]fs.DirEntry, error)
	// folder opens a folder in it, which must not be a link.
	folder(name string) (openFolder, error)
	// file opens a file in it without waiting for anything.
	file(name string) (openFile, error)
	// fingerprint looks at a regular file in it; anything else is fs.ErrNotExist.
	fingerprint(name string) (fingerprint, error)
	// close lets go of the folder.
	close()
}

// openFile is a file to be read from its beginning.
type openFile interface {
	Read(p []byte) (int, error)
	Close() error
	// size gives its bytes, or ErrNotRegular for what is no regular file.
	size(name string) (int64, error)
}

// sharedFolder is an openFolder that is closed by the last of its users.
type sharedFolder struct {
	openFolder
	users atomic.Int32
}

func share(f openFolder) *sharedFolder {
	s := &sharedFolder{openFolder: f}
	s.users.Store(1)
	return s
}

func (s *sharedFolder) retain() { s.users.Add(1) }

func (s *sharedFolder) release() {
	if s.users.Add(-1) == 0 {
		s.close()
	}
}

// read gives a file's bytes, in buf where they fit.
func (s *sharedFolder) read(ctx context.Context, path string, limit int64, buf []byte) ([]byte, error) {
	f, err := s.file(filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	size, err := f.size(path)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, &SizeError{Path: path, Size: size, Max: limit}
	}
	if int64(cap(buf)) <= size {
		buf = make([]byte, size+size/4+512)
	}
	return fill(ctx, f, path, limit, buf[:cap(buf)])
}

// rootFolder is an openFolder over os.Root, for every system.
type rootFolder struct{ *os.Root }

func (r rootFolder) list(n int) ([]fs.DirEntry, error) {
	f, err := r.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	return readSome(f, n)
}

func (r rootFolder) folder(name string) (openFolder, error) {
	info, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errors.New("it is no folder any more")
	}
	sub, err := r.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return rootFolder{sub}, nil
}

func (r rootFolder) file(name string) (openFile, error) {
	f, err := r.OpenFile(name, os.O_RDONLY|openWithoutWaiting, 0)
	if err != nil {
		return nil, err
	}
	return rootFile{f}, nil
}

func (r rootFolder) fingerprint(name string) (fingerprint, error) {
	info, err := r.Lstat(name)
	if err != nil {
		return fingerprint{}, err
	}
	return fingerprintIn(info, name)
}

func (r rootFolder) close() { _ = r.Close() }

type rootFile struct{ *os.File }

func (f rootFile) size(name string) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, notRegular(name, info.Mode())
	}
	return info.Size(), nil
}

// readSome lists up to n entries of a folder.
func readSome(f *os.File, n int) ([]fs.DirEntry, error) {
	entries, err := f.ReadDir(n)
	if errors.Is(err, io.EOF) {
		err = nil // it is empty
	}
	return entries, err
}

// fill reads a file into buf, which grows as far as limit.
func fill(ctx context.Context, r io.Reader, path string, limit int64, buf []byte) ([]byte, error) {
	n := 0
	for {
		if n == len(buf) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			buf = append(buf, make([]byte, len(buf))...)
		}
		m, err := r.Read(buf[n:])
		n += m
		switch {
		case int64(n) > limit:
			return nil, &SizeError{Path: path, Size: int64(n), Max: limit}
		case errors.Is(err, io.EOF):
			return buf[:n], nil
		case err != nil:
			return nil, err
		}
	}
}
