package fileop_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/fileop"
)

// nastyTree holds each trap of ignore files that is known to go wrong.
var nastyTree = map[string]string{
	".gitignore": strings.Join([]string{
		"\ufeff# a comment behind a byte order mark", "", "   ", "***", "!***",
		"*.log", "!keep.log", "/anchored", "nested/only", "dironly/", "**/anywhere", "deep/**/end", "tail/**",
		"a**b", "q?z", "[abc]x", "[!abc]y", "[^abc]w", "[]-]dash", "[a-cx-z]range", "[[:digit:]]num", "[[:nope:]]never", "[open",
		`\#hash`, `\!bang`, `esc\*star`, "space ", `kept\ `, "tab\t", "crlf\r", `back\`, "build", "!build/important",
		"foo**/bar", "**/x/**/y", "*/one", "one/*/two", "lit/", "!lit/", "/**/lead", "mid/**x/z", `sl\/ash`, "dir//", "*.t*t",
		"very*lo*ng*na*me", "[a-", "caf\xc3\xa9", "/sub/rooted", "!/sub/rooted/not", "wild/*", "!wild/keep", "[z-a]rev", "a[/]b", "p/[a-z]/q", `x[\]]y`,
	}, "\n"),
	"sub/.gitignore":               "!*.log\n/local\n*.tmp\n!deep.tmp\n",
	"sub/deeper/.gitignore":        "*.log\n*.tmp\n",
	"reinclude/.gitignore":         "*\n!*/\n!*.keep\n",
	"crlf/.gitignore":              "*.win\r\n!no.win\r\n",
	"nonl/.gitignore":              "last",
	"sub/inner/.git/HEAD":          "ref: refs/heads/main\n",
	"sub/inner/.git/info/exclude":  "hidden\n",
	"sub/inner/.gitignore":         "mine\n",
	".git/info/exclude":            "excluded\n!space\n/nested/ex\n*.log2\n",
	"sub/inner/a.log":              "",
	"sub/inner/hidden":             "",
	"sub/inner/mine":               "",
	"sub/inner/excluded":           "",
	"sub/inner/build/x":            "",
	"sub/inner/.gitignore.d/mine":  "",
	".hg/store":                    "",
	"sub/.svn/entries":             "",
	"x/.jj/repo":                   "",
	"links/.gitignore":             "real/\nlink/\n",
	"links/real/f":                 "",
	"negparent/.gitignore":         "p/\n!p/q\n",
	"negparent/p/q":                "",
	"order/.gitignore":             "a\n!a\na\n!b\nb\n!b\n",
	"order/a":                      "",
	"order/b":                      "",
	"ws/.gitignore":                "trail   \n  lead\nmid dle\nesc\\ \\ \n",
	"ws/trail":                     "",
	"ws/trail   ":                  "",
	"ws/  lead":                    "",
	"ws/mid dle":                   "",
	"ws/esc  ":                     "",
	"reinclude/d/f.keep":           "",
	"reinclude/d/f":                "",
	"reinclude/d/.gitignore":       "!f\n",
	"notrepo/.git-not":             "",
	"notrepo/.gitignore/nofile":    "",
	"notrepo/f":                    "",
	"foo1/bar":                     "",
	"foo1/x/bar":                   "",
	"foo/bar":                      "",
	"foo/z/bar":                    "",
	"crlf/yes.win":                 "",
	"crlf/no.win":                  "",
	"caf\xc3\xa9":                  "",
	"very-lo-ng-na-me":             "",
	"sub/very/very_long_name_long": "",
}

// nastyNames are put at several depths.
var nastyNames = []string{
	"a.log", "keep.log", "anchored", "anywhere", "end", "space", "kept ", "tab", "tab\t", "crlf", "#hash", "!bang", "esc*star", "escXstar",
	"back", `back\`, "axxb", "ab", "qaz", "qz", "ax", "dx", "ay", "dy", "aw", "dw", "-dash", "]dash", "brange", "drange", "7num", "xnum", ":never", "nnever",
	"[open", "local", "f.tmp", "deep.tmp", "excluded", "b.log2", "last", "one", "x.txt", "x.tt", "rev", "zrev", "lead", "x]y", "f",
}

var nastyFolders = []string{
	".", "sub", "sub/deeper", "nested/only", "dironly", "deep/a/b/end", "deep/end", "tail/x", "build", "build/important", "a/b/x/c/y", "x/y", "one/z/two",
	"lit", "mid/x/z", "mid/1x/z", "sl/ash", "dir", "sub/rooted", "sub/rooted/not", "wild/keep", "wild/drop", "p/q/q", "p/Q/q", "a/b", "nested/ex", "nonl",
}

func writeTree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// gitIgnored asks git which of the paths it ignores. It sees no settings but the
// repository's own.
func gitIgnored(t *testing.T, dir string, paths []string) map[string]bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("git check-ignore: %v", err)
	}
	ignored := map[string]bool{}
	for p := range bytes.SplitSeq(out, []byte{0}) {
		if len(p) > 0 {
			ignored[string(p)] = true
		}
	}
	return ignored
}

// walkSet gives what a walk finds, by its path from the root.
func walkSet(t *testing.T, d *fileop.Disk, root, path string, o fileop.WalkOptions) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for e, err := range d.Walk(t.Context(), path, o) {
		if err != nil {
			t.Fatalf("%s: %v", e.Path, err)
		}
		rel, err := filepath.Rel(root, e.Path)
		if err != nil {
			t.Fatal(err)
		}
		if found[rel] {
			t.Errorf("%s was given twice", rel)
		}
		found[rel] = true
	}
	return found
}

// TestIgnoreLikeGit holds a walk against git check-ignore, on each file and folder
// of a tree of traps, of one repository at a time.
func TestIgnoreLikeGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the ignore rules are not compared with it")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, dir, nastyTree)
	for _, repo := range []string{dir, filepath.Join(dir, "sub", "inner")} {
		cmd := exec.CommandContext(t.Context(), "git", "init", "-q")
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git init: %v\n%s", err, out)
		}
	}
	writeTree(t, dir, map[string]string{
		".git/info/exclude":           nastyTree[".git/info/exclude"],
		"sub/inner/.git/info/exclude": nastyTree["sub/inner/.git/info/exclude"],
	})
	for _, folder := range nastyFolders {
		for _, name := range nastyNames {
			path := filepath.Join(dir, filepath.FromSlash(folder), name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				continue // a part of the path is a file: another case
			}
			if info, err := os.Lstat(path); err == nil && info.IsDir() {
				continue
			}
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Symlink("real", filepath.Join(dir, "links", "link")); err != nil {
		t.Logf("no links here: %v", err)
	}

	d := openDisk(t, dir)
	walked := walkSet(t, d, dir, "", fileop.WalkOptions{})
	everything := walkSet(t, d, dir, "", fileop.WalkOptions{IncludeIgnored: true})
	inner := filepath.Join("sub", "inner")
	var outerPaths, innerPaths []string
	for path := range everything {
		if rel, ok := strings.CutPrefix(path, inner+string(filepath.Separator)); ok {
			innerPaths = append(innerPaths, rel)
		} else {
			outerPaths = append(outerPaths, path)
		}
	}
	if len(outerPaths) < 500 || len(innerPaths) < 4 {
		t.Fatalf("only %d and %d paths are compared", len(outerPaths), len(innerPaths))
	}
	ignored := gitIgnored(t, dir, outerPaths)
	for path := range gitIgnored(t, filepath.Join(dir, inner), innerPaths) {
		ignored[filepath.Join(inner, path)] = true
	}
	if len(ignored) < 100 || len(ignored) > len(everything)-100 {
		t.Fatalf("git ignores %d of %d paths, which tests one side only", len(ignored), len(everything))
	}
	for path := range everything {
		if walked[path] == ignored[path] {
			t.Errorf("%q: git ignores it: %v, the walk gives it: %v", path, ignored[path], walked[path])
		}
	}
	for path := range walked {
		for part := range strings.SplitSeq(path, string(filepath.Separator)) {
			if part == ".git" || part == ".hg" || part == ".svn" || part == ".jj" {
				t.Errorf("%s was given", path)
			}
		}
	}

	// From a folder within, the rules above it count as well.
	sub := walkSet(t, d, dir, "sub", fileop.WalkOptions{})
	want := map[string]bool{}
	for path := range walked {
		if strings.HasPrefix(path, "sub"+string(filepath.Separator)) {
			want[path] = true
		}
	}
	if diff := cmp.Diff(want, sub); diff != "" {
		t.Error(diff)
	}
	// So they do when the workspace is a folder of a repository.
	alone := walkSet(t, openDisk(t, filepath.Join(dir, "sub")), dir, "", fileop.WalkOptions{})
	if diff := cmp.Diff(want, alone); diff != "" {
		t.Error(diff)
	}
}

// TestIgnoreWithoutRepository: rules count from the root of the workspace on, and
// not those of folders above it.
func TestIgnoreWithoutRepository(t *testing.T) {
	base := t.TempDir()
	writeTree(t, base, map[string]string{
		".gitignore": "a\n", "w/.gitignore": "b\n", "w/a": "", "w/b": "", "w/s/b": "", "w/s/c": "", "w/s/.gitignore": "!b\nc\n",
	})
	root := filepath.Join(base, "w")
	got := walkOrder(t, openDisk(t, root), root, "", fileop.WalkOptions{})
	want := []string{".gitignore", "a", "s", "s/.gitignore", "s/b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = walkOrder(t, openDisk(t, root), root, "s", fileop.WalkOptions{})
	if diff := cmp.Diff([]string{"s/.gitignore", "s/b"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestIgnoreOfWorktree: a worktree keeps its rules in another place.
func TestIgnoreOfWorktree(t *testing.T) {
	base := t.TempDir()
	writeTree(t, base, map[string]string{
		"main/.git/info/exclude":           "secret\n",
		"main/.git/worktrees/wt/commondir": "../..\n",
		"wt/.git":                          "gitdir: ../main/.git/worktrees/wt\n",
		"wt/secret":                        "", "wt/open": "", "odd/.git": "nonsense", "odd/f": "",
	})
	for name, want := range map[string][]string{"wt": {"open"}, "odd": {"f"}} {
		root := filepath.Join(base, name)
		if diff := cmp.Diff(want, walkOrder(t, openDisk(t, root), root, "", fileop.WalkOptions{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func walkOrder(t *testing.T, d *fileop.Disk, root, path string, o fileop.WalkOptions) []string {
	t.Helper()
	var out []string
	for e, err := range d.Walk(t.Context(), path, o) {
		if err != nil {
			out = append(out, "error: "+err.Error())
			continue
		}
		rel, err := filepath.Rel(root, e.Path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, filepath.ToSlash(rel))
	}
	return out
}
