package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxSearchOutput = 50_000 // bytes of one page
	maxSearchLine   = 500    // characters of a line that are shown
	lineLead        = 100    // of these, how many stand before a match that lies further in
)

// page is the part of a list of lines that is shown: those behind offset, up to
// limit of them, and no more than fit.
type page struct {
	offset, limit int // limit 0: as many as fit
	seen          int // lines that were added, also those before the page
	shown         int
	more          bool // a line was added that is not on the page any more
	out           strings.Builder
}

// add adds a line; false: the page is full, and nothing behind it counts.
func (p *page) add(line string) bool {
	if p.more {
		return false
	}
	if p.seen < p.offset {
		p.seen++
		return true
	}
	if p.limit > 0 && p.shown == p.limit || p.out.Len()+len(line)+1 > maxSearchOutput {
		p.more = true
		return false
	}
	p.seen++
	p.shown++
	p.out.WriteString(line)
	p.out.WriteByte('\n')
	return true
}

// separate puts a mark between groups of lines. It does not count as a line.
func (p *page) separate() {
	if p.shown > 0 && !p.more {
		p.out.WriteString("--\n")
	}
}

// text is what is shown.
func (p *page) text() string { return strings.TrimSuffix(p.out.String(), "--\n") }

// next says how to go on; "": there is no more.
func (p *page) next() string {
	switch {
	case p.more:
		return fmt.Sprintf("There are more: go on with `offset` %d.", p.offset+p.shown)
	case p.offset > 0 && p.shown == 0:
		return fmt.Sprintf("There are only %s, all before `offset`.", plural(p.seen, "line"))
	}
	return ""
}

// cutAround gives a line as valid text of at most maxSearchLine characters, so that
// what stands at byte `at` is in it.
func cutAround(text []byte, at int) string {
	const ellipsis = "…"
	if len(text) <= maxSearchLine {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	start := 0
	for back := 0; at > 0 && back < lineLead; back++ {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	if at > 0 {
		start = at
	}
	end := start
	for n := 0; n < maxSearchLine && end < len(text); n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	out := strings.ToValidUTF8(string(text[start:end]), "\uFFFD")
	if start > 0 {
		out = ellipsis + out
	}
	if end < len(text) {
		out += ellipsis
	}
	return out
}
