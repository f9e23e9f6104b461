package git

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kimi-acp/contextprovider"
)

// folder is where a repository keeps its data, as far as reading files tells. Nothing
// of git is run to find it.
type folder struct {
	top    string // the top folder of the work tree
	git    string // the folder of this work tree: HEAD, index, what is in progress
	common string // the folder that all work trees share: refs, objects
}

const (
	maxSmall     = 64 << 10 // bytes of a small file of git's
	maxAncestors = 64       // folders above a root in which its repository is looked for
)

// findFolder finds the repository that a folder is in; ok is false when there is
// none.
func findFolder(dir string) (f folder, ok bool) {
	for range maxAncestors {
		if f, ok := folderAt(dir); ok {
			return f, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return folder{}, false
}

func folderAt(dir string) (folder, bool) {
	at := filepath.Join(dir, ".git")
	info, err := os.Lstat(at)
	if err != nil {
		return folder{}, false
	}
	f := folder{top: dir, git: at, common: at}
	if info.Mode().IsRegular() {
		target, ok := strings.CutPrefix(strings.TrimSpace(small(at)), "gitdir: ")
		if !ok {
			return folder{}, false
		}
		f.git = from(dir, target)
		f.common = f.git
		if common := strings.TrimSpace(small(filepath.Join(f.git, "commondir"))); common != "" {
			f.common = from(f.git, common)
		}
	}
	// What is called .git need not be a repository.
	if _, err := os.Lstat(filepath.Join(f.git, "HEAD")); err != nil {
		return folder{}, false
	}
	return f, true
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// small reads the beginning of a regular file, "" when there is none.
func small(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path) //nolint:forbidigo // git's file, not the user's
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(f, maxSmall))
	if err != nil {
		return ""
	}
	return string(data)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}

// head tells what HEAD says.
func (f folder) head(g *contextprovider.GitState) {
	head := strings.TrimSpace(small(filepath.Join(f.git, "HEAD")))
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		g.Branch = strings.TrimPrefix(strings.TrimSpace(ref), "refs/heads/")
		return
	}
	g.Commit = head[:min(len(head), 7)]
}

// kind tells what kind of work tree it is.
func (f folder) kind(g *contextprovider.GitState) {
	g.Linked = f.common != f.git
	g.Submodule = strings.Contains(filepath.ToSlash(f.git), "/.git/modules/")
	if sparse := small(filepath.Join(f.git, "info", "sparse-checkout")); sparse != "" {
		g.Sparse = true
	}
}

// operation tells what is in progress.
func (f folder) operation(g *contextprovider.GitState) {
	at := func(name ...string) string { return filepath.Join(append([]string{f.git}, name...)...) }
	switch {
	case exists(at("rebase-merge")):
		g.Operation = "rebase"
		g.Step = step(small(at("rebase-merge", "msgnum")), small(at("rebase-merge", "end")))
		g.Branch = rebased(small(at("rebase-merge", "head-name")), g.Branch)
	case exists(at("rebase-apply", "applying")):
		g.Operation = "applying of patches (git am)"
		g.Step = step(small(at("rebase-apply", "next")), small(at("rebase-apply", "last")))
	case exists(at("rebase-apply")):
		g.Operation = "rebase"
		g.Step = step(small(at("rebase-apply", "next")), small(at("rebase-apply", "last")))
		g.Branch = rebased(small(at("rebase-apply", "head-name")), g.Branch)
	case exists(at("MERGE_HEAD")):
		g.Operation = "merge"
	case exists(at("CHERRY_PICK_HEAD")):
		g.Operation = "cherry-pick"
	case exists(at("REVERT_HEAD")):
		g.Operation = "revert"
	case exists(at("sequencer", "todo")):
		g.Operation = "cherry-pick or revert of several commits"
	case exists(at("BISECT_LOG")):
		g.Operation = "bisect"
	}
}

// rebased is the branch that a rebase is about: HEAD is detached meanwhile.
func rebased(name, now string) string {
	if branch, ok := strings.CutPrefix(strings.TrimSpace(name), "refs/heads/"); ok && now == "" {
		return branch
	}
	return now
}

func step(n, of string) string {
	n, of = strings.TrimSpace(n), strings.TrimSpace(of)
	if n == "" || of == "" {
		return ""
	}
	return n + "/" + of
}
