package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Real gives the path of a folder with every link resolved. The error says that there
// is no such folder.
func Real(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the folder: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("finding the folder: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("finding the folder: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", real)
	}
	return real, nil
}

// repository tells whether a folder is a git repository of its own, as git would see
// it: a clone, a worktree or a submodule, or a bare one. What cannot be looked at
// counts as one.
func repository(dir string) bool {
	if there(dir, ".git") {
		return true
	}
	return there(dir, "HEAD") && there(dir, "objects") && there(dir, "refs")
}

func there(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return !errors.Is(err, os.ErrNotExist)
}

// tooWide says why a folder cannot be trusted as a whole, nil when it can.
func (s *Store) tooWide(real string) error {
	switch home := s.realHome(); {
	case filepath.Dir(real) == real:
		return fmt.Errorf("%s is everything that there is; trust the folder of a project", real)
	case real == home:
		return fmt.Errorf("%s is your home folder; trust the folder of a project", real)
	case home != "" && within(real, home):
		return fmt.Errorf("%s holds your home folder; trust the folder of a project", real)
	}
	if info, err := os.Stat(real); err == nil && info.Mode().Perm()&0o002 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("everybody may write to %s; trust a folder within it", real)
	}
	return nil
}

func (s *Store) realHome() string {
	if s.home == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(s.home); err == nil {
		return real
	}
	return s.home
}

// within tells whether a path is a folder or lies in it.
func within(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
