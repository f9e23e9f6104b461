package fileop

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// maxAnchored bounds, in lines a side, the part of two texts in which the lines that
// stayed are looked for. Beyond it the part counts as replaced as a whole.
const maxAnchored = 200_000

// region says that the lines [oldStart, oldEnd) became the lines [newStart, newEnd).
// Lines are counted from 0.
type region struct{ oldStart, oldEnd, newStart, newEnd int }

// splitLines cuts a text behind each LF. The last line may have none.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// splitBytes cuts a file behind each LF in its own encoding.
func splitBytes(data []byte) []string {
	if !isUTF16(data) {
		return splitLines(string(data))
	}
	var lines []string
	low := 0 // where the byte of an LF stands that is not zero
	if data[0] == 0xfe {
		low = 1
	}
	start := 0
	for i := 0; i+1 < len(data); i += 2 {
		if data[i+low] == '\n' && data[i+1-low] == 0 {
			lines = append(lines, string(data[start:i+2]))
			start = i + 2
		}
	}
	if start < len(data) {
		lines = append(lines, string(data[start:]))
	}
	return lines
}

// readable is a file's text for showing, or its bytes where it is none.
func readable(data []byte) string {
	t, err := Decode(data)
	if err != nil {
		return joinLF(string(data))
	}
	return t.Body
}

// diffLines finds the regions in which two texts differ, in order. The search for
// the best answer within one stretch is bounded, so the texts are first cut at lines
// that each of them has exactly once: a file with many small changes then still
// gives many small regions.
func diffLines(a, b []string) []region {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	if head == len(a) && len(a) == len(b) {
		return nil
	}
	endA, endB := len(a), len(b)
	for endA > head && endB > head && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	if endA-head > maxAnchored || endB-head > maxAnchored {
		return []region{{head, endA, head, endB}}
	}
	var out []region
	lastA, lastB := head, head
	for _, at := range append(anchors(a[head:endA], b[head:endB]), [2]int{endA - head, endB - head}) {
		toA, toB := head+at[0], head+at[1]
		for _, d := range lcs.DiffLines(a[lastA:toA], b[lastB:toB]) {
			out = append(out, region{lastA + d.Start, lastA + d.End, lastB + d.ReplStart, lastB + d.ReplEnd})
		}
		lastA, lastB = toA+1, toB+1 // past the anchor
	}
	return out
}

// anchors finds pairs of equal lines that occur once in each text, the longest run
// of them that is in the same order in both.
func anchors(a, b []string) [][2]int {
	type seen struct{ inA, inB, a, b int }
	lines := make(map[string]*seen, len(a))
	for i, l := range a {
		if s := lines[l]; s != nil {
			s.inA++
		} else {
			lines[l] = &seen{inA: 1, a: i}
		}
	}
	for i, l := range b {
		if s := lines[l]; s != nil {
			s.inB++
			s.b = i
		}
	}
	var pairs [][2]int
	for i, l := range a {
		if s := lines[l]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, [2]int{i, s.b})
		}
	}
	return longestRising(pairs)
}

// longestRising keeps the most pairs whose second numbers rise. The first ones do.
func longestRising(pairs [][2]int) [][2]int {
	var tails []int // tails[n]: the pair with the smallest second number that ends a run of n+1
	prev := make([]int, len(pairs))
	for i, p := range pairs {
		lo, hi := 0, len(tails)
		for lo < hi {
			if mid := (lo + hi) / 2; pairs[tails[mid]][1] < p[1] {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		prev[i] = -1
		if lo > 0 {
			prev[i] = tails[lo-1]
		}
		if lo == len(tails) {
			tails = append(tails, i)
		} else {
			tails[lo] = i
		}
	}
	run := make([][2]int, len(tails))
	if len(tails) == 0 {
		return run
	}
	for n, i := len(tails)-1, tails[len(tails)-1]; n >= 0; n, i = n-1, prev[i] {
		run[n] = pairs[i]
	}
	return run
}
