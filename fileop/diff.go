package fileop

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	contextLines    = 3
	maxHunkLines    = 10_000   // lines of a text beyond which Hunks gives a summary
	maxUnifiedLines = 600      // lines that Unified prints below the header
	maxUnifiedBytes = 48 << 10 // bytes that Unified prints
	maxUnifiedLine  = 1000     // bytes of one line that Unified prints
)

// Hunk is one stretch of changed lines with the lines around it. Its texts end
// without LF, unless the last LF is all that differs between them.
type Hunk struct {
	OldStart, NewStart int // 1-based line
	OldText, NewText   string
	Summary            bool // the texts are counts of lines, not lines
}

// Hunks gives the changes from one text to another with three lines of context.
// Texts of more than 10 000 lines give one summary, equal ones nothing.
func Hunks(before, after string) []Hunk {
	if before == after {
		return nil
	}
	a, b := splitLines(before), splitLines(after)
	if len(a) > maxHunkLines || len(b) > maxHunkLines {
		h := Hunk{OldStart: 1, NewStart: 1, Summary: true, OldText: fmt.Sprintf("(%d lines)", len(a))}
		if h.NewText = fmt.Sprintf("(%d lines)", len(b)); len(a) == len(b) {
			h.NewText = fmt.Sprintf("(%d lines, modified)", len(b))
		}
		return []Hunk{h}
	}
	return hunksOf(a, b)
}

// AllHunks is Hunks for texts of any length. It takes time in proportion to them.
func AllHunks(before, after string) []Hunk { return hunksOf(splitLines(before), splitLines(after)) }

func hunksOf(a, b []string) []Hunk {
	var hunks []Hunk
	for _, g := range group(diffLines(a, b)) {
		w := g.window(len(a), len(b))
		h := Hunk{OldStart: w.oldStart + 1, NewStart: w.newStart + 1}
		full, now := strings.Join(a[w.oldStart:w.oldEnd], ""), strings.Join(b[w.newStart:w.newEnd], "")
		h.OldText, h.NewText = strings.TrimSuffix(full, "\n"), strings.TrimSuffix(now, "\n")
		if h.OldText == h.NewText {
			h.OldText, h.NewText = full, now
		}
		hunks = append(hunks, h)
	}
	return hunks
}

// Around gives the hunk with at most n unchanged lines at each of its ends.
func (h Hunk) Around(n int) Hunk {
	a, b := splitLines(h.OldText), splitLines(h.NewText)
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	head, tail = max(head-n, 0), max(tail-n, 0)
	h.OldText, h.NewText = strings.Join(a[head:len(a)-tail], ""), strings.Join(b[head:len(b)-tail], "")
	h.OldStart, h.NewStart = h.OldStart+head, h.NewStart+head
	return h
}

// FirstChangedLine is the 1-based line of the new text at which the texts begin to
// differ, 0 when they are equal. It is the last line when only lines behind it went.
func FirstChangedLine(before, after string) int {
	if before == after {
		return 0
	}
	a, b := splitLines(before), splitLines(after)
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return max(1, min(n+1, len(b)))
}

// Unified gives the change of a file as a unified diff, for a model to read; before
// is nil for a new file. It is empty when nothing differs. Long lines are cut, and a
// long diff ends with a note of what is not shown, so a program must not apply it.
func Unified(path string, before *string, after string) string {
	old, label := "", "/dev/null"
	if before != nil {
		old, label = *before, path
	}
	if old == after {
		return ""
	}
	a, b := splitLines(old), splitLines(after)
	u := unified{}
	fmt.Fprintf(&u.b, "--- %s\n+++ %s\n", label, path)
	groups := group(diffLines(a, b))
	for _, g := range groups {
		u.hunk(g, a, b)
	}
	if u.dropped > 0 {
		added, removed := 0, 0
		for _, g := range groups {
			for _, r := range g {
				added, removed = added+r.newEnd-r.newStart, removed+r.oldEnd-r.oldStart
			}
		}
		fmt.Fprintf(&u.b, "… %d more lines of this diff are not shown; in all %d lines were added and %d removed\n",
			u.dropped, added, removed)
	}
	return u.b.String()
}

// regions are the changes of one hunk.
type regions []region

// group joins changes whose context would touch or overlap.
func group(rs []region) []regions {
	var out []regions
	for _, r := range rs {
		last := len(out) - 1
		if last >= 0 && r.oldStart-out[last][len(out[last])-1].oldEnd <= 2*contextLines {
			out[last] = append(out[last], r)
			continue
		}
		out = append(out, regions{r})
	}
	return out
}

// window is the hunk's stretch of lines with its context.
func (g regions) window(oldLines, newLines int) region {
	first, last := g[0], g[len(g)-1]
	before := min(contextLines, first.oldStart, first.newStart)
	behind := min(contextLines, oldLines-last.oldEnd, newLines-last.newEnd)
	return region{first.oldStart - before, last.oldEnd + behind, first.newStart - before, last.newEnd + behind}
}

// unified prints a diff up to its bounds and counts what does not fit.
type unified struct {
	b       strings.Builder
	lines   int
	dropped int
}

func (u *unified) hunk(g regions, a, b []string) {
	w := g.window(len(a), len(b))
	u.printf("@@ -%s +%s @@\n", span(w.oldStart, w.oldEnd), span(w.newStart, w.newEnd))
	at := w.oldStart
	for _, r := range g {
		u.all(" ", a[at:r.oldStart])
		u.all("-", a[r.oldStart:r.oldEnd])
		u.all("+", b[r.newStart:r.newEnd])
		at = r.oldEnd
	}
	u.all(" ", a[at:w.oldEnd])
}

// span is a hunk's range: an empty one is named by the line before it.
func span(start, end int) string {
	switch n := end - start; n {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	default:
		return fmt.Sprintf("%d,%d", start+1, n)
	}
}

func (u *unified) all(mark string, lines []string) {
	for _, l := range lines {
		text, ended := strings.CutSuffix(l, "\n")
		if len(text) > maxUnifiedLine {
			cut := maxUnifiedLine
			for cut > maxUnifiedLine-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
				cut--
			}
			text = fmt.Sprintf("%s… (%d bytes more)", text[:cut], len(text)-cut)
		}
		u.printf("%s%s\n", mark, text)
		if !ended {
			u.printf("\\ No newline at end of file\n")
		}
	}
}

func (u *unified) printf(format string, args ...any) {
	if u.dropped > 0 || u.lines >= maxUnifiedLines || u.b.Len() >= maxUnifiedBytes {
		u.dropped++
		return
	}
	u.lines++
	fmt.Fprintf(&u.b, format, args...)
}
