package fileop

import "strings"

// maxActionHunks bounds the hunks of one action. An edit with more is one hunk.
const maxActionHunks = 500

// actionHunks cuts an edit into hunks. They are those that Hunks shows, without the
// lines around them, and are computed on bytes: a line end that changes is a change.
func actionHunks(before, after []byte) []ActionHunk {
	if !isText(before) || !isText(after) {
		return nil
	}
	groups := group(diffLines(splitBytes(before), splitBytes(after)))
	if len(groups) > maxActionHunks {
		groups = []regions{{groups[0][0], groups[len(groups)-1][len(groups[len(groups)-1])-1]}}
	}
	hunks := make([]ActionHunk, 0, len(groups))
	for i, g := range groups {
		first, last := g[0], g[len(g)-1]
		hunks = append(hunks, ActionHunk{
			ID:       i + 1,
			OldStart: first.oldStart + 1, OldLines: last.oldEnd - first.oldStart,
			NewStart: first.newStart + 1, NewLines: last.newEnd - first.newStart,
		})
	}
	return hunks
}

func isText(data []byte) bool {
	_, err := Decode(data)
	return err == nil
}

// region is the hunk as a change of lines, counted from 0.
func (h ActionHunk) region() region {
	return region{h.OldStart - 1, h.OldStart - 1 + h.OldLines, h.NewStart - 1, h.NewStart - 1 + h.NewLines}
}

// within tells whether the hunk's lines are there in both texts, as they are unless
// the record was tampered with.
func (h ActionHunk) within(before, after []string) bool {
	r := h.region()
	return 0 <= r.oldStart && r.oldStart <= r.oldEnd && r.oldEnd <= len(before) &&
		0 <= r.newStart && r.newStart <= r.newEnd && r.newEnd <= len(after)
}

// withoutHunks is the text after the edit with some of its hunks turned back; false
// when a hunk does not fit the texts.
func withoutHunks(before, after []byte, hunks []ActionHunk) ([]byte, bool) {
	a, b := splitBytes(before), splitBytes(after)
	var out strings.Builder
	at := 0
	for _, h := range hunks {
		r := h.region()
		if !h.within(a, b) || r.newStart < at {
			return nil, false
		}
		for _, l := range b[at:r.newStart] {
			out.WriteString(l)
		}
		for _, l := range a[r.oldStart:r.oldEnd] {
			out.WriteString(l)
		}
		at = r.newEnd
	}
	for _, l := range b[at:] {
		out.WriteString(l)
	}
	return []byte(out.String()), true
}
