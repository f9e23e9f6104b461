package fileop

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Passage is a run of lines that others take the place of. It is found by its lines,
// which have to be in the file exactly as they are given; where they stand more than
// once, the rest tells which is meant. Lines have no ends.
type Passage struct {
	Old, New []string
	// After are lines that stand somewhere above, each below the one before it; they
	// are compared without the blanks around them. With them the first place counts.
	After []string
	Hint  string // a line above, or its beginning; it only chooses among several places
	Line  int    // number of the first line, from 1; it only chooses among several places
	End   bool   // the passage ends with the file

	OldUnended, NewUnended bool // the last line is said to have no line end
}

// found is where a passage was found: the lines [start, end), counted from 0.
type found struct {
	start, end int
	text       string // what comes there
}

// patch replaces passages, all of them or none. They are looked for in the text as it
// is, each below the one before it if it is there.
func (t Text) patch(path string, ps []Passage) (Text, error) {
	if len(ps) > maxReplacements {
		return t, fmt.Errorf("%s: %w: %d parts, at most %d in one file", path, ErrBadEdit, len(ps), maxReplacements)
	}
	lines := splitLines(t.Body)
	places := make([]found, 0, len(ps))
	from := 0
	for i, p := range ps {
		if err := t.accepts(strings.Join(p.New, "\n")); err != nil {
			return t, fmt.Errorf("%s: part %d of %d: %w", path, i+1, len(ps), err)
		}
		at, err := p.find(lines, from)
		if err != nil {
			if m := (*MatchError)(nil); errors.As(err, &m) {
				m.Path, m.Index, m.Total, m.Part = path, i, len(ps), true
				if m.Count == 0 {
					m.Nearest = nearest(t.Body, strings.Join(p.Old, "\n"))
				}
				return t, m
			}
			return t, fmt.Errorf("%s: part %d of %d: %w", path, i+1, len(ps), err)
		}
		end := at + len(p.Old)
		places = append(places, found{at, end, p.text(lines, at, end)})
		from = end
	}
	return t.exchange(path, lines, places)
}

// exchange puts the new texts in the place of the passages, the last one first.
func (t Text) exchange(path string, lines []string, places []found) (Text, error) {
	slices.SortStableFunc(places, func(a, b found) int { return a.start - b.start })
	offsets := make([]int, len(lines)+1)
	for i, l := range lines {
		offsets[i+1] = offsets[i] + len(l)
	}
	size := int64(len(t.Body))
	for i, p := range places {
		if i > 0 && places[i-1].end > p.start {
			return t, fmt.Errorf("%s: %w: two parts change line %d; join them", path, ErrBadEdit, p.start+1)
		}
		size += int64(len(p.text) - (offsets[p.end] - offsets[p.start]))
	}
	if size > MaxEdit {
		return t, &SizeError{Path: path, Size: size, Max: MaxEdit}
	}
	usual := t.mostlyCRLF()
	for _, p := range slices.Backward(places) {
		old := t.Body[offsets[p.start]:offsets[p.end]]
		t = t.splice([]int{offsets[p.start]}, old, p.text, usual)
	}
	return t, nil
}

// find gives the line, from 0, at which the passage begins. Its error is a
// *MatchError, or an ErrBadEdit.
func (p Passage) find(lines []string, from int) (int, error) {
	after, err := p.below(lines, from)
	if err != nil {
		return 0, err
	}
	if len(p.Old) == 0 {
		switch {
		case len(lines) == 0, len(p.After) > 0 && !p.End:
			return after, nil
		case p.End:
			return len(lines), nil
		}
		return 0, fmt.Errorf("%w: it has no line of the file, so it is not known where it goes; add a line that stands beside it", ErrBadEdit)
	}
	all := p.places(lines)
	if len(p.After) > 0 {
		all = slices.DeleteFunc(all, func(at int) bool { return at < after })
		all = all[:min(1, len(all))]
	}
	if below := slices.DeleteFunc(slices.Clone(all), func(at int) bool { return at < from }); len(below) > 0 {
		all = below
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return 0, &MatchError{}
	case p.End && all[len(all)-1]+len(p.Old) == len(lines):
		return all[len(all)-1], nil
	case p.Line > 0 && slices.Contains(all, p.Line-1):
		return p.Line - 1, nil
	}
	if at, ok := p.hinted(lines, all); ok {
		return at, nil
	}
	m := &MatchError{Count: len(all)}
	for _, at := range all[:min(len(all), maxMatchLines)] {
		m.Lines = append(m.Lines, at+1)
	}
	return 0, m
}

// below gives the line behind the last of the lines that stand above the passage.
func (p Passage) below(lines []string, from int) (int, error) {
	at := from
	for _, above := range p.After {
		i := lineLike(lines[at:], above)
		if i < 0 && at == from { // it may stand above the passage before this one
			at, i = 0, lineLike(lines, above)
		}
		if i < 0 {
			return 0, fmt.Errorf("%w: the line %q, given behind @@, is not in the file, or not in this order", ErrNoMatch, clipText(above, 200))
		}
		at += i + 1
	}
	return at, nil
}

func lineLike(lines []string, like string) int {
	like = strings.TrimSpace(like)
	return slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) == like })
}

// hinted chooses the only place that stands directly below the hint: between the two
// there is neither another place nor the hint again.
func (p Passage) hinted(lines []string, all []int) (int, bool) {
	hint := strings.TrimSpace(p.Hint)
	if hint == "" {
		return 0, false
	}
	chosen, n := 0, 0
	for i, at := range all {
		start := 0
		if i > 0 {
			start = all[i-1]
		}
		if slices.ContainsFunc(lines[start:at], func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), hint) }) {
			chosen, n = at, n+1
		}
	}
	return chosen, n == 1
}

// places gives every line at which the passage's lines stand.
func (p Passage) places(lines []string) []int {
	var all []int
	for at := 0; at+len(p.Old) <= len(lines); at++ {
		same := true
		for i, l := range p.Old {
			if strings.TrimSuffix(lines[at+i], "\n") != l {
				same = false
				break
			}
		}
		if same {
			all = append(all, at)
		}
	}
	return all
}

// text is what comes in the place of lines [start, end). The last line of a file
// keeps or lacks its end as before, unless the passage says something else of it.
func (p Passage) text(lines []string, start, end int) string {
	if len(p.New) == 0 {
		return ""
	}
	text := strings.Join(p.New, "\n")
	if end < len(lines) {
		return text + "\n"
	}
	ended := len(lines) == 0 || strings.HasSuffix(lines[len(lines)-1], "\n")
	if !ended && start == end { // put behind a last line without an end
		text = "\n" + text
	}
	if p.NewUnended || !ended && !p.OldUnended {
		return text
	}
	return text + "\n"
}
