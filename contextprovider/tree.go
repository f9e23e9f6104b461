package contextprovider

import (
	"context"
	"iter"
	"path/filepath"
	"slices"

	"kimi-acp/fileop"
)

// Walker walks the files on disk by the rules of ignore files; *fileop.Operator is
// one. Its methods may be called at once.
type Walker interface {
	Walk(ctx context.Context, path string, o fileop.WalkOptions) iter.Seq2[fileop.Entry, error]
}

// Bounds on the tree.
const (
	maxTreeFolders = 8
	maxTreeEntries = 40   // that are listed of a folder
	maxTreeLooked  = 2000 // that are looked at
)

// Tree tells what lies near the files that a prompt is about.
type Tree struct {
	Walker Walker
	// Always also lists the roots when nothing is in focus.
	Always bool
}

// Name is "tree".
func (Tree) Name() string { return sectionTree }

// Gather lists the folders of the files in focus, the nearest first, and the roots.
// Where nothing is in focus it tells nothing: a model can list folders itself.
func (t Tree) Gather(ctx context.Context, q Query) (Facts, error) {
	focus := q.Focus()
	if len(focus) == 0 && !t.Always {
		return Facts{}, nil
	}
	marked := make(map[string]bool, len(focus))
	var folders []string
	add := func(dir string) {
		if len(folders) < maxTreeFolders && !slices.Contains(folders, dir) && inRoots(q.Roots, dir) {
			folders = append(folders, dir)
		}
	}
	if len(focus) > 0 {
		add(filepath.Dir(focus[0]))
	}
	for _, root := range q.Roots {
		add(root)
	}
	for _, path := range focus {
		marked[path] = true
		add(filepath.Dir(path))
	}
	var facts Facts
	for _, dir := range folders {
		if f, ok := t.list(ctx, dir, marked); ok {
			facts.Tree = append(facts.Tree, f)
		}
	}
	return facts, ctx.Err()
}

// list lists a folder. When it holds too much, what is in focus comes first.
func (t Tree) list(ctx context.Context, dir string, marked map[string]bool) (TreeFolder, bool) {
	f := TreeFolder{Path: dir}
	var first, rest []string
	for e, err := range t.Walker.Walk(ctx, dir, fileop.WalkOptions{MaxDepth: 1, MaxEntries: maxTreeLooked}) {
		if err != nil {
			break // what was seen by then is worth telling
		}
		name := filepath.Base(e.Path)
		if e.IsDir() {
			name += "/"
		}
		if marked[e.Path] {
			first = append(first, name)
		} else {
			rest = append(rest, name)
		}
	}
	n := len(first) + len(rest)
	if n == 0 {
		return f, false
	}
	all := append(slices.Clone(first), rest...)
	if n > maxTreeEntries {
		f.More = n - maxTreeEntries
		all = all[:maxTreeEntries]
	}
	slices.Sort(all)
	f.Entries = all
	return f, true
}

// inRoots tells whether a folder is a root or lies in one, by its name.
func inRoots(roots []string, dir string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		rel, err := filepath.Rel(root, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}
