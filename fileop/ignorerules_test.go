package fileop

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRandomRulesLikeGit holds made-up patterns, one to a folder, against git.
func TestRandomRulesLikeGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the ignore rules are not compared with it")
	}
	const patterns, alphabet = 600, `aaabbc**?/[]!-^\ .[:digit:]1`
	names := []string{"a", "b", "ab", "aa", "a/b", "a/b/c", "b/a", "abc/b", "b c", "a ", "a-b", "[a]", "1", "a1", "a.b", `a\b`, "!a", "c/a/b/a", "aab/b", "^", "-", "]"}
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil && len(out) == 0 {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git("", "init")
	texts := make([]string, patterns)
	var asked strings.Builder
	for i := range texts {
		var b strings.Builder
		for range 1 + random.IntN(7) {
			b.WriteByte(alphabet[random.IntN(len(alphabet))])
		}
		texts[i] = b.String() + "\n!" + "b/a" + "\n"
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, gitIgnoreFile), []byte(texts[i]), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			fmt.Fprintf(&asked, "%d/%s\x00", i, name)
		}
	}
	theirs := map[string]bool{}
	for path := range strings.SplitSeq(git(asked.String(), "check-ignore", "--no-index", "-z", "--stdin"), "\x00") {
		theirs[path] = true
	}
	if len(theirs) < 300 {
		t.Fatalf("git ignores only %d paths", len(theirs))
	}
	for i, text := range texts {
		level := (*ignoreLevel)(nil).enter(text, false, dir, "")
		for _, name := range names {
			parts := strings.Split(name, "/")
			ours := false
			for n := 1; n <= len(parts) && !ours; n++ {
				ours = level.ignored(strings.Join(parts[:n], "/"), parts[n-1], n < len(parts))
			}
			if want := theirs[fmt.Sprintf("%d/%s", i, name)]; ours != want {
				t.Errorf("%q with %q: ignored %v, git says %v", name, text, ours, want)
			}
		}
	}
}

func TestIgnoreBounds(t *testing.T) {
	if n := len(parseIgnore(strings.Repeat("x\n", maxIgnoreRules+5))); n != maxIgnoreRules {
		t.Errorf("%d rules", n)
	}
	if got := readHead(strings.NewReader("whole\nhalf of a line"), 12); got != "whole\n" {
		t.Errorf("the head is %q", got)
	}
	// A pattern on which a backtracking matcher takes years.
	evil := compileWildcard(strings.Repeat("*a", 200) + "b")
	if evil.match(strings.Repeat("a", 4000)) {
		t.Error("it fits")
	}
	if !evil.match(strings.Repeat("a", 4000) + "b") {
		t.Error("it does not fit")
	}
}

func FuzzIgnoreRules(f *testing.F) {
	for _, seed := range [][2]string{
		{"*.log\n!keep.log\n/a/**/b\n", "a/x/b"}, {"[a-z]\\", "q"}, {"[[:alpha:]", "x"}, {"a**/[!/]b", "a/b"}, {"\\ \\", " "}, {"[]-a]", "a"}, {"[a-\\", "a"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		name := path[strings.LastIndexByte(path, '/')+1:]
		rules := parseIgnore(text)
		ignored, decided := rules.verdict(path, name, true)
		if ignored && !decided {
			t.Error("a verdict without a rule")
		}
		// What is added at the end decides.
		if last, ok := append(rules, parseRule("*")).verdict(path, name, true); !last || !ok {
			t.Errorf("%q is not ignored by a last rule of *", path)
		}
	})
}
