// Package keptfile reads and changes small files of the program's own: whole, for
// their owner alone, and in turn with other processes that do the same.
//
// It must not know what the files hold, and must not be used for files of the user's
// workspace, which are fileop's.
package keptfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

var (
	errNotRegular = errors.New("this is not a regular file")
	errOthers     = errors.New("others may write to this file; take that right from them (chmod go-w)")
)

// Read gives what a file holds, nil when there is none. The error says that it cannot
// be read, that it is a link or no regular file, that others may write to it, or that
// it holds more than most bytes.
func Read(path string, most int) ([]byte, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	defer func() { _ = dir.Close() }() // nothing was written through it
	data, err := read(dir, filepath.Base(path), most)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}

func read(dir *os.Root, name string, most int) ([]byte, error) {
	seen, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !seen.Mode().IsRegular():
		return nil, errNotRegular
	case seen.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows":
		return nil, errOthers
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !opened.Mode().IsRegular() { // another one has come in between
		return nil, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		return nil, fmt.Errorf("the file has more than %d bytes", most)
	}
	return data, err
}

// Update replaces what a file holds by what change makes of it; nil when there is no
// file. Others who Update the same file wait for each other, in this process and in
// others; whoever reads sees the file as it was or as it is, never half. Folders that
// are missing are made. With an error, of change or of its own, the file is as it was.
// It waits at most a few seconds for others.
func Update(path string, most int, change func(old []byte) ([]byte, error)) (err error) {
	fail := func(err error) error { return fmt.Errorf("changing %s: %w", path, err) }
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail(err)
	}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fail(err)
	}
	defer func() { _ = dir.Close() }() // what was written is in its files
	name := filepath.Base(path)
	lock, err := acquire(dir, name+".lock")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = lock.release() }() // the lock ends with the file
	old, err := read(dir, name, most)
	if err != nil {
		return fail(err)
	}
	data, err := change(old)
	if err != nil {
		return fail(err)
	}
	if len(data) > most {
		return fail(fmt.Errorf("it would hold more than %d bytes", most))
	}
	if err := replace(dir, name, data); err != nil {
		return fail(err)
	}
	return nil
}

// replace puts a new file in the place of one. The new name outlasts a crash of the
// machine where folders can be synced.
func replace(dir *os.Root, name string, data []byte) error {
	next := name + "." + rand.Text() + ".new"
	f, err := dir.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = dir.Rename(next, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(next))
	}
	if folder, err := dir.Open("."); err == nil {
		_ = folder.Sync() // not every system can
		_ = folder.Close()
	}
	return nil
}
