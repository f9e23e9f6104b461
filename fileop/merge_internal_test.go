package fileop

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMergeBytes(t *testing.T) {
	const conflict = "conflict"
	for _, test := range []struct{ name, base, ours, theirs, want string }{
		{"nobody", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n"},
		{"only ours", "a\nb\n", "a\nX\n", "a\nb\n", "a\nX\n"},
		{"only theirs", "a\nb\n", "a\nb\n", "a\nX\n", "a\nX\n"},
		{"the same", "a\nb\n", "a\nX\n", "a\nX\n", "a\nX\n"},
		{"far apart", "a\nb\nc\n", "X\nb\nc\n", "a\nb\nY\n", "X\nb\nY\n"},
		{"next to each other", "a\nb\n", "X\nb\n", "a\nY\n", "X\nY\n"},
		{"one line", "a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", conflict},
		{"overlapping", "a\nb\nc\n", "X\nc\n", "a\nY\n", conflict},
		{"put inside what we replace", "a\nb\nc\nd\n", "a\nX\nd\n", "a\nb\nnew\nc\nd\n", conflict},
		{"put inside what we delete", "a\nb\nc\nd\n", "a\nd\n", "a\nb\nnew\nc\nd\n", conflict},
		{"put inside what they delete", "a\nb\nc\nd\n", "a\nb\nnew\nc\nd\n", "a\nd\n", conflict},
		{"put behind what we delete", "a\nb\nc\n", "a\nc\n", "a\nb\nnew\nc\n", "a\nnew\nc\n"},
		{"put before what we replace", "a\nb\nc\n", "a\nX\nc\n", "a\nnew\nb\nc\n", "a\nnew\nX\nc\n"},
		{"put at one place", "a\nb\n", "a\nX\nb\n", "a\nY\nb\n", conflict},
		{"put the same at one place", "a\nb\n", "a\nX\nb\n", "a\nX\nb\n", "a\nX\nb\n"},
		{"both delete, we more", "a\nb\nc\nd\n", "a\nd\n", "a\nb\nd\n", "a\nd\n"},
		{"both delete, they more", "a\nb\nc\nd\n", "a\nb\nd\n", "a\nd\n", "a\nd\n"},
		{"they change what we delete", "a\nb\nc\nd\n", "a\nd\n", "a\nb\nC\nd\n", conflict},
		{"we empty, they change", "a\nb\n", "", "a\nX\n", conflict},
		{"they empty", "a\nb\n", "X\nb\n", "", conflict},
		{"at the end, without a newline", "a\nb", "X\nb", "a\nb\nc", "X\nb\nc"},
		{"each line its end", "a\r\nb\nc\r\n", "X\nb\nc\r\n", "a\r\nb\nY\r\n", "X\nb\nY\r\n"},
		{"they turned to CRLF", "a\nb\nc\n", "X\nb\nc\n", "a\r\nb\r\nc\r\n", "X\r\nb\r\nc\r\n"},
		{"we turn to CRLF", "a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\nb\nY\n", "a\r\nb\r\nY\r\n"},
		{"they turned to CRLF and changed", "a\nb\nc\n", "X\nb\nc\n", "a\r\nb\r\nY\r\n", "X\r\nb\r\nY\r\n"},
		{"CRLF, one line", "a\nb\n", "X\nb\n", "Y\r\nb\r\n", conflict},
		{"to mixed line ends", "a\nb\n", "X\nb\n", "a\r\nb\n", conflict},
		{"they added a mark", "a\nb\n", "X\nb\n", "\ufeffa\nb\n", "\ufeffX\nb\n"},
		{"we take the mark away", "\ufeffa\nb\n", "a\nb\n", "\ufeffY\nb\n", "Y\nb\n"},
		{"not text", "a\x00\nb\n", "X\nb\n", "a\x00\nY\n", conflict},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := mergeBytes([]byte(test.base), []byte(test.ours), []byte(test.theirs))
			if !ok {
				got = []byte(conflict)
			}
			if string(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestMergeKeepsTheirs: a merge holds every line that theirs added, lacks every one
// that theirs deleted, and takes over ours where theirs did nothing.
func TestMergeKeepsTheirs(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "}\n", "\n", "c\r\n"}), 0, 12)
	rapid.Check(t, func(rt *rapid.T) {
		base := words.Draw(rt, "base")
		change := func(label, mark string) []string {
			out := append([]string(nil), base...)
			for range rapid.IntRange(0, 2).Draw(rt, label) {
				at := rapid.IntRange(0, len(out)).Draw(rt, "at")
				end := rapid.IntRange(at, min(at+3, len(out))).Draw(rt, "end")
				var with []string
				if rapid.Bool().Draw(rt, "with") {
					with = []string{mark}
				}
				out = append(out[:at:at], append(with, out[end:]...)...)
			}
			return out
		}
		ours, theirs := change("ours", "ours\n"), change("theirs", "theirs\n")
		join := func(lines []string) string { return strings.Join(lines, "") }
		merged, ok := mergeBytes([]byte(join(base)), []byte(join(ours)), []byte(join(theirs)))
		if !ok {
			return
		}
		got := string(merged)
		if strings.Count(got, "theirs") != strings.Count(join(theirs), "theirs") {
			rt.Fatalf("base %q ours %q theirs %q merged %q", base, ours, theirs, got)
		}
		if strings.Count(got, "ours") != strings.Count(join(ours), "ours") {
			rt.Fatalf("base %q ours %q theirs %q merged %q", base, ours, theirs, got)
		}
		if want := len(ours) + len(theirs) - len(base); strings.Count(got, "\n") < want {
			rt.Fatalf("base %q ours %q theirs %q merged %q: a line is missing", base, ours, theirs, got)
		}
	})
}

func TestWithoutHunksThatDoNotFit(t *testing.T) {
	for _, h := range []ActionHunk{
		{OldStart: 1, OldLines: 3, NewStart: 1}, {OldStart: 0, NewStart: 1}, {OldStart: 1, OldLines: -1, NewStart: 1}, {OldStart: 1, NewStart: 4},
	} {
		if got, ok := withoutHunks([]byte("a\n"), []byte("b\n"), []ActionHunk{h}); ok {
			t.Errorf("%+v gave %q", h, got)
		}
	}
	whole := actionHunks([]byte("a\nb\n"), []byte("X\nb\n"))
	if _, ok := withoutHunks([]byte("a\nb\n"), []byte("X\nb\n"), append(whole, whole...)); ok {
		t.Error("one hunk was turned back twice")
	}
}

func TestActionHunks(t *testing.T) {
	line := func(n int) string { return strings.Repeat("stays\n", n) }
	hunks := actionHunks([]byte("a\n"+line(7)+"b\nc\n"), []byte("A\n"+line(7)+"c\n"))
	want := []ActionHunk{
		{ID: 1, OldStart: 1, OldLines: 1, NewStart: 1, NewLines: 1},
		{ID: 2, OldStart: 9, OldLines: 1, NewStart: 9, NewLines: 0},
	}
	if len(hunks) != 2 || hunks[0] != want[0] || hunks[1] != want[1] {
		t.Errorf("got %+v, want %+v", hunks, want)
	}
	if got := actionHunks([]byte("a\x00"), []byte("b")); got != nil {
		t.Errorf("of what is no text: %+v", got)
	}
	var many, more strings.Builder
	for n := range maxActionHunks + 1 {
		stays := line(3) + strconv.Itoa(n) + "\n" + line(3) // one of them is found again
		many.WriteString("old\n" + stays)
		more.WriteString("new\n" + stays)
	}
	if got := actionHunks([]byte(many.String()), []byte(more.String())); len(got) != 1 || got[0].OldLines != 8*maxActionHunks+1 {
		t.Errorf("of too many: %d hunks, the first %+v", len(got), got[0])
	}
}
