package fileop

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	gitIgnoreFile = ".gitignore"
	gitFolder     = ".git"
	maxAncestors  = 64      // folders above a root in which its repository is looked for
	maxGitPointer = 4 << 10 // bytes of a .git file
)

// ignoreLevel holds the rules of one folder, and those of the folders above it as
// far as its repository reaches. A nil level ignores nothing.
type ignoreLevel struct {
	parent  *ignoreLevel // of the same repository
	rules   ignoreRules  // of the folder's .gitignore
	exclude ignoreRules  // of the repository's info/exclude, beneath all .gitignores
	base    int          // how many bytes of a path lead to this folder
}

// ignored decides about an entry by its path, with slashes, from where the outermost
// repository begins. The folder that holds it is not ignored itself.
func (l *ignoreLevel) ignored(path, name string, isDir bool) bool {
	for level := l; level != nil; level = level.parent {
		if len(level.rules) > 0 {
			if ignored, ok := level.rules.verdict(path[level.base:], name, isDir); ok {
				return ignored
			}
		}
		if level.parent == nil {
			ignored, _ := level.exclude.verdict(path[level.base:], name, isDir)
			return ignored
		}
	}
	return false
}

// enter gives the level of a folder. text is its .gitignore, "" when it has none;
// isRepository says that a repository begins in it; real is where it is, and path
// leads to it as ignored's does, "" for the outermost folder.
func (l *ignoreLevel) enter(text string, isRepository bool, real, path string) *ignoreLevel {
	base := len(path)
	if base > 0 {
		base++ // the slash
	}
	switch {
	case isRepository:
		return &ignoreLevel{rules: parseIgnore(text), exclude: excludeOf(real), base: base}
	case text == "":
		return l
	}
	return &ignoreLevel{parent: l, rules: parseIgnore(text), base: base}
}

// rulesAbove gives the rules that a folder finds in the folders above it, up to the
// one in which its repository begins, and the folder's path from there. Without a
// repository there are none: then rules begin where the workspace does. These files
// may lie outside of the workspace; all that is done with them is to match names.
func rulesAbove(folder, root string) (level *ignoreLevel, path string) {
	top := root
	for dir, n := folder, 0; n < maxAncestors; n++ {
		if beginsRepository(dir) {
			top = dir
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	below, err := filepath.Rel(top, folder)
	if err != nil || below == "." || !filepath.IsLocal(below) {
		return nil, ""
	}
	dir := top
	for name := range strings.SplitSeq(filepath.ToSlash(below), "/") {
		level = level.enter(readSmall(filepath.Join(dir, gitIgnoreFile), maxIgnoreFile), beginsRepository(dir), dir, path)
		dir = filepath.Join(dir, name)
		if path != "" {
			path += "/"
		}
		path += name
	}
	return level, path
}

func beginsRepository(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, gitFolder))
	return err == nil && (info.IsDir() || info.Mode().IsRegular())
}

// excludeOf reads the rules that a repository keeps to itself.
func excludeOf(dir string) ignoreRules {
	git := filepath.Join(dir, gitFolder)
	if pointer := readSmall(git, maxGitPointer); pointer != "" {
		// A worktree or submodule: the repository is elsewhere.
		target, ok := strings.CutPrefix(strings.TrimSpace(pointer), "gitdir: ")
		if !ok {
			return nil
		}
		git = below(dir, target)
		if common := strings.TrimSpace(readSmall(filepath.Join(git, "commondir"), maxGitPointer)); common != "" {
			git = below(git, common)
		}
	}
	return parseIgnore(readSmall(filepath.Join(git, "info", "exclude"), maxIgnoreFile))
}

func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readSmall reads the beginning of a regular file; "" when there is none, since an
// ignore file that cannot be read ignores nothing. A link is not followed, as git
// does not either.
func readSmall(path string, limit int64) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openWithoutWaiting, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	return readHead(f, limit)
}

// readHead gives what r holds up to limit, without a last line that is cut: half a
// rule could ignore more than the whole one.
func readHead(r io.Reader, limit int64) string {
	data, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return ""
	}
	if int64(len(data)) == limit {
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	return string(data)
}
