package yaml

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoted reads a text in quotes of either kind, of something that is indent columns in.
func (p *parser) quoted(indent int) string {
	first, quote := p.line, p.peek(0)
	p.at++
	var s strings.Builder
	for {
		switch b := p.peek(0); {
		case p.ended():
			p.refuseAt(first, "the quote that is opened here is not closed")
		case b == quote && quote == '\'' && p.peek(1) == quote:
			s.WriteByte(b)
			p.at += 2
		case b == quote:
			p.at++
			return s.String()
		case b == '\\' && quote == '"':
			p.escape(&s, indent)
		case b == ' ' || b == '\t' || b == '\n':
			p.quotedSpace(&s, indent)
		default:
			s.WriteByte(b)
			p.at++
		}
	}
}

// quotedSpace reads space in quotes. Around the ends of lines it counts as one.
func (p *parser) quotedSpace(s *strings.Builder, indent int) {
	from := p.at
	for p.peek(0) == ' ' || p.peek(0) == '\t' {
		p.at++
	}
	if p.ended() || p.peek(0) != '\n' {
		s.WriteString(p.text[from:p.at])
		return
	}
	s.WriteString(folded(p.continued(indent)))
}

// continued goes to the next line of a text in quotes, and tells how many ends of lines it
// was away.
func (p *parser) continued(indent int) int {
	breaks := p.breaks()
	if !p.ended() && (p.column() <= indent || p.marker()) {
		p.refuse("the quote is not closed on the line above, and this is no further in than the name in front of it")
	}
	return breaks
}

// escape reads what begins with a backslash in double quotes.
func (p *parser) escape(s *strings.Builder, indent int) {
	const letters, meanings = `0abtnvfre "/\N_LP`, "\x00\a\b\t\n\v\f\r\x1b \"/\\\u0085\u00a0\u2028\u2029"
	b := p.peek(1)
	if b == '\n' {
		p.at++
		if breaks := p.continued(indent); breaks > 1 {
			s.WriteString(strings.Repeat("\n", breaks-1))
		}
		return
	}
	if i := strings.IndexByte(letters, b); i >= 0 && p.at+1 < len(p.text) {
		s.WriteRune([]rune(meanings)[i])
		p.at += 2
		return
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[b]
	from := min(p.at+2, len(p.text))
	code, err := strconv.ParseUint(p.text[from:min(from+digits, len(p.text))], 16, 32)
	if digits == 0 || err != nil || from+digits > len(p.text) || !utf8.ValidRune(rune(code)) || code > utf8.MaxRune {
		p.refuse(`this backslash is not understood in double quotes; write \\ for a backslash`)
	}
	s.WriteRune(rune(code))
	p.at = from + digits
}

// blockText reads a text behind | or >, whose lines are further in than indent.
func (p *parser) blockText(indent int) string {
	first := p.line
	joined := p.peek(0) == '>'
	keep, strip, within := false, false, 0
	for p.at++; ; p.at++ {
		switch b := p.peek(0); {
		case b == '+' && !strip && !keep:
			keep = true
			continue
		case b == '-' && !strip && !keep:
			strip = true
			continue
		case b >= '1' && b <= '9' && within == 0:
			within = int(b - '0')
			continue
		}
		break
	}
	if !p.lineEnds() {
		p.refuse("the text of a block begins on the next line")
	}
	if p.ended() {
		return ""
	}
	p.newline()
	column := max(indent, 0) + within
	if within == 0 {
		column = p.blockColumn(max(indent, 0))
	}
	text, last, trailing := p.blockLines(column, joined)
	switch {
	case strip:
	case keep:
		text += last + trailing
	default:
		text += last
	}
	if len(text) > MaxSize {
		p.refuseAt(first, "the text is too long")
	}
	return text
}

// blockColumn finds how far in the lines of a block are, by the first that is not empty.
func (p *parser) blockColumn(indent int) int {
	widest := 0
	for at := p.at; at < len(p.text); {
		line, _, _ := strings.Cut(p.text[at:], "\n")
		column := len(line) - len(strings.TrimLeft(line, " "))
		if column < len(line) {
			if line[column] == '\t' {
				p.refuse("the block below begins with a tab; use spaces")
			}
			if column > indent && widest > column {
				p.refuse("the block below begins with an empty line that is further in than its text; shorten it")
			}
			return max(column, widest, indent+1)
		}
		widest = max(widest, column)
		at += len(line) + 1
	}
	return max(widest, indent+1)
}

// blockLines reads the lines of a block. Apart from the text it gives the end of its last
// line, and those of the empty lines behind that.
func (p *parser) blockLines(column int, joined bool) (text, last, trailing string) {
	var s strings.Builder
	further := false // the line before begins with a space
	for {
		trailing = p.emptyLines(column)
		if p.ended() || p.column() < column {
			return s.String(), last, trailing
		}
		blank := p.peek(0) == ' ' || p.peek(0) == '\t'
		switch {
		case !joined || further || blank || last == "":
			s.WriteString(last)
		case trailing == "":
			s.WriteByte(' ')
		}
		s.WriteString(trailing)
		further = blank
		line, _, more := strings.Cut(p.text[p.at:], "\n")
		s.WriteString(line)
		p.at += len(line)
		if last = ""; more {
			p.newline()
			last = "\n"
		}
	}
}

// emptyLines reads the lines of a block in which nothing stands, and the spaces in front
// of the next one, up to its column.
func (p *parser) emptyLines(column int) string {
	n := 0
	for {
		for p.peek(0) == ' ' && p.column() < column {
			p.at++
		}
		if p.ended() || p.peek(0) != '\n' {
			return strings.Repeat("\n", n)
		}
		p.newline()
		n++
	}
}
