package fileop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kimi-acp/internal/filelock"
)

// step is one of the calls that a write is made of.
type step string

const (
	stepParent step = "make a parent"
	stepCreate step = "create the temporary file"
	stepWrite  step = "write"
	stepMode   step = "set the mode"
	stepSync   step = "sync"
	stepClose  step = "close"
	stepRename step = "rename"
	// stepExchange is a part of the rename, where one is wanted that loses nothing.
	stepExchange step = "exchange"
)

// Write implements Store. The data goes to a temporary file beside the target,
// which then takes the target's place; it has the target's mode. A symbolic link
// inside the roots is followed and stays. On an error nothing has changed, and
// parents that were made for the file are taken back.
func (d *Disk) Write(ctx context.Context, path string, data []byte) error {
	return d.write(ctx, path, data, nil)
}

// write is Write, and with expected Replace.
func (d *Disk) write(ctx context.Context, path string, data []byte, expected *digest) error {
	p, root, err := d.place(ctx, path)
	if err != nil {
		return err
	}
	if len(data) > MaxFile {
		return &SizeError{Path: p.name, Size: int64(len(data)), Max: MaxFile}
	}
	old, err := target(root, p)
	if err != nil {
		return d.explain(path, "writing", err)
	}
	w := diskWrite{disk: d, root: root, dir: filepath.Dir(p.rel), expected: expected}
	defer w.letGo()
	if err := w.run(ctx, p, old, data); err != nil {
		w.takeBack()
		return d.explain(path, "writing", err)
	}
	syncDir(root, w.dir)
	return nil
}

// target looks at what a write would replace; nil means a new file.
func target(root *os.Root, p place) (fs.FileInfo, error) {
	old, err := root.Lstat(p.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !old.Mode().IsRegular():
		return nil, notRegular(p.name, old.Mode())
	case old.Mode().Perm()&0o222 == 0:
		// A rename would get past the mode that protects the file.
		return nil, fmt.Errorf("%s is read-only: %w; make it writable first if it is meant to change", p.name, fs.ErrPermission)
	}
	return old, nil
}

// diskWrite is a write under way and what it has to take back.
type diskWrite struct {
	disk *Disk
	root *os.Root
	dir  string
	made []string // parents, outermost first
	temp string   // in folder; empty: none
	file *os.File // open temporary file, nil: none

	folder *os.Root // dir, held; nil: not yet

	expected *digest // of what is replaced; nil: anything is
}

func (w *diskWrite) run(ctx context.Context, p place, old fs.FileInfo, data []byte) error {
	if err := w.create(old); err != nil {
		return err
	}
	if err := w.fill(old, data); err != nil {
		return err
	}
	if err := w.step(stepRename); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := leadsTo(w.root, w.dir, w.folder); err != nil {
		return err
	}
	return w.takePlace(filepath.Base(p.rel))
}

// letGo closes the folder that was held.
func (w *diskWrite) letGo() {
	if w.folder != nil {
		_ = w.folder.Close() // a folder holds no data that could be lost
	}
}

// create makes the missing parents and the empty temporary file.
func (w *diskWrite) create(old fs.FileInfo) error {
	w.disk.making.Lock()
	defer w.disk.making.Unlock()
	if err := w.makeParents(w.dir); err != nil {
		return err
	}
	if err := w.step(stepCreate); err != nil {
		return err
	}
	folder, missing, err := enter(w.root, w.dir)
	if err != nil {
		return err
	}
	if w.folder = folder; missing != "" {
		return &fs.PathError{Op: "open", Path: missing, Err: fs.ErrNotExist}
	}
	mode := fs.FileMode(0o666) // less the umask
	if old != nil {
		mode = 0o600 // nobody else looks in before the mode is set
	}
	w.disk.tidyOnce(folder, w.dir, w.root)
	temp := tempName()
	f, err := w.folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	w.temp, w.file = temp, f
	_ = filelock.Try(f) // where files cannot be locked, their age says that they are in use
	return nil
}

func (w *diskWrite) makeParents(dir string) error {
	info, err := w.root.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s: %w: a part of the path is a file", dir, ErrNotRegular)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := w.makeParents(parent); err != nil {
			return err
		}
	}
	if err := w.step(stepParent); err != nil {
		return err
	}
	if err := w.root.Mkdir(dir, 0o777); err != nil {
		return err
	}
	w.made = append(w.made, dir)
	return nil
}

// fill writes the data and sees it onto the disk.
func (w *diskWrite) fill(old fs.FileInfo, data []byte) error {
	if err := w.step(stepWrite); err != nil {
		return err
	}
	if _, err := w.file.Write(data); err != nil {
		return err
	}
	if old != nil {
		if err := w.step(stepMode); err != nil {
			return err
		}
		keepOwner(w.file, old)
		if err := w.file.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := w.step(stepSync); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	if err := w.step(stepClose); err != nil {
		return err
	}
	f := w.file
	w.file = nil
	return f.Close()
}

// takeBack removes what a failed write left. What it cannot remove it leaves: the
// error that is reported is the one that stopped the write.
func (w *diskWrite) takeBack() {
	if w.file != nil {
		_ = w.file.Close()
	}
	w.disk.making.Lock()
	defer w.disk.making.Unlock()
	if w.temp != "" {
		_ = w.folder.Remove(w.temp)
	}
	for i := len(w.made) - 1; i >= 0; i-- {
		_ = w.root.Remove(w.made[i]) // fails where another file has come since
	}
}

func (w *diskWrite) step(s step) error {
	if w.disk.before == nil {
		return nil
	}
	return w.disk.before(s)
}
