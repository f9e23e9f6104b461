package fileop

import (
	"strings"
	"unicode"
)

const (
	maxNearest     = 3       // lines that a hint shows
	maxNearestText = 200     // runes of a line that a hint shows, and that are compared
	nearestBudget  = 4 << 20 // steps of comparing, a fraction of a second
)

// nearest looks for the place that was probably meant by a text that does not
// occur: first one that differs in white space only, then the lines that need the
// fewest changed characters to become the most telling line of the text.
func nearest(body, old string) []Line {
	lines := strings.Split(body, "\n")
	wanted := strings.Split(strings.Trim(old, "\n"), "\n")
	if at := butForSpace(lines, wanted); at >= 0 {
		var out []Line
		for i := at; i < min(at+len(wanted), at+maxNearest); i++ {
			out = append(out, hint(lines, i))
		}
		return out
	}
	return closestLines(lines, telling(wanted))
}

// butForSpace finds wanted among lines when white space does not count, -1 when it
// is not there or was not found within the budget.
func butForSpace(lines, wanted []string) int {
	sought := make([]string, len(wanted))
	for i, w := range wanted {
		sought[i] = squeeze(w)
	}
	if strings.Join(sought, "") == "" {
		return -1
	}
	have := make([]string, len(lines))
	for i, l := range lines {
		have[i] = squeeze(l)
	}
	budget := nearestBudget
	for at := range len(have) - len(sought) + 1 {
		n := 0
		for n < len(sought) && have[at+n] == sought[n] {
			n++
		}
		if n == len(sought) {
			return at
		}
		if budget -= n + 1; budget < 0 {
			return -1
		}
	}
	return -1
}

// closestLines gives the lines nearest to wanted, nearest first, if any is near.
func closestLines(lines []string, wanted string) []Line {
	w := []rune(wanted)
	if len(w) < 3 {
		return nil // everything is near to so little
	}
	type found struct{ line, distance int }
	var best []found
	budget := nearestBudget
	for i, l := range lines {
		limit := len(w) / 3
		if len(best) == maxNearest {
			limit = best[maxNearest-1].distance - 1
		}
		c := []rune(clip(strings.TrimSpace(l)))
		if budget -= len(c); budget < 0 {
			break
		}
		if len(c)-len(w) > limit || len(w)-len(c) > limit {
			continue
		}
		if budget -= len(c) * len(w); budget < 0 {
			break
		}
		d := distance(w, c, limit)
		if d > limit {
			continue
		}
		at := len(best)
		for at > 0 && best[at-1].distance > d {
			at--
		}
		best = append(best[:at], append([]found{{i, d}}, best[at:]...)...)
		best = best[:min(len(best), maxNearest)]
	}
	out := make([]Line, 0, len(best))
	for _, f := range best {
		out = append(out, hint(lines, f.line))
	}
	return out
}

// distance counts the runes to add, drop or change to turn a into b. It gives up
// with limit+1 once there must be more than limit.
func distance(a, b []rune, limit int) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		least := row[0]
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}

// telling is the longest of the lines, without the space around it.
func telling(lines []string) string {
	longest := ""
	for _, l := range lines {
		if l = strings.TrimSpace(l); len(l) > len(longest) {
			longest = l
		}
	}
	return clip(longest)
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func hint(lines []string, i int) Line {
	return Line{Number: i + 1, Text: clip(strings.ToValidUTF8(lines[i], "\ufffd"))}
}

// clip cuts a text to maxNearestText runes.
func clip(s string) string {
	n := 0
	for i := range s {
		if n == maxNearestText {
			return s[:i]
		}
		n++
	}
	return s
}
