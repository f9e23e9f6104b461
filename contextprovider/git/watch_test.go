package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kimi-acp/contextprovider"
)

// allFolders lists every folder of a work tree but git's own.
func allFolders(_ context.Context, top string, n int) (all []string, ok bool) {
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // it is gone meanwhile
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			all = append(all, path)
		}
		return nil
	})
	return all, err == nil && len(all) <= n
}

// counted puts a git before the real one that keeps a list of how it was run, and
// gives what reads and empties the list.
func counted(t *testing.T, home string) func() []string {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(home, "runs")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> %q\nexec %q \"$@\"\n", log, real)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() []string {
		data, _ := os.ReadFile(log)
		_ = os.Remove(log) // it need not be there
		return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
}

// watched is a provider that watches a repository of a test.
type watched struct {
	*Provider
	t       *testing.T
	dir     string
	home    string
	noticed chan string
	marks   int
}

func watchRepository(t *testing.T, dir, home string, change func(*Options)) *watched {
	t.Helper()
	w := &watched{t: t, dir: dir, home: home, noticed: make(chan string, 100_000)}
	o := Options{
		Trusted: func(string) bool { return true }, Read: readDisk, Folders: allFolders,
		noticed: func(what string) { w.noticed <- what },
	}
	if change != nil {
		change(&o)
	}
	w.Provider = New(o)
	t.Cleanup(w.Close)
	return w
}

// settle waits until everything that was done before it was taken in: the system tells
// what happened in its order.
func (w *watched) settle() {
	w.t.Helper()
	w.marks++
	mark := filepath.Join(w.dir, fmt.Sprintf(".mark-%d", w.marks))
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		w.t.Fatal(err)
	}
	for what := range w.noticed {
		if what == mark {
			return
		}
	}
}

func (w *watched) await(what string) {
	for got := range w.noticed {
		if got == what {
			return
		}
	}
}

func gather(t *testing.T, p *Provider, dir string) contextprovider.GitState {
	t.Helper()
	facts, err := p.Gather(t.Context(), contextprovider.Query{Roots: []string{dir}, Editor: &contextprovider.EditorState{Active: filepath.Join(dir, "a.txt")}})
	if err != nil || len(facts.Git) != 1 {
		t.Fatalf("%d repositories, %v", len(facts.Git), err)
	}
	return facts.Git[0]
}

func TestWhatIsWatchedIsAsWhatIsAsked(t *testing.T) {
	needsGit(t)
	if !watchesTrees() {
		t.Skip("work trees are not watched on this system")
	}
	dir, home := place(t)
	t.Setenv("HOME", home)
	sh(t, dir, home, "git init -q . && echo '.mark-*' > .git/info/exclude && mkdir sub && echo s > sub/s.txt && printf 'one\\ntwo\\n' > a.txt && git add . && git commit -qm First")
	w := watchRepository(t, dir, home, nil)
	gather(t, w.Provider, dir)
	w.await("watching")
	for _, step := range []string{
		"echo more >> a.txt", "echo less > a.txt", "git add a.txt", "echo again >> a.txt", "git commit -qm Second",
		"git checkout -q a.txt", "echo n > new.txt", "rm new.txt", "mkdir d", "echo d > d/d.txt", "mkdir -p d/e/f && echo f > d/e/f/f.txt",
		"mv d moved", "rm -r moved", "chmod +x a.txt", "git mv a.txt b.txt", "git mv b.txt a.txt", "git checkout -q -b topic",
		"echo t >> sub/s.txt && git commit -qam Third", "git checkout -q main", "git branch -m main trunk", "echo '*.log' > .gitignore", "echo l > x.log",
		"rm .gitignore", "ln -s a.txt link", "echo s >> a.txt", "git stash -q", "git stash pop -q", "git checkout -q a.txt", "git tag v1", "git checkout -q --detach", "git checkout -q trunk",
		"git -c user.name=a -c user.email=b merge -q topic -m Merge", "printf 'one\\r\\n' > a.txt", "printf 'one\\000' > a.txt", "rm a.txt && ln -s new a.txt", "rm a.txt && mkdir a.txt && echo x > a.txt/x", "rm -r a.txt && git checkout -q a.txt", "git update-index --chmod=+x a.txt", "echo x > a.txt", "git reset -q --hard",
		"cp a.txt c.txt && git add -N c.txt", "echo x >> c.txt", "git rm -q --cached c.txt && rm c.txt", "git rm -q --cached sub/s.txt", "echo x >> sub/s.txt", "git reset -q --hard", "echo '*.txt -text' > .gitattributes", "printf 'one\\r\\n' > a.txt", "rm .gitattributes && git checkout -q a.txt",
		"for i in 1 2 3 4 5 6; do echo $i > sub/n$i; done && git add sub && git commit -qm Six", "for i in 1 2 3 4 5 6; do echo x > sub/n$i; done", "git checkout -q sub",
		"rm -r sub", "git checkout -q sub", "git reset -q --hard HEAD~1",
		"i=0; while [ $i -lt 80 ]; do echo x > many$i; i=$((i+1)); done", "rm many*", "for i in 1 2 3; do mkdir -p deep/$i/x && echo $i > deep/$i/x/f; done", "git add deep", "rm deep/2/x/f",
		"mv a.txt A.txt", "git rm -q --cached A.txt 2>/dev/null || true",
	} {
		sh(t, dir, home, step)
		w.settle()
		fresh := New(Options{Trusted: func(string) bool { return true }, Read: readDisk})
		want := gather(t, fresh, dir)
		fresh.Close()
		if diff := cmp.Diff(want, gather(t, w.Provider, dir), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("after %q what is watched differs (- asked, + watched):\n%s", step, diff)
		}
	}
}

func TestAQuietRepositoryIsNotAsked(t *testing.T) {
	needsGit(t)
	if !watchesTrees() {
		t.Skip("work trees are not watched on this system")
	}
	dir, home := place(t)
	t.Setenv("HOME", home)
	sh(t, dir, home, "git init -q . && echo '.mark-*' > .git/info/exclude && printf 'one\\ntwo\\n' > a.txt && echo b > b.txt && git add . && git commit -qm First && echo three >> a.txt")
	runs := counted(t, home)
	w := watchRepository(t, dir, home, nil)
	gather(t, w.Provider, dir)
	w.await("watching")
	gather(t, w.Provider, dir)
	runs()
	for range 3 {
		gather(t, w.Provider, dir)
	}
	if got := runs(); got[0] != "" {
		t.Errorf("nothing had happened, and git was run: %q", got)
	}
	sh(t, dir, home, "echo c >> b.txt")
	w.settle()
	gather(t, w.Provider, dir)
	got := runs()
	if len(got) >= 3 {
		slices.Sort(got[1:3]) // files are compared side by side
	}
	if len(got) < 4 || !strings.HasSuffix(got[1], "HEAD:.mark-1 -- .mark-1") || !strings.HasSuffix(got[2], "HEAD:b.txt -- b.txt") || !strings.HasSuffix(got[3], "-- .mark-1") {
		t.Errorf("one file changed, and git was run: %q", got)
	}
	if slices.ContainsFunc(got, func(run string) bool { return strings.Contains(run, "a.txt") }) {
		t.Errorf("the diff of another file was known, and git was run: %q", got)
	}
}

func TestWithoutWatchesGitIsAskedEachTime(t *testing.T) {
	needsGit(t)
	for name, change := range map[string]func(*Options){
		"more folders than are watched": func(o *Options) {
			o.Folders = func(context.Context, string, int) ([]string, bool) { return nil, false }
		},
		"no watches left": func(o *Options) { o.Watches = NewWatches(0) },
		"not asked for":   func(o *Options) { o.Folders = nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir, home := place(t)
			t.Setenv("HOME", home)
			sh(t, dir, home, "git init -q . && echo one > a.txt && git add . && git commit -qm First")
			w := watchRepository(t, dir, home, change)
			if g := gather(t, w.Provider, dir); len(g.Changes) != 0 {
				t.Errorf("changes: %v", g.Changes)
			}
			sh(t, dir, home, "echo two >> a.txt")
			if g := gather(t, w.Provider, dir); len(g.Changes) != 1 || len(g.Diffs) != 1 {
				t.Errorf("changes: %v, diffs: %v", g.Changes, g.Diffs)
			}
		})
	}
}

func TestWatchesAreGivenBack(t *testing.T) {
	needsGit(t)
	if !watchesTrees() {
		t.Skip("work trees are not watched on this system")
	}
	dir, home := place(t)
	t.Setenv("HOME", home)
	sh(t, dir, home, "git init -q . && mkdir a b c && echo one > a.txt && git add . && git commit -qm First")
	watches := NewWatches(10)
	w := watchRepository(t, dir, home, func(o *Options) { o.Watches = watches })
	gather(t, w.Provider, dir)
	w.await("watching")
	if watches.left != 6 {
		t.Errorf("%d of 10 watches are left for 4 folders", watches.left)
	}
	w.Close()
	if watches.left != 10 {
		t.Errorf("%d of 10 watches were given back", watches.left)
	}
}
