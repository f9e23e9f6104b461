package fileop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const (
	maxPath  = 4096 // bytes
	maxLinks = 40   // dangling links followed one after the other
)

// folder is a workspace root under both of its names.
type folder struct {
	name string // as given, cleaned
	real string // with symbolic links resolved
}

// place is a path that lies inside a root.
type place struct {
	name string // clean and absolute, as the user and the editor write it
	real string // the same with symbolic links resolved
	root int    // index of the root
	rel  string // real, relative to the root's real path
}

// folders are the roots that may be touched. Paths are judged by where they lead,
// so a link that leaves them is outside and an alias that enters them is inside.
type folders []folder

// newFolders resolves the roots. One that cannot be resolved keeps its clean name,
// so that everything below it is still judged by name.
func newFolders(roots []string) folders {
	f := make(folders, 0, len(roots))
	for _, r := range roots {
		name := filepath.Clean(r)
		real, err := filepath.EvalSymlinks(name)
		if err != nil {
			real = name
		}
		f = append(f, folder{name: name, real: real})
	}
	return f
}

// locate judges a path; a relative one begins at the first root. Errors are ErrPath
// and ErrOutside, ErrNotRegular for a path below a file, or why the path could not
// be followed: one that cannot be followed is never taken at its name.
func (f folders) locate(path string) (place, error) {
	name, err := f.clean(path)
	if err != nil {
		return place{}, err
	}
	real, err := realPath(name)
	if errors.Is(err, syscall.ENOTDIR) {
		return place{}, fmt.Errorf("%s: %w: a part of the path is a file", name, ErrNotRegular)
	}
	if err != nil {
		return place{}, fmt.Errorf("following %s: %w", name, err)
	}
	at, rel, ok := f.holding(real)
	if !ok {
		return place{}, f.outside(name, real)
	}
	if _, _, ok := f.named(name); !ok {
		name = filepath.Join(f[at].name, rel)
	}
	return place{name: name, real: real, root: at, rel: rel}, nil
}

// clean makes a path absolute without looking at the disk.
func (f folders) clean(path string) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("%w: it is empty; name a file", ErrPath)
	case len(path) > maxPath:
		return "", fmt.Errorf("%w: %d bytes, at most %d", ErrPath, len(path), maxPath)
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("%w: %q holds a NUL byte", ErrPath, path)
	case path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`):
		return "", fmt.Errorf("%w: %q: ~ is not expanded here; write the absolute path", ErrPath, path)
	}
	if err := windowsPath(path, runtime.GOOS == "windows"); err != nil {
		return "", err
	}
	switch {
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	case len(f) == 0:
		return "", fmt.Errorf("%s: %w: no folder is open", path, ErrOutside)
	}
	return filepath.Join(f[0].name, path), nil
}

// holding finds the deepest root whose real path holds real.
func (f folders) holding(real string) (at int, rel string, ok bool) {
	return f.deepest(real, func(r folder) string { return r.real })
}

// named finds the deepest root whose name holds name.
func (f folders) named(name string) (at int, rel string, ok bool) {
	return f.deepest(name, func(r folder) string { return r.name })
}

func (f folders) deepest(path string, of func(folder) string) (at int, rel string, ok bool) {
	for i, r := range f {
		below, err := filepath.Rel(of(r), path)
		if err != nil || !filepath.IsLocal(below) {
			continue
		}
		if !ok || len(below) < len(rel) {
			at, rel, ok = i, below, true
		}
	}
	return at, rel, ok
}

func (f folders) outside(name, real string) error {
	names := make([]string, len(f))
	for i, r := range f {
		names[i] = r.name
	}
	leads := ""
	if real != name {
		leads = " leads to " + real + ","
	}
	return fmt.Errorf("%s:%s %w (%s)", name, leads, ErrOutside, strings.Join(names, ", "))
}

// realPath resolves the links of a path by its deepest existing ancestor, and goes
// on through a link whose target does not exist yet: that is where a write ends up.
func realPath(path string) (string, error) {
	rest := ""
	for links := 0; ; {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(path)
		if target, err := os.Readlink(path); err == nil {
			if links++; links > maxLinks {
				return "", fmt.Errorf("%w: too many links", ErrPath)
			}
			if path = target; !filepath.IsAbs(target) {
				path = filepath.Join(parent, target)
			}
			continue
		}
		if parent == path {
			return "", err
		}
		path, rest = parent, filepath.Join(filepath.Base(path), rest)
	}
}
