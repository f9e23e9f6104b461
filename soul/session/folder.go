package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// folder is a folder of files that belong to one session. It stands between the
// package and the disk so that every operation can be made to fail. Its methods
// may be called at once; names have no separators.
type folder interface {
	// OpenFile opens a regular file, and refuses anything else, links too. With
	// O_CREATE a missing file is made for its owner alone.
	OpenFile(name string, flag int) (file, error)
	Lstat(name string) (fs.FileInfo, error)
	Names() ([]string, error)
	// Rename replaces what has the name already.
	Rename(from, to string) error
	Remove(name string) error
	// Sync makes names outlast a crash of the machine, where the system can.
	Sync()
}

// file is what is needed of an *os.File. Writes go to its end when it was opened
// with O_APPEND.
type file interface {
	io.ReaderAt
	io.WriteCloser
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// rootFolder is a folder on disk.
type rootFolder struct{ root *os.Root }

func (f rootFolder) OpenFile(name string, flag int) (file, error) {
	info, err := f.root.Lstat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	opened, err := f.root.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	// Files of older programs may be readable by others. What is only read is left
	// as it is.
	if info != nil && flag&(os.O_WRONLY|os.O_RDWR) != 0 && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		if err := opened.Chmod(0o600); err != nil {
			return nil, errors.Join(err, opened.Close())
		}
	}
	return opened, nil
}

func (f rootFolder) Lstat(name string) (fs.FileInfo, error) { return f.root.Lstat(name) }

func (f rootFolder) Names() ([]string, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (f rootFolder) Rename(from, to string) error { return f.root.Rename(from, to) }
func (f rootFolder) Remove(name string) error     { return f.root.Remove(name) }

func (f rootFolder) Sync() {
	dir, err := f.root.Open(".")
	if err != nil {
		return
	}
	_ = dir.Sync() // not every file system can
	_ = dir.Close()
}

var (
	errNotRegular = errors.New("it is not a regular file; links are not followed")
	errNotFolder  = errors.New("it is not a folder; links are not followed")
)

// openFolder opens a folder beneath a root, step by step so that no link is
// followed. With create, what is missing is made, and the last folder is closed to
// others.
func openFolder(root *os.Root, create bool, names ...string) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		next, err := enter(at, name, create, create && i == len(names)-1)
		err = errors.Join(err, at.Close())
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func enter(at *os.Root, name string, create, tighten bool) (*os.Root, error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := at.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = at.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotFolder}
	}
	if tighten && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		if err := at.Chmod(name, 0o700); err != nil {
			return nil, err
		}
	}
	return at.OpenRoot(name)
}

// readFile reads a file of at most max bytes.
func readFile(dir folder, name string, max int64) ([]byte, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > max {
		err = fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), max)
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.NewSectionReader(f, 0, max))
	}
	return data, errors.Join(err, f.Close())
}

// replaceFile puts a file in the place of another one, so that at any time one of
// them is there whole. Temp is a name that nobody else uses.
func replaceFile(dir folder, name, temp string, write func(io.Writer) error) error {
	err := replaceLoosely(dir, name, temp, synced(write))
	if err == nil {
		dir.Sync()
	}
	return err
}

// replaceLoosely is replaceFile for what a crash of the machine may take.
func replaceLoosely(dir folder, name, temp string, write func(file) error) error {
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := writeLoosely(dir, temp, write)
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp) // the next attempt does it otherwise
	}
	return err
}

// writeNew makes a file that was not there before, and leaves none when it fails.
func writeNew(dir folder, name string, write func(io.Writer) error) error {
	return writeLoosely(dir, name, synced(write))
}

// synced waits, after a file was written, until it will outlast a crash of the machine.
func synced(write func(io.Writer) error) func(file) error {
	return func(f file) error {
		if err := write(f); err != nil {
			return err
		}
		return f.Sync()
	}
}

// writeLoosely is writeNew for what a crash of the machine may take.
func writeLoosely(dir folder, name string, write func(file) error) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err != nil {
		_ = dir.Remove(name) // what is left of it is of no use
	}
	return err
}

// contents makes a write function of bytes.
func contents(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}
