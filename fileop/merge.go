package fileop

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// mergeBytes makes the change from base to ours in theirs, which was made of base
// too. It is false where both changed the same lines, and where one side put lines
// inside a stretch that the other changed, or different lines at the same place. Every
// line that theirs added is in the result.
//
// It goes by lines with their ends, so each line keeps its own. Only when that fails
// and one side has another byte order mark or newline style throughout, is it the
// text that is merged, and its style by itself. UTF-16 is merged as text in any case.
func mergeBytes(base, ours, theirs []byte) ([]byte, bool) {
	if !isText(base) || !isText(ours) || !isText(theirs) {
		return nil, false
	}
	if isUTF16(base) || isUTF16(ours) || isUTF16(theirs) {
		return mergeStyled(base, ours, theirs) // an LF has two bytes there
	}
	if merged, ok := mergeLines(string(base), string(ours), string(theirs)); ok {
		return []byte(merged), true
	}
	return mergeStyled(base, ours, theirs)
}

// mergeStyled merges texts of different styles. The caller knows that they are text.
func mergeStyled(base, ours, theirs []byte) ([]byte, bool) {
	var texts [3]Text
	for i, data := range [][]byte{base, ours, theirs} {
		t, err := Decode(data)
		if err != nil || t.Newline == Mixed {
			return nil, false
		}
		texts[i] = t
	}
	b, o, t := texts[0], texts[1], texts[2]
	body, ok := mergeLines(b.Body, o.Body, t.Body)
	if !ok {
		return nil, false
	}
	merged := Text{Body: body, BOM: o.BOM, Newline: o.Newline, Encoding: o.Encoding}
	if t.Encoding != b.Encoding {
		merged.Encoding = t.Encoding
	}
	if t.BOM != b.BOM {
		merged.BOM = t.BOM
	}
	if t.Newline != b.Newline {
		merged.Newline = t.Newline
	}
	_, lacks := merged.Encoding.lacks(body)
	return merged.Encode(), !lacks
}

func mergeLines(base, ours, theirs string) (string, bool) {
	switch {
	case theirs == base || theirs == ours:
		return ours, true
	case ours == base:
		return theirs, true
	}
	x, y := lineEdits(base, ours), lineEdits(base, theirs)
	if insertsAmong(x, y) || insertsAmong(y, x) {
		return "", false
	}
	edits, ok := udiff.Merge(splitDeletions(base, x), splitDeletions(base, y))
	if !ok {
		return "", false
	}
	merged, err := udiff.Apply(base, edits)
	return merged, err == nil
}

// lineEdits are the edits that turn one text into another, in order.
func lineEdits(from, to string) []udiff.Edit {
	a, b := splitLines(from), splitLines(to)
	var edits []udiff.Edit
	line, at := 0, 0
	upTo := func(n int) int {
		for ; line < n; line++ {
			at += len(a[line])
		}
		return at
	}
	for _, r := range diffLines(a, b) {
		edits = append(edits, udiff.Edit{
			Start: upTo(r.oldStart), End: upTo(r.oldEnd),
			New: strings.Join(b[r.newStart:r.newEnd], ""),
		})
	}
	return edits
}

// insertsAmong tells whether an edit of x adds lines strictly inside of a stretch that
// an edit of y replaces, or at the very place where y adds others. A merge would keep
// them, but among what they were not written for, or in an order of its own choice.
func insertsAmong(x, y []udiff.Edit) bool {
	i := 0
	for _, e := range x {
		if e.Start != e.End {
			continue
		}
		for i < len(y) && (y[i].End < e.Start || y[i].End == e.Start && y[i].Start < e.Start) {
			i++
		}
		if i < len(y) && (y[i].Start < e.Start || y[i].End == e.Start && y[i].New != e.New) {
			return true
		}
	}
	return false
}

// splitDeletions cuts deletions into single lines, so that lines which both sides
// delete are no conflict.
func splitDeletions(base string, edits []udiff.Edit) []udiff.Edit {
	var out []udiff.Edit
	for _, e := range edits {
		if e.New != "" {
			out = append(out, e)
			continue
		}
		for _, line := range splitLines(base[e.Start:e.End]) {
			out = append(out, udiff.Edit{Start: e.Start, End: e.Start + len(line)})
			e.Start += len(line)
		}
	}
	return out
}
