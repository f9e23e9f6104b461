package fileop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// enter opens a folder of a root step by step and holds it. A root keeps a path from
// leading outside, but follows links within; here no part may be a link, since what
// was shown and approved is the path with its links resolved. One that became a link
// after that is ErrStale. The caller closes what it gets; missing is the part of the
// path that does not exist.
func enter(root *os.Root, dir string) (folder *os.Root, missing string, err error) {
	folder, err = root.OpenRoot(".")
	if err != nil {
		return nil, "", err
	}
	if dir == "." {
		return folder, "", nil
	}
	parts := strings.Split(dir, string(filepath.Separator))
	for i, part := range parts {
		next, err := openNamed(folder, part)
		if errors.Is(err, fs.ErrNotExist) {
			return folder, filepath.Join(parts[i:]...), nil
		}
		closing := folder.Close()
		if err != nil {
			return nil, "", err
		}
		if closing != nil {
			return nil, "", closing
		}
		folder = next
	}
	return folder, "", nil
}

// openNamed opens one folder in another, and makes sure that it is what stood there under
// the name and not what a link leads to.
func openNamed(folder *os.Root, name string) (*os.Root, error) {
	info, err := folder.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s became a link: %w", name, ErrStale)
	case !info.IsDir():
		return nil, fmt.Errorf("%s: %w: a part of the path is a file", name, ErrNotRegular)
	}
	next, err := folder.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s became a link: %w", name, ErrStale)
	}
	if err != nil {
		_ = next.Close() // only looked at
		return nil, err
	}
	return next, nil
}

// leadsTo tells whether a path still leads to a folder that is held.
func leadsTo(root *os.Root, dir string, held *os.Root) error {
	now, missing, err := enter(root, dir)
	if err != nil {
		return err
	}
	defer func() { _ = now.Close() }() // only looked at
	a, err1 := held.Stat(".")
	b, err2 := now.Stat(".")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if missing != "" || !os.SameFile(a, b) {
		return fmt.Errorf("%s is another folder by now: %w", dir, ErrStale)
	}
	return nil
}
