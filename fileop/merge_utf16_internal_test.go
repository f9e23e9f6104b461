package fileop

import "testing"

// TestMergeUTF16 merges by characters: the bytes of an LF stand in other characters too.
func TestMergeUTF16(t *testing.T) {
	for _, e := range []Encoding{UTF16LE, UTF16BE} {
		file := func(s string) []byte { return Text{Body: s, BOM: true, Newline: CRLF, Encoding: e}.Encode() }
		base, ours := file("\u0a0a\na\nb\nc\nd\n"), file("\u0a0a\nA\nb\nc\nd\n")
		theirs := file("\u0a0a\na\nb\nc\nD\u010a\n")
		merged, ok := mergeBytes(base, ours, theirs)
		if want := file("\u0a0a\nA\nb\nc\nD\u010a\n"); !ok || string(merged) != string(want) {
			t.Errorf("%v: merged %q, %v, want %q", e, merged, ok, want)
		}
		if _, ok := mergeBytes(base, ours, file("\u0a0a\nx\nb\nc\nd\n")); ok {
			t.Errorf("%v: the same line was changed twice and merged", e)
		}
		hunks := actionHunks(base, ours)
		if len(hunks) != 1 || hunks[0].OldStart != 2 || hunks[0].OldLines != 1 {
			t.Errorf("%v: hunks %+v", e, hunks)
		}
		if back, ok := withoutHunks(base, ours, hunks); !ok || string(back) != string(base) {
			t.Errorf("%v: without its hunk %q, %v", e, back, ok)
		}
	}
}
