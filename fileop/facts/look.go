// Package facts tells what the disk says of a path: where its links lead and what
// stands there, for whoever judges an action before it is done.
//
// It must not judge, and must not open, read or change a file.
package facts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"kimi-acp/internal/policy"
)

// Look tells what the disk says of an absolute path, which may hold .. and need not
// exist.
func Look(path string) policy.PathFacts {
	p := policy.PathFacts{Path: path, Kind: policy.Missing}
	if behind, ok := door(path); ok {
		p.Real = behind
		return p
	}
	real, err := resolve(path)
	if err != nil {
		p.Failed = true
		return p
	}
	p.Real = real
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case info.IsDir():
		p.Kind = policy.Directory
	case info.Mode().IsRegular():
		p.Kind, p.Links = policy.Regular, links(info)
	default:
		p.Kind = policy.Special
	}
	return p
}

// maxLinks is how many links to missing files are followed.
const maxLinks = 40

// resolve follows the links of a path whose last names may not exist yet. A .. is
// followed as the system does it, so the path is not made clean before.
func resolve(path string) (string, error) {
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", err // below a file there is nothing, which is no door anywhere
		}
		dir, name := split(path)
		if target, err := os.Readlink(path); err == nil {
			if !filepath.IsAbs(target) {
				target = dir + string(filepath.Separator) + target
			}
			path = target
			continue
		}
		if dir == path || name == ".." {
			return "", err
		}
		parent, err := resolve(dir)
		if err != nil {
			return "", err
		}
		return filepath.Join(parent, name), nil
	}
	return "", errors.New("too many links")
}

// split parts the last name from a path.
func split(path string) (dir, name string) {
	trimmed := strings.TrimRight(path, string(filepath.Separator))
	i := strings.LastIndexByte(trimmed, filepath.Separator)
	if i < 0 {
		return path, path
	}
	return path[:max(i, 1)], trimmed[i+1:]
}
