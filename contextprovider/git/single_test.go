package git

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/contextprovider"
)

func TestParseSingle(t *testing.T) {
	const header = "diff --git a/a.txt b/a.txt\nindex 37ae0df..52d2e5b 100644\n--- a/a.txt\n+++ b/a.txt\n"
	for _, c := range []struct {
		name, out string
		cut       bool
		want      single
		ok        bool
	}{
		{name: "no difference", want: single{same: true}, ok: true},
		{name: "no difference, and a line between numbers and patch", out: "\n", want: single{same: true}, ok: true},
		{
			name: "text", out: "2\t1\ta.txt\n\n" + header + "@@ -1 +1,2 @@\n-a\n+b\n+\n+@@ c\n",
			want: single{counts: counts{2, 1}, diff: contextprovider.GitDiff{Text: "@@ -1 +1,2 @@\n-a\n+b\n+\n+@@ c\n"}}, ok: true,
		},
		{
			name: "cut", out: "2\t1\ta.txt\n\n" + header + "@@ -1 +1,2 @@\n-a\n+b", cut: true,
			want: single{counts: counts{2, 1}, diff: contextprovider.GitDiff{Text: "@@ -1 +1,2 @@\n-a\n", More: true}}, ok: true,
		},
		{
			name: "not text", out: "-\t-\ta.txt\n\ndiff --git a/a.txt b/a.txt\nindex 37ae0df..52d2e5b 100644\nBinary files a/a.txt and b/a.txt differ\n",
			want: single{counts: counts{-1, -1}}, ok: true,
		},
		{name: "another mode", out: "0\t0\ta.txt\n\ndiff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n"},
		{name: "another kind", out: "1\t3\ta.txt\n\ndiff --git a/a.txt b/a.txt\ndeleted file mode 100644\nindex dec62a8..0000000\n--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		{name: "a folder in the commit", out: "1\t0\ta/b\n1\t0\ta/c\n\n" + header + "@@ -1 +1 @@\n+b\n"},
		{name: "only what is converted", out: "0\t0\ta.txt\n\ndiff --git a/a.txt b/a.txt\nindex 37ae0df..52d2e5b 100644\n"},
		{name: "something else", out: "warning: what is this\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := parseSingle([]byte(c.out), c.cut)
			if ok != c.ok {
				t.Fatalf("understood: %v", ok)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(single{}, counts{})); ok && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzParseSingle(f *testing.F) {
	f.Add([]byte("2\t1\ta.txt\n\ndiff --git a/a.txt b/a.txt\n@@ -1 +1,2 @@\n-a\n+b\n"), true)
	f.Add([]byte("-\t-\ta\n\n"), false)
	f.Fuzz(func(t *testing.T, out []byte, cut bool) {
		if s, ok := parseSingle(out, cut); ok && !s.same && s.counts.added >= 0 && s.diff.Text == "" {
			t.Error("a difference of lines without a line")
		}
	})
}

// What one file is told to differ by is what git says of it by its index.
func TestSingleIsAsByTheIndex(t *testing.T) {
	needsGit(t)
	dir, home := place(t)
	t.Setenv("HOME", home)
	sh(t, dir, home, `git init -q . && for f in same text crlf bin link gone mode ' a b' ':x' '*' 'ä'; do printf 'one\ntwo\nthree\n' > "$f"; done && git add . && git commit -qm First
		echo four >> text; printf 'one\r\ntwo\n' > crlf; printf 'a\000' > bin; rm link gone; ln -s text link; chmod +x mode; for f in ' a b' ':x' '*' 'ä'; do echo x > "$f"; done; echo new > new`)
	git, err := newRunner(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	const blanks = " a b"
	for name, ok := range map[string]bool{
		"same": true, "text": true, "crlf": true, "bin": true, blanks: true, ":x": true, "*": true, "ä": true,
		"link": false, "gone": false, "mode": false, "new": false, "none": false, "../outside": false,
	} {
		path := filepath.Join(dir, name)
		s, got := git.single(t.Context(), path)
		if got != ok {
			t.Errorf("%s is understood: %v", name, got)
		}
		if !ok {
			continue
		}
		w, err := git.output(t.Context(), maxDiff, diffArgs("--numstat", "--patch", "-U3", "HEAD", "--", name)...)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := parseSingle(w.Stdout, w.Truncated)
		want.diff.Path = path
		if diff := cmp.Diff(want, s, cmp.AllowUnexported(single{}, counts{})); diff != "" {
			t.Errorf("%s (- by the index, + without): %s", name, diff)
		}
	}
}
