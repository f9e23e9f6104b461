package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// folders watches the folders of files. Not the files themselves: these are often
// replaced by others of the same name, which a watch of the old file does not see.
type folders struct {
	watcher *fsnotify.Watcher
	names   map[string]bool // paths whose events count; all others are an editor's leavings
}

// watch sees to it that the folders of files are watched, those that the files lie in
// after links too, and nothing else. For a folder that does not exist it watches the
// nearest one above. It tells whether all of that could be had.
func (f *folders) watch(paths []string) bool {
	f.names = map[string]bool{}
	wanted := map[string]bool{}
	complete := true
	for _, path := range paths {
		complete = f.watchFolder(path, wanted) && complete
		if target, err := filepath.EvalSymlinks(path); err == nil && target != path {
			complete = f.watchFolder(target, wanted) && complete
		}
	}
	for _, dir := range f.watcher.WatchList() {
		if !wanted[dir] {
			// It may be gone by itself, with its folder.
			_ = f.watcher.Remove(dir)
		}
	}
	return complete
}

// watchFolder watches the nearest folder above a path.
func (f *folders) watchFolder(path string, wanted map[string]bool) bool {
	for {
		dir := filepath.Dir(path)
		f.names[path], f.names[dir] = true, true
		err := f.watcher.Add(dir)
		if err == nil {
			wanted[dir] = true
			return true
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == path {
			return false
		}
		path = dir
	}
}

func (f *folders) concerns(path string) bool { return f.names[filepath.Clean(path)] }

// paths gives all files that settings may come from.
func (l *loader) paths() []string {
	dir := environment{getenv: l.env.getenv, warnings: &warnings{}}.shareDir()
	var all []string
	for _, o := range l.origins(dir) {
		all = append(all, o.path)
		if o.instead != "" {
			all = append(all, o.instead)
		}
	}
	return all
}

// stamp is what tells that a file has changed, without reading it. A file that is not
// there has none.
type stamp struct {
	size     int64
	modified time.Time
}

func stampsOf(paths []string) map[string]stamp {
	all := map[string]stamp{}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all[path] = stamp{size: info.Size(), modified: info.ModTime()}
		}
	}
	return all
}
