package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kimi-acp/contextprovider"
)

// Reading the index is what takes git longest in a large repository, whatever it is
// asked about: with 100,000 files ten times as long as all the rest. A single file can
// be held against the last commit without it.

// maxSingles is for how many files that is quicker than one status.
const maxSingles = 4

// single is how a file differs from the last commit.
type single struct {
	same   bool // it does not
	counts counts
	diff   contextprovider.GitDiff
}

// single compares a regular file with the last commit; ok is false where more has to
// be looked at: the file is in neither, has changed its kind or its mode, or git says
// what is not understood.
func (r runner) single(ctx context.Context, path string) (s single, ok bool) {
	rel, err := filepath.Rel(r.dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return s, false
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return s, false
	}
	rel = filepath.ToSlash(rel)
	w, err := r.output(ctx, maxDiff, diffArgs("--numstat", "--patch", "-U3", "HEAD:"+rel, "--", rel)...)
	if err != nil {
		return s, false
	}
	s, ok = parseSingle(w.Stdout, w.Truncated)
	s.diff.Path = path
	return s, ok
}

// parseSingle reads `git diff --numstat --patch` of one file.
func parseSingle(out []byte, cut bool) (s single, ok bool) {
	if len(out) == 0 || string(out) == "\n" {
		return single{same: true}, true
	}
	numbers, patch, found := bytes.Cut(out, []byte("\n\n"))
	f := strings.SplitN(string(numbers), "\t", 3)
	if !found || len(f) != 3 || bytes.IndexByte(numbers, '\n') >= 0 {
		return s, false
	}
	if cut {
		patch = patch[:bytes.LastIndexByte(patch, '\n')+1]
	}
	header, hunks, found := strings.Cut(string(patch), "\n@@ ")
	if strings.Contains(header, "\nold mode ") || strings.Contains(header, "\ndeleted file mode ") || strings.Contains(header, "\nnew file mode ") {
		return s, false
	}
	if f[0] == "-" { // not text
		s.counts = counts{-1, -1}
		return s, !found
	}
	s.counts = counts{number(f[0]), number(f[1])}
	s.diff.Text, s.diff.More = "@@ "+hunks, cut
	return s, found && strings.HasPrefix(header, "diff --git ")
}

// plain tells whether a file, if it has changed, can only differ from the last commit in
// its text: as the index was last seen, it is there as it was committed.
func plain(known contextprovider.GitState, path string) bool {
	if known.NoCommits || known.Sparse {
		return false
	}
	i := slices.IndexFunc(known.Changes, func(c contextprovider.GitChange) bool { return c.Path == path })
	if i < 0 {
		return true
	}
	c := known.Changes[i]
	return c.Staged == 0 && c.Unstaged == 'M' && !c.Mode && !c.Submodule
}

// singles compares files with the last commit, side by side. Those that more has to be
// looked at for are not among the found.
func (r runner) singles(ctx context.Context, paths []string) map[string]single {
	found := map[string]single{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, path := range paths {
		wg.Go(func() {
			s, ok := r.single(ctx, path)
			if !ok {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[path] = s
		})
	}
	wg.Wait()
	return found
}
