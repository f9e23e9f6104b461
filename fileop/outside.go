package fileop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ReadOutside gives the bytes of a regular file that may lie outside of all roots,
// for a caller that has settled that this very file may be read. real is absolute,
// clean, and has no links in it: one that has come to hold a link since is
// ErrMoved. It is read from disk, never from the editor, and no file there can be
// written. Other errors are Read's.
func (o *Operator) ReadOutside(ctx context.Context, real string) ([]byte, error) {
	if !filepath.IsAbs(real) || filepath.Clean(real) != real {
		return nil, fmt.Errorf("%w: %q is not a clean absolute path", ErrPath, real)
	}
	dir, name := filepath.Split(real)
	root, err := descend(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(real)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(real)
	case err == nil && info.Mode()&os.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: %w", real, ErrMoved)
	}
	data, err := readRegular(ctx, root, place{name: real, real: real, rel: name})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", real, err)
	}
	return data, nil
}

// descend opens a folder by the names in its path one after the other, each held
// while the next is looked up, so that none can be exchanged for a link meanwhile.
func descend(dir string) (*os.Root, error) {
	top := filepath.VolumeName(dir) + string(filepath.Separator)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", top, err)
	}
	for _, name := range strings.Split(strings.Trim(dir[len(top)-1:], string(filepath.Separator)), string(filepath.Separator)) {
		if name == "" {
			continue
		}
		next, err := openPlain(root, name)
		_ = root.Close() // nothing was written
		if err != nil {
			return nil, fmt.Errorf("opening %s: %w", dir, err)
		}
		root = next
	}
	return root, nil
}

// openPlain opens a folder that is no link.
func openPlain(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&os.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: %w", name, ErrMoved)
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s: %w", name, ErrMoved)
	}
	if err != nil {
		_ = next.Close() // nothing was written
		return nil, err
	}
	return next, nil
}
