package fileop_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/fileop"
)

func TestParsePatch(t *testing.T) {
	lines := func(s ...string) []string { return s }
	tests := []struct {
		name  string
		patch string
		want  []fileop.Edit
	}{
		{"envelope", "*** Begin Patch\n*** Update File: a b.go\n@@ func f() {\n@@\tif x {\n a\n-b\n+c\n\n-d\n@@\n-e\n*** End of File\n*** Add File: n\n+one\n+\n*** Delete File: d\n*** Update File: o\n*** Move to: m\n*** End Patch\nignored", []fileop.Edit{
			{Path: "a b.go", Patch: []fileop.Passage{
				{After: lines("func f() {", "if x {"), Old: lines("a", "b", "", "d"), New: lines("a", "c", "")},
				{Old: lines("e"), End: true},
			}},
			{Path: "n", Content: ptr("one\n\n"), New: true},
			{Path: "d", Delete: true},
			{Path: "o", MoveTo: "m"},
		}},
		{"without its first and last line, fenced", "\n```diff\n*** Update File: a\n@@ -7,3 +9 @@ head\n-x\n+y\n```\n", []fileop.Edit{
			{Path: "a", Patch: []fileop.Passage{{Line: 7, Hint: "head", Old: lines("x"), New: lines("y")}}},
		}},
		{"moved and changed", "*** Begin Patch\n*** Update File: a\n*** Move to: b\n-x\n\n*** End Patch", []fileop.Edit{
			{Path: "a", MoveTo: "b", Patch: []fileop.Passage{{Old: lines("x")}}},
		}},
		{"unified", "A word before.\n--- a/x/y.go\t2026-01-01\n+++ b/x/y.go\n@@ -10,2 +11,3 @@ func f() {\n keep\n-- sql\n+++ plus\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n", []fileop.Edit{
			{Path: "x/y.go", Patch: []fileop.Passage{
				{Line: 10, Hint: "func f() {", Old: lines("keep", "- sql"), New: lines("keep", "++ plus")},
				{Line: 1, Old: lines("x"), New: lines("x"), OldUnended: true},
			}},
		}},
		{"git", "diff --git a/new b/new\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/o b/m\nsimilarity index 100%\nrename from o\nrename to m\ndiff --git \"a/n\\303\\244\" \"b/n\\303\\244\"\n--- \"a/n\\303\\244\"\n+++ \"b/n\\303\\244\"\n@@ -1 +1 @@\n-x\n+y\ndiff --git a/empty b/empty\nnew file mode 100644\n", []fileop.Edit{
			{Path: "new", Content: ptr("x"), New: true},
			{Path: "gone", Delete: true, Patch: []fileop.Passage{{Line: 1, Old: lines("x")}}},
			{Path: "o", MoveTo: "m"},
			{Path: "nä", Patch: []fileop.Passage{{Line: 1, Old: lines("x"), New: lines("y")}}},
			{Path: "empty", Content: ptr(""), New: true},
		}},
		{"no prefixes, CRLF, one file twice", "--- f\r\n+++ f\r\n@@\r\n-a\r\n+b\r\n--- f\r\n+++ f\r\n@@ garbage @@\r\n-c\r\n", []fileop.Edit{
			{Path: "f", Patch: []fileop.Passage{{Old: lines("a"), New: lines("b")}, {Old: lines("c")}}},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := fileop.ParsePatch(test.patch)
			if err != nil {
				t.Fatal(err)
			}
			same := cmp.Comparer(func(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") && len(a) == len(b) })
			if d := cmp.Diff(test.want, got, same); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParsePatchErrors(t *testing.T) {
	for patch, says := range map[string]string{
		"":                                                      "names no file",
		"just words":                                            "names no file",
		"@@ -1 +1 @@\n-a\n+b":                                   "line 1: a part without a file",
		"*** Update File: a\n*** End Patch":                     "line 2: nothing is changed in a",
		"*** Add File: a\nx":                                    "line 2: every line of a new file begins with +",
		"*** Update File: a\n@@\nx":                             `line 3: "x" begins with none`,
		"*** Update File: a\n@@\n*** End Patch":                 "line 3: a part without lines",
		"*** Begin Patch\n*** Rename File: a":                   "line 2:",
		"*** Delete File: a\n*** Delete File: a":                "a is named twice",
		"--- a/x\n+++ b/y\n@@\n-a\n":                            "the old path x is not the new path y",
		"--- a/x\n+++ b/x\n":                                    "nothing is changed in x",
		"--- /dev/null\n+++ /dev/null\n@@\n-a\n":                "which file",
		"diff --git a/x b/x\nold mode 1\nnew mode 2\n":          "modes of files",
		"diff --git a/x b/x\nBinary files a/x and b/x differ\n": "binary",
	} {
		_, err := fileop.ParsePatch(patch)
		if !errors.Is(err, fileop.ErrBadPatch) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want one that says %q", patch, err, says)
		}
	}
	if _, err := fileop.ParsePatch(strings.Repeat("x", fileop.MaxPatch+1)); !errors.Is(err, fileop.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}

// FuzzParsePatch holds whatever is read as a patch to what Plan asks of an edit.
func FuzzParsePatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: f\n@@ a\n b\n-c\n+d\n*** End of File\n*** Add File: g\n+x\n*** Delete File: h\n*** Update File: i\n*** Move to: j\n", "a\nb\nc\n")
	f.Add("diff --git a/f b/f\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1,2 +3 @@ h\n a\n-b\n\\ No newline\n+c\n", "a\nb")
	f.Add("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", "")
	f.Fuzz(func(t *testing.T, patch, text string) {
		edits, err := fileop.ParsePatch(patch)
		if err != nil {
			return
		}
		if len(edits) == 0 {
			t.Fatal("no edit and no error")
		}
		root := t.TempDir()
		m := fileop.NewMem(root)
		op := fileop.New(fileop.Options{Disk: m, Roots: []string{root}})
		if err := m.Write(t.Context(), root+"/f", []byte(text)); err != nil {
			t.Fatal(err)
		}
		for _, e := range edits {
			e.Path = "f"
			if e.MoveTo != "" {
				e.MoveTo = "g"
			}
			if _, err := op.Plan(t.Context(), e); errors.Is(err, fileop.ErrBadEdit) && !strings.Contains(err.Error(), "part") {
				t.Fatalf("%+v: %v", e, err)
			}
		}
	})
}
