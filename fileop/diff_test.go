package fileop

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func numbered(n int, change map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := change[i]; ok {
			b.WriteString(s)
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestHunks(t *testing.T) {
	long := numbered(maxHunkLines+1, nil)
	tests := []struct {
		name     string
		old, now string
		want     []Hunk
	}{
		{"equal", "a\n", "a\n", nil},
		{"new", "", "hello", []Hunk{{1, 1, "", "hello", false}}},
		{"emptied", "a\nb\n", "", []Hunk{{1, 1, "a\nb", "", false}}},
		{"one line", "hello", "hi", []Hunk{{1, 1, "hello", "hi", false}}},
		{"final newline only", "a", "a\n", []Hunk{{1, 1, "a", "a\n", false}}},
		{"context", numbered(9, nil), numbered(9, map[int]string{5: "X\nY\n"}), []Hunk{{
			2, 2,
			"line 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8",
			"line 2\nline 3\nline 4\nX\nY\nline 6\nline 7\nline 8", false,
		}}},
		{"apart", numbered(20, nil), numbered(20, map[int]string{2: "", 18: "X\n"}), []Hunk{
			{1, 1, "line 1\nline 2\nline 3\nline 4\nline 5", "line 1\nline 3\nline 4\nline 5", false},
			{15, 14, "line 15\nline 16\nline 17\nline 18\nline 19\nline 20", "line 15\nline 16\nline 17\nX\nline 19\nline 20", false},
		}},
		{"six lines between are one hunk", numbered(8, nil), numbered(8, map[int]string{1: "X\n", 8: "Y\n"}), []Hunk{
			{1, 1, strings.TrimSuffix(numbered(8, nil), "\n"), strings.TrimSuffix(numbered(8, map[int]string{1: "X\n", 8: "Y\n"}), "\n"), false},
		}},
		{"seven are two", numbered(9, nil), numbered(9, map[int]string{1: "X\n", 9: "Y\n"}), []Hunk{
			{1, 1, "line 1\nline 2\nline 3\nline 4", "X\nline 2\nline 3\nline 4", false},
			{6, 6, "line 6\nline 7\nline 8\nline 9", "line 6\nline 7\nline 8\nY", false},
		}},
		{"long, changed", long, "x" + long, []Hunk{{1, 1, "(10001 lines)", "(10001 lines, modified)", true}}},
		{"long, new", "", long, []Hunk{{1, 1, "(0 lines)", "(10001 lines)", true}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Hunks(test.old, test.now); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestFirstChangedLine(t *testing.T) {
	tests := []struct {
		old, now string
		want     int
	}{
		{"a\n", "a\n", 0},
		{"", "a\n", 1},
		{"a\nb\nc\n", "a\nX\nc\n", 2},
		{"a\nb\n", "a\nb\nc\n", 3},
		{"a\nb\nc\n", "a\n", 1},
		{"a\n", "", 1},
		{"a", "a\n", 1},
	}
	for _, test := range tests {
		if got := FirstChangedLine(test.old, test.now); got != test.want {
			t.Errorf("%q to %q: %d, want %d", test.old, test.now, got, test.want)
		}
	}
}

func TestUnified(t *testing.T) {
	old := func(s string) *string { return &s }
	tests := []struct {
		name string
		old  *string
		now  string
		want string
	}{
		{"equal", old("a\n"), "a\n", ""},
		{"new and empty", nil, "", ""},
		{"new", nil, "a\nb\n", "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"was empty", old(""), "a\n", "--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n"},
		{"emptied", old("a\n"), "", "--- f\n+++ f\n@@ -1 +0,0 @@\n-a\n"},
		{"final newline", old("a\n"), "a", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		{
			"context", old(numbered(9, nil)), numbered(9, map[int]string{5: "X\n"}),
			"--- f\n+++ f\n@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+X\n line 6\n line 7\n line 8\n",
		},
		{
			"line cut between runes", old("a\n"), strings.Repeat("名", 400) + "\n",
			"--- f\n+++ f\n@@ -1 +1 @@\n-a\n+" + strings.Repeat("名", 333) + "… (201 bytes more)\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Unified("f", test.old, test.now); got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestUnifiedIsBounded(t *testing.T) {
	got := Unified("f", nil, numbered(1000, nil))
	if n := strings.Count(got, "\n"); n != maxUnifiedLines+3 {
		t.Errorf("%d lines, want %d", n, maxUnifiedLines+3)
	}
	want := "… 401 more lines of this diff are not shown; in all 1000 lines were added and 0 removed\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("ends with %q, want %q", got[len(got)-len(want):], want)
	}
	got = Unified("f", nil, strings.Repeat(strings.Repeat("x", 5000)+"\n", 500))
	if len(got) > maxUnifiedBytes+2*maxUnifiedLine {
		t.Errorf("%d bytes", len(got))
	}
}

// TestManySmallChanges holds many changes in a long file apart from each other.
func TestManySmallChanges(t *testing.T) {
	change := map[int]string{}
	for i := 50; i < 20_000; i += 100 {
		change[i] = fmt.Sprintf("changed %d\n", i)
	}
	rs := diffLines(splitLines(numbered(20_000, nil)), splitLines(numbered(20_000, change)))
	if len(rs) != len(change) {
		t.Fatalf("%d regions, want %d", len(rs), len(change))
	}
	for _, r := range rs {
		if r.oldEnd-r.oldStart != 1 || r.newEnd-r.newStart != 1 {
			t.Errorf("region %+v", r)
		}
	}
}

// TestDiffLines checks that the regions turn one text into the other, that they are
// in order and apart, and that outside them nothing differs.
func TestDiffLines(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "e\n", "}\n", "\n"}), 0, 60)
	rapid.Check(t, func(t *rapid.T) {
		a, b := lines.Draw(t, "a"), lines.Draw(t, "b")
		var built []string
		at, atNew := 0, 0
		for _, r := range diffLines(a, b) {
			if r.oldStart < at || r.newStart < atNew || r.oldStart-at != r.newStart-atNew {
				t.Fatalf("region %+v after %d, %d", r, at, atNew)
			}
			if r.oldStart == r.oldEnd && r.newStart == r.newEnd {
				t.Fatalf("empty region %+v", r)
			}
			built = append(append(built, a[at:r.oldStart]...), b[r.newStart:r.newEnd]...)
			at, atNew = r.oldEnd, r.newEnd
		}
		built = append(built, a[at:]...)
		if strings.Join(built, "") != strings.Join(b, "") {
			t.Fatalf("built %q, want %q", built, b)
		}
	})
}
