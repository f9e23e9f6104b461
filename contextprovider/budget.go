package contextprovider

// cutSection is a section as it is told: its first lines, and how many are left out.
type cutSection struct {
	section
	cut int // lines that are left out
}

// fit cuts sections so that together they take at most budget tokens, as count counts
// them. Each gets a part by its share; what one does not need goes to those that need
// more. Lines are taken from the end, and at least the first stays.
func fit(all []section, budget int, count func(string) int) []cutSection {
	costs := make([][]int, len(all))
	need := make([]int, len(all))
	for i, s := range all {
		costs[i] = make([]int, len(s.lines))
		for n, line := range s.lines {
			costs[i][n] = count(line) + 1 // the line's end
			need[i] += costs[i][n]
		}
	}
	given := divide(all, need, budget)
	out := make([]cutSection, len(all))
	for i, s := range all {
		n, used := 0, 0
		for n < len(s.lines) && (n == 0 || used+costs[i][n] <= given[i]) {
			used += costs[i][n]
			n++
		}
		out[i] = cutSection{section: section{name: s.name, lines: s.lines[:n], share: s.share}, cut: len(s.lines) - n}
	}
	return out
}

// divide gives each section what it needs, or its part of what is left for those
// that need more than their part.
func divide(all []section, need []int, budget int) []int {
	given := make([]int, len(all))
	open := make([]int, len(all))
	for i := range all {
		open[i] = i
	}
	for len(open) > 0 {
		shares := 0
		for _, i := range open {
			shares += all[i].share
		}
		var wanting []int
		left := budget
		for _, i := range open {
			if need[i] <= budget*all[i].share/shares {
				given[i] = need[i]
				left -= need[i]
			} else {
				wanting = append(wanting, i)
			}
		}
		if len(wanting) == len(open) {
			for _, i := range open {
				given[i] = budget * all[i].share / shares
			}
			return given
		}
		open, budget = wanting, left
	}
	return given
}
