package fileop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// MaxWalk is how many files and folders a walk looks at by default.
	MaxWalk = 1_000_000
	// maxWalkDepth is how deep a walk goes below where it begins.
	maxWalkDepth = 128
)

// ErrWalkLimit ends a walk that has looked at as many files and folders as it may.
var ErrWalkLimit = errors.New("too many files")

// WalkOptions say what a walk gives.
type WalkOptions struct {
	IncludeIgnored bool // also what ignore files name
	MaxEntries     int  // files and folders that are looked at, ignored ones too; 0: MaxWalk
	MaxDepth       int  // levels below where the walk begins; 0: all, up to 128
	// Enter tells whether a folder that was given is looked into; nil: all are.
	Enter func(Entry) bool
}

// Entry is a file or folder that a walk came by.
type Entry struct {
	Path string      // absolute, under the name that its root was given
	Rel  string      // from where the walk began, with slashes; "." for a file that it began at
	Type fs.FileMode // the type bits: 0 is a regular file

	folder *sharedFolder // that holds it; open while the walk stands at the entry
}

// IsDir tells folders from everything else.
func (e Entry) IsDir() bool { return e.Type.IsDir() }

// Walk gives what is in a folder and below it, or the file that path is; with an
// empty path, what is in all roots. The order is always the same: by name, byte by
// byte, a folder before what is in it, one root after the other.
//
// What .gitignore files and a repository's info/exclude ignore is left out, by git's
// rules but without git: the index is not asked, so a tracked file that is ignored
// is left out too. A path that is named itself is walked even if it is ignored.
// Folders in which version control keeps its data are never given. Symbolic links
// are given and not followed; a path that leads through one is judged by where it
// leads, and its entries are named by where they are.
//
// An error comes with the entry that it is about, and the walk goes on with the
// next one. It ends after ErrWalkLimit, after ctx's error, and after an error with a
// zero Entry, which says that path could not be walked: those of Resolve, or why it
// cannot be opened, as an error that wraps fs.ErrNotExist where there is nothing.
func (d *Disk) Walk(ctx context.Context, path string, o WalkOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := walker{options: o, left: o.MaxEntries, yield: yield}
		if w.left <= 0 {
			w.left = MaxWalk
		}
		if w.options.MaxDepth <= 0 || w.options.MaxDepth > maxWalkDepth {
			w.options.MaxDepth = maxWalkDepth
		}
		if path != "" {
			p, err := d.folders.locate(path)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			d.walkFrom(ctx, &w, p, Entry{})
			return
		}
		for i, f := range d.folders {
			if d.folders.within(i) {
				continue
			}
			root := place{name: f.name, real: f.real, root: i, rel: "."}
			if !d.walkFrom(ctx, &w, root, Entry{Path: f.name, Type: fs.ModeDir}) {
				return
			}
		}
	}
}

// within tells whether a root lies in another one, whose walk gives it, or stands
// in the list twice.
func (f folders) within(i int) bool {
	return slices.ContainsFunc(f[:i], func(r folder) bool { return r.real == f[i].real }) ||
		slices.ContainsFunc(f, func(r folder) bool {
			rel, err := filepath.Rel(r.real, f[i].real)
			return err == nil && rel != "." && filepath.IsLocal(rel)
		})
}

// walkFrom walks one tree; false: the whole walk is to end. An error that keeps it
// from beginning is given with failed.
func (d *Disk) walkFrom(ctx context.Context, w *walker, p place, failed Entry) bool {
	root := d.folders[p.root]
	path := filepath.Join(root.name, p.rel)
	info, err := d.roots[p.root].Lstat(p.rel)
	if err != nil {
		return w.yield(failed, d.explain(path, "looking at", err))
	}
	folder, file := p.rel, ""
	if !info.IsDir() {
		folder, file = filepath.Dir(p.rel), filepath.Base(p.rel)
	}
	opened, err := openIn(d.roots[p.root], folder, filepath.Join(root.real, folder))
	if err != nil {
		return w.yield(failed, d.explain(path, "opening", err))
	}
	shared := share(opened)
	defer shared.release()
	if file != "" {
		return w.yield(Entry{Path: path, Rel: ".", Type: info.Mode().Type(), folder: shared}, nil)
	}
	at := standpoint{folder: shared, path: path, real: filepath.Join(root.real, folder), depth: 1}
	if !w.options.IncludeIgnored {
		at.rules, at.ruled = rulesAbove(at.real, root.real)
	}
	return w.below(ctx, at)
}

// walker is one walk. It serves one goroutine.
type walker struct {
	options WalkOptions
	left    int // entries that may still be looked at
	yield   func(Entry, error) bool
}

// standpoint is a folder that a walk has come to, under its names.
type standpoint struct {
	folder *sharedFolder
	path   string       // absolute, as the user writes it
	real   string       // with links resolved
	rel    string       // from where the walk began, with slashes, "" there
	ruled  string       // from where the rules begin, with slashes, "" there
	rules  *ignoreLevel // of the folders above
	depth  int          // of what is in it, 1 where the walk began
}

// below gives what is in a folder; false: the walk is to end.
func (w *walker) below(ctx context.Context, at standpoint) bool {
	// More than are left, so that the order and the folder's own rules are right up
	// to the limit.
	entries, err := at.folder.list(MaxWalk + 1)
	if err != nil {
		return w.yield(Entry{Path: at.path, Rel: at.rel, Type: fs.ModeDir}, fmt.Errorf("listing %s: %w", at.path, err))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if !w.options.IncludeIgnored {
		at.rules = at.enterRules(entries)
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			w.yield(Entry{}, err)
			return false
		}
		if w.left == 0 {
			w.yield(Entry{Path: at.path, Rel: at.rel, Type: fs.ModeDir}, fmt.Errorf("%s: %w", at.path, ErrWalkLimit))
			return false
		}
		w.left--
		name := entry.Name()
		if isVersionControl(name) || at.rules.ignored(joinSlash(at.ruled, name), name, entry.IsDir()) {
			continue
		}
		e := Entry{Path: joinNative(at.path, name), Rel: joinSlash(at.rel, name), Type: entry.Type(), folder: at.folder}
		if !w.yield(e, nil) {
			return false
		}
		if !entry.IsDir() || at.depth == w.options.MaxDepth || w.options.Enter != nil && !w.options.Enter(e) {
			continue
		}
		if !w.enter(ctx, at, e) {
			return false
		}
	}
	return true
}

func (w *walker) enter(ctx context.Context, at standpoint, e Entry) bool {
	name := filepath.Base(e.Path)
	opened, err := at.folder.folder(name)
	if err != nil {
		return w.yield(e, fmt.Errorf("opening %s: %w", e.Path, err))
	}
	shared := share(opened)
	defer shared.release()
	return w.below(ctx, standpoint{
		folder: shared,
		path:   e.Path,
		real:   joinNative(at.real, name),
		rel:    e.Rel,
		ruled:  joinSlash(at.ruled, name),
		rules:  at.rules,
		depth:  at.depth + 1,
	})
}

// enterRules adds the rules of the folder itself, whose entries are known.
func (at standpoint) enterRules(sorted []fs.DirEntry) *ignoreLevel {
	text, repository := "", false
	find := func(name string) (fs.DirEntry, bool) {
		i, ok := slices.BinarySearchFunc(sorted, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
		if !ok {
			return nil, false
		}
		return sorted[i], true
	}
	if e, ok := find(gitFolder); ok {
		repository = e.IsDir() || e.Type().IsRegular()
	}
	if e, ok := find(gitIgnoreFile); ok && e.Type().IsRegular() {
		// One that cannot be read ignores nothing.
		if f, err := at.folder.file(gitIgnoreFile); err == nil {
			if _, err := f.size(gitIgnoreFile); err == nil {
				text = readHead(f, maxIgnoreFile)
			}
			_ = f.Close() // only read: nothing can be lost
		}
	}
	return at.rules.enter(text, repository, at.real, at.ruled)
}

// isVersionControl names the folders, or the files that stand for them, in which
// version control keeps its data.
func isVersionControl(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj", ".bzr", ".sl":
		return true
	}
	return false
}

func joinSlash(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// joinNative joins two clean pieces of a path.
func joinNative(dir, name string) string {
	if strings.HasSuffix(dir, string(filepath.Separator)) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}
