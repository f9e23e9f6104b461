package policycmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"kimi-acp/internal/policy"
)

// look tells what the disk says of a path.
func look(path string) policy.PathFacts {
	p := policy.PathFacts{Path: path, Kind: policy.Missing}
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

// resolve follows the links of a path whose last names may not exist yet.
func resolve(path string) (string, error) {
	path = filepath.Clean(path)
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if target, err := os.Readlink(path); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
			path = filepath.Clean(target)
			continue
		}
		dir := filepath.Dir(path)
		if dir == path {
			return path, nil
		}
		parent, err := resolve(dir)
		if err != nil {
			return "", err
		}
		return filepath.Join(parent, filepath.Base(path)), nil
	}
	return "", errors.New("too many links")
}
