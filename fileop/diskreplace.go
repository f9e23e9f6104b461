package fileop

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// errNoExchange means that this system, or this file system, cannot do it.
var errNoExchange = errors.New("names cannot be exchanged here")

// Replace implements Replacer. Where the system can, the new file and the old one
// exchange their names, and what was exchanged is looked at afterwards: whatever somebody
// saved until that very moment is found, and put back. Elsewhere the old file is looked
// at just before the rename.
func (d *Disk) Replace(ctx context.Context, path string, old [sha256.Size]byte, data []byte) error {
	expected := digest(old)
	return d.write(ctx, path, data, &expected)
}

// takePlace gives the temporary file the name of the target.
func (w *diskWrite) takePlace(name string) error {
	switch {
	case w.expected == nil:
		return w.folder.Rename(w.temp, name)
	case *w.expected == digest{}:
		return w.takeFreePlace(name)
	}
	err := w.step(stepExchange)
	if err == nil {
		err = exchange(w.folder, w.temp, name)
	}
	switch {
	case errors.Is(err, errNoExchange):
		if found, err := digestIn(w.folder, name); err != nil || found != *w.expected {
			return fmt.Errorf("%s %w", name, ErrStale)
		}
		return w.folder.Rename(w.temp, name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s was deleted: %w", name, ErrStale)
	case err != nil:
		return err
	}
	if found, err := digestIn(w.folder, w.temp); err == nil && found == *w.expected {
		_ = w.folder.Remove(w.temp) // what stood there; the change is made all the same
		return nil
	}
	if err := exchange(w.folder, w.temp, name); err != nil {
		kept := w.temp
		w.temp = "" // it holds somebody's text
		return fmt.Errorf("%s was changed while it was written, and what stood in it is now in %s: %w", name, kept, err)
	}
	return fmt.Errorf("%s %w", name, ErrStale)
}

// takeFreePlace gives the temporary file a name that nothing has.
func (w *diskWrite) takeFreePlace(name string) error {
	err := w.step(stepExchange)
	if err == nil {
		err = renameFree(w.folder, w.temp, name)
	}
	if errors.Is(err, errNoExchange) {
		if _, found := w.folder.Lstat(name); found == nil {
			err = fs.ErrExist
		} else {
			err = w.folder.Rename(w.temp, name)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s was made by somebody else: %w", name, ErrStale)
	}
	return err
}

// digestIn is the digest of a regular file in a folder.
func digestIn(folder *os.Root, name string) (digest, error) {
	f, err := folder.OpenFile(name, os.O_RDONLY|openWithoutWaiting, 0)
	if err != nil {
		return digest{}, err
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	info, err := f.Stat()
	if err != nil {
		return digest{}, err
	}
	if !info.Mode().IsRegular() {
		return digest{}, notRegular(name, info.Mode())
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return digest{}, err
	}
	return digest(sum.Sum(nil)), nil
}

// inFolder does something with the descriptor of a folder.
func inFolder(folder *os.Root, do func(fd int) error) error {
	f, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // a folder holds no data that could be lost
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	if err := conn.Control(func(fd uintptr) { done = do(int(fd)) }); err != nil {
		return err
	}
	return done
}
