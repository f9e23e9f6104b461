package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kimi-acp/contextprovider"
)

// Bounds on what git is asked for.
const (
	maxStatus     = 4 << 20 // bytes of a status
	maxDiff       = 12 << 10
	maxNumstat    = 1 << 20
	maxCounted    = 100       // changed files whose lines are counted
	maxUntracked  = 20        // untracked files whose lines are counted
	maxCountBytes = 256 << 10 // of such a file
	logLength     = 5
	maxSubject    = 200 // bytes of a commit's subject
)

// statusArgs ask for a status that depends on no setting. Submodules are compared by
// their commit alone: to look into one, git would run by that one's settings.
func statusArgs(more ...string) []string {
	return append([]string{"status", "--porcelain=v2", "--branch", "--show-stash", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames"}, more...)
}

// diffArgs ask for differences that run nothing.
func diffArgs(more ...string) []string {
	return append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty"}, more...)
}

// seen is what git told.
type seen struct {
	state contextprovider.GitState
	diffs map[string]contextprovider.GitDiff // those that came with it, by path
	only  []string                           // the files that git was asked about; nil: everything
}

// whole asks for everything.
func (r *repository) whole(ctx context.Context, git runner) (seen, error) {
	g := contextprovider.GitState{Root: r.top}
	var commits []contextprovider.GitCommit
	var wg sync.WaitGroup
	wg.Go(func() { commits = git.log(ctx) })
	args := statusArgs()
	args[len(args)-1] = "--find-renames"
	w, err := git.output(ctx, maxStatus, args...)
	wg.Wait()
	if err != nil {
		return seen{}, err
	}
	parseStatus(whole(w.Stdout, w.Truncated), r.top, &g)
	g.Commits = commits
	r.kind(&g)
	r.operation(&g)
	diffs := r.measure(ctx, git, &g)
	return seen{state: g, diffs: diffs}, nil
}

// whole drops an entry that was cut.
func whole(out []byte, cut bool) []byte {
	if !cut {
		return out
	}
	return out[:bytes.LastIndexByte(out, 0)+1]
}

// separate tells whether changed files can be looked at by themselves: none of them is
// a part of a rename or a conflict, or in a folder that is untracked as a whole.
func separate(g contextprovider.GitState, paths []string) bool {
	if g.MoreChanges > 0 || g.Operation != "" {
		return false
	}
	for _, c := range g.Changes {
		if c.From != "" || c.Conflict {
			return false
		}
		if c.Unstaged == '?' && slices.ContainsFunc(paths, func(p string) bool {
			return strings.HasPrefix(p, c.Path+string(filepath.Separator))
		}) {
			return false
		}
	}
	return true
}

// some asks for a few files and leaves the rest as it is known.
func (r *repository) some(ctx context.Context, git runner, known contextprovider.GitState, paths []string) (seen, error) {
	var alone []string
	for _, path := range paths {
		if len(alone) < maxSingles && plain(known, path) {
			alone = append(alone, path)
		}
	}
	found := git.singles(ctx, alone)
	out := seen{state: known, diffs: map[string]contextprovider.GitDiff{}, only: paths}
	asked := func(c contextprovider.GitChange) bool { return slices.Contains(paths, c.Path) }
	out.state.Changes = slices.DeleteFunc(slices.Clone(known.Changes), asked)
	var rest []string
	for _, path := range paths {
		s, ok := found[path]
		switch {
		case !ok:
			rest = append(rest, path)
		case !s.same:
			out.state.Changes = append(out.state.Changes, contextprovider.GitChange{Path: path, Unstaged: 'M', Added: s.counts.added, Removed: s.counts.removed})
			out.diffs[path] = s.diff
		}
	}
	if len(rest) > 0 {
		w, err := git.output(ctx, maxStatus, append(append(statusArgs(), "--"), r.relative(rest)...)...)
		if err != nil {
			return seen{}, err
		}
		var others contextprovider.GitState
		parseStatus(w.Stdout, r.top, &others)
		if r.newInFolder(known, others) {
			return r.whole(ctx, git)
		}
		r.count(ctx, git, &others, others.Changes, nil)
		out.state.Changes = append(out.state.Changes, others.Changes...)
	}
	// The order of a whole status: what is tracked by name, then the rest by name.
	slices.SortStableFunc(out.state.Changes, func(a, b contextprovider.GitChange) int {
		if (a.Unstaged == '?') != (b.Unstaged == '?') {
			if a.Unstaged == '?' {
				return 1
			}
			return -1
		}
		return strings.Compare(filepath.ToSlash(a.Path), filepath.ToSlash(b.Path))
	})
	return out, nil
}

// newInFolder tells whether a file in a folder has become untracked: all of its folder
// may be, which is told in another way and only by a whole status.
func (r *repository) newInFolder(known, now contextprovider.GitState) bool {
	return slices.ContainsFunc(now.Changes, func(c contextprovider.GitChange) bool {
		return c.Unstaged == '?' && filepath.Dir(c.Path) != r.top &&
			!slices.ContainsFunc(known.Changes, func(k contextprovider.GitChange) bool { return k.Path == c.Path && k.Unstaged == '?' })
	})
}

// relative gives paths as git takes them.
func (r *repository) relative(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if rel, err := filepath.Rel(r.top, p); err == nil && filepath.IsLocal(rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// measure adds to the changes of a state by how many lines they differ from the last
// commit, and gives the diffs that it came by.
func (r *repository) measure(ctx context.Context, git runner, g *contextprovider.GitState) map[string]contextprovider.GitDiff {
	tracked := slices.DeleteFunc(slices.Clone(g.Changes), func(c contextprovider.GitChange) bool { return c.Unstaged == '?' })
	diffs := map[string]contextprovider.GitDiff{}
	if len(tracked) <= maxSingles { // else git has to read its index anyway
		var alone []string
		for _, c := range tracked {
			if plain(*g, c.Path) {
				alone = append(alone, c.Path)
			}
		}
		found := git.singles(ctx, alone)
		for i, c := range g.Changes {
			if s, ok := found[c.Path]; ok && !s.same {
				g.Changes[i].Added, g.Changes[i].Removed = s.counts.added, s.counts.removed
				diffs[c.Path] = s.diff
			}
		}
	}
	r.count(ctx, git, g, g.Changes, diffs)
	return diffs
}

// count adds to changes by how many lines their files differ from the last commit.
// Those whose diffs are known are measured already.
func (r *repository) count(ctx context.Context, git runner, g *contextprovider.GitState, changes []contextprovider.GitChange, known map[string]contextprovider.GitDiff) {
	var tracked []string
	untracked := 0
	for i, c := range changes {
		switch {
		case c.Unstaged == '?':
			if untracked++; untracked <= maxUntracked {
				changes[i].Added = r.lines(ctx, c.Path)
			}
		case known[c.Path].Path == "" && !c.Submodule && len(tracked) < maxCounted:
			tracked = append(tracked, c.Path)
			if c.From != "" {
				tracked = append(tracked, c.From)
			}
		}
	}
	if len(tracked) == 0 {
		return
	}
	args := diffArgs("--numstat", "-z", "--find-renames")
	if g.NoCommits {
		args = append(args, "--cached")
	} else {
		args = append(args, "HEAD")
	}
	w, err := git.output(ctx, maxNumstat, append(append(args, "--"), r.relative(tracked)...)...)
	if err != nil {
		return // the changes are told without
	}
	all := map[string]counts{}
	parseNumstat(whole(w.Stdout, w.Truncated), r.top, all)
	for i, c := range changes {
		if n, ok := all[c.Path]; ok {
			changes[i].Added, changes[i].Removed = n.added, n.removed
		}
	}
}

// lines counts the lines of a file that git does not know; -1: unknown.
func (r *repository) lines(ctx context.Context, path string) int {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCountBytes || r.o.Read == nil {
		return -1
	}
	data, err := r.o.Read(ctx, path)
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return -1
	}
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// log gives the last commits, none where there are none or they cannot be told.
func (r runner) log(ctx context.Context) []contextprovider.GitCommit {
	w, err := r.output(ctx, maxNumstat, "log", "-z", "-n", strconv.Itoa(logLength), "--no-show-signature", "--no-decorate", "--no-color", "--no-notes", "--no-mailmap", "--format=%h %s")
	if err != nil {
		return nil
	}
	var out []contextprovider.GitCommit
	for _, line := range fields(w.Stdout) {
		hash, subject, _ := strings.Cut(line, " ")
		if len(subject) > maxSubject {
			subject = strings.ToValidUTF8(subject[:maxSubject], "") + "…"
		}
		out = append(out, contextprovider.GitCommit{Hash: hash, Subject: subject})
	}
	return out
}

// diff gives the diff of one file against the last commit.
func (r runner) diff(ctx context.Context, path string) (contextprovider.GitDiff, error) {
	if s, ok := r.single(ctx, path); ok {
		return s.diff, nil
	}
	d := contextprovider.GitDiff{Path: path}
	rel, err := filepath.Rel(r.dir, path)
	if err != nil {
		return d, err
	}
	w, err := r.output(ctx, maxDiff, diffArgs("-U3", "HEAD", "--", filepath.ToSlash(rel))...)
	if err != nil {
		return d, err
	}
	text := string(w.Stdout)
	if w.Truncated {
		text, d.More = text[:strings.LastIndexByte(text, '\n')+1], true
	}
	if i := strings.Index(text, "\n@@ "); i >= 0 {
		d.Text = text[i+1:]
	}
	return d, nil
}
