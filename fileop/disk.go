package fileop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// MaxFile is the largest file that a Store reads or writes, in bytes.
const MaxFile = 64 << 20

// Disk is a Store over folders on disk. It holds each root open, so a path that is
// exchanged for a link while it is being used still cannot lead outside, and opens the
// folders of a path one by one, so it does not lead elsewhere inside either. Not kept
// on writing: extended attributes, access control lists, and hard links: a file with
// several names becomes one of its own, and the other names keep the old text.
type Disk struct {
	folders folders
	roots   []*os.Root

	// making is held while parents are made and a first file is put in them, and
	// while empty ones are taken back, so that no writer loses its folder to another.
	making sync.Mutex
	tidied map[tidied]bool // under making

	// before is called ahead of each step of a write, and its error is taken for the
	// step's. It is nil but in tests.
	before func(step) error
}

var _ Store = (*Disk)(nil)

// OpenDisk opens the given absolute folders. They must exist.
func OpenDisk(roots ...string) (*Disk, error) {
	d := &Disk{folders: newFolders(roots)}
	for _, f := range d.folders {
		if !filepath.IsAbs(f.name) {
			return nil, errors.Join(fmt.Errorf("%w: root %q is not absolute", ErrPath, f.name), d.Close())
		}
		r, err := os.OpenRoot(f.real)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("opening the workspace root: %w", err), d.Close())
		}
		d.roots = append(d.roots, r)
	}
	return d, nil
}

// Close lets go of the roots. No other method may be called afterwards.
func (d *Disk) Close() error {
	var errs []error
	for _, r := range d.roots {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Read implements Store. It never waits for a pipe's other end.
func (d *Disk) Read(ctx context.Context, path string) ([]byte, error) {
	p, root, err := d.place(ctx, path)
	if err != nil {
		return nil, err
	}
	folder, missing, err := enter(root, filepath.Dir(p.rel))
	if err != nil {
		return nil, d.explain(path, "reading", err)
	}
	defer func() { _ = folder.Close() }() // only read: nothing can be lost
	if missing != "" {
		return nil, d.explain(path, "reading", &fs.PathError{Op: "open", Path: missing, Err: fs.ErrNotExist})
	}
	data, err := readRegular(ctx, folder, p)
	if err != nil {
		return nil, d.explain(path, "reading", err)
	}
	return data, nil
}

func (d *Disk) place(ctx context.Context, path string) (place, *os.Root, error) {
	if err := ctx.Err(); err != nil {
		return place{}, nil, err
	}
	p, err := d.folders.locate(path)
	if err != nil {
		return place{}, nil, err
	}
	return p, d.roots[p.root], nil
}

// explain names the path in a failure of the operating system. It also tells a path
// that came to lead outside while it was used from other failures, since os.Root
// reports that with an error that cannot be matched.
func (d *Disk) explain(path, doing string, err error) error {
	var one *fs.PathError
	var two *os.LinkError
	if !errors.As(err, &one) && !errors.As(err, &two) && !errors.Is(err, ErrStale) {
		return err
	}
	if _, now := d.folders.locate(path); errors.Is(now, ErrOutside) {
		return now
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}

// readRegular reads a file of a folder.
func readRegular(ctx context.Context, folder *os.Root, p place) ([]byte, error) {
	name := filepath.Base(p.rel)
	// Opening a device can have effects, so it is looked at first; what is opened may
	// be another file by then, so it is looked at again.
	info, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(p.name, info.Mode())
	}
	f, err := folder.OpenFile(name, os.O_RDONLY|openWithoutWaiting, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(p.name, info.Mode())
	}
	return readBounded(ctx, f, p.name, info.Size())
}

func readBounded(ctx context.Context, r io.Reader, name string, size int64) ([]byte, error) {
	if size > MaxFile {
		return nil, &SizeError{Path: name, Size: size, Max: MaxFile}
	}
	const chunk = 1 << 20
	data := make([]byte, 0, size+1)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+chunk)])
		data = data[:len(data)+n]
		if len(data) > MaxFile {
			return nil, &SizeError{Path: name, Size: int64(len(data)), Max: MaxFile}
		}
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
