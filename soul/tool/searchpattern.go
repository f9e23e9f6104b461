package tool

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"
)

// maxSpans bounds the matches that count: of one line, or of one file where a match
// may span lines.
const maxSpans = 100_000

// searchPattern is a pattern ready to be looked for in texts. It may be used by
// several goroutines at once.
//
// Unless it spans lines, it is matched as if each line were a text of its own, so
// that what finds a line first (a literal, or the pattern itself running over the
// whole text) makes no difference.
type searchPattern struct {
	re         *regexp.Regexp
	need       literals
	spansLines bool
	lowered    *sync.Pool // of *[]byte: texts in lower case
	matchers   *sync.Pool // of *lineMatcher, nil ones where there can be none
}

// line is a line of a text in which a pattern was found, without its end.
type line struct{ start, end int }

// compileSearch reads a pattern in the syntax of package regexp.
func compileSearch(pattern string, ignoreCase, spansLines bool) (*searchPattern, error) {
	// ^ and $ stand for the ends of lines.
	flags := syntax.Perl &^ syntax.OneLine
	if ignoreCase {
		flags |= syntax.FoldCase
	}
	if spansLines {
		flags |= syntax.DotNL
	}
	parsed, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, err
	}
	if !spansLines {
		if parsed, err = withinLines(parsed); err != nil {
			return nil, err
		}
	}
	re, err := regexp.Compile(parsed.String())
	if err != nil {
		return nil, fmt.Errorf("compile the pattern: %w", err)
	}
	need := requiredLiterals(parsed)
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("compile the pattern: %w", err)
	}
	return &searchPattern{
		re:         re,
		need:       need,
		spansLines: spansLines,
		lowered:    &sync.Pool{New: func() any { return new([]byte) }},
		matchers:   &sync.Pool{New: func() any { return newLineMatcher(prog) }},
	}, nil
}

// withinLines takes the line feed out of a pattern, and turns the ends of the text
// into ends of lines. A pattern that asks for a line feed is an error.
func withinLines(re *syntax.Regexp) (*syntax.Regexp, error) {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op, re.Flags = syntax.OpEndLine, re.Flags&^syntax.WasDollar
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r == '\n' {
				return nil, errLineFeed
			}
		}
	case syntax.OpCharClass:
		re.Rune = withoutLineFeed(re.Rune)
		if len(re.Rune) == 0 {
			return nil, errLineFeed
		}
	}
	for i, sub := range re.Sub {
		mended, err := withinLines(sub)
		if err != nil {
			return nil, err
		}
		re.Sub[i] = mended
	}
	return re, nil
}

var errLineFeed = errors.New("the pattern asks for a line feed, and without `multiline` only single lines are searched")

// withoutLineFeed takes '\n' out of the pairs of first and last runes of a class.
func withoutLineFeed(pairs []rune) []rune {
	var out []rune
	for i := 0; i+1 < len(pairs); i += 2 {
		first, last := pairs[i], pairs[i+1]
		if first > '\n' || last < '\n' {
			out = append(out, first, last)
			continue
		}
		if first < '\n' {
			out = append(out, first, '\n'-1)
		}
		if last > '\n' {
			out = append(out, '\n'+1, last)
		}
	}
	return out
}

// lines gives the lines of text with a match, in order, until visit returns false.
// Of a match that spans lines each line is given.
func (p *searchPattern) lines(text []byte, visit func(line) bool) {
	if p.spansLines {
		p.spannedLines(text, visit)
		return
	}
	m := p.matchers.Get().(*lineMatcher)
	defer p.matchers.Put(m)
	if !p.need.applyTo(text) {
		p.linesByPattern(m, text, visit)
		return
	}
	within := text
	if p.need.fold {
		buf := p.lowered.Get().(*[]byte)
		defer p.lowered.Put(buf)
		*buf = lowerASCII(*buf, text)
		within = *buf
	}
	find := newLiteralFinder(p.need, within)
	for pos := 0; ; {
		at := find.from(pos)
		if at < 0 {
			return
		}
		l := lineAt(text, at)
		if (p.need.exact || p.matchesLine(m, text[l.start:l.end])) && !visit(l) {
			return
		}
		pos = l.end + 1
	}
}

func (p *searchPattern) matchesLine(m *lineMatcher, text []byte) bool {
	if m != nil {
		if answer := m.matches(text); answer != lineUnsure {
			return answer == lineMatches
		}
	}
	return p.re.Match(text)
}

// linesByPattern runs the pattern over the whole text.
func (p *searchPattern) linesByPattern(m *lineMatcher, text []byte, visit func(line) bool) {
	for pos := 0; pos < len(text); {
		var l line
		answer := lineUnsure
		if m != nil {
			l, answer = m.find(text, pos)
		} else {
			l = lineAt(text, pos)
		}
		if answer == lineDiffers {
			return
		}
		if (answer == lineMatches || p.re.Match(text[l.start:l.end])) && !visit(l) {
			return
		}
		pos = l.end + 1
	}
}

func (p *searchPattern) spannedLines(text []byte, visit func(line) bool) {
	next := 0 // where the lines that were not given yet begin
	for _, span := range p.spans(text) {
		for next <= max(span[1]-1, span[0]) {
			l := lineAt(text, max(next, span[0]))
			next = l.end + 1
			if !visit(l) {
				return
			}
		}
	}
}

// spans gives the matches in a text.
func (p *searchPattern) spans(text []byte) [][]int {
	if len(text) == 0 || !p.mayMatch(text) {
		return nil
	}
	spans := p.re.FindAllIndex(text, maxSpans)
	if n := len(spans); n > 0 && spans[n-1][0] == len(text) && text[len(text)-1] == '\n' {
		spans = spans[:n-1]
	}
	return spans
}

// mayMatch is false when a literal that every match needs is missing.
func (p *searchPattern) mayMatch(text []byte) bool {
	if !p.need.applyTo(text) {
		return true
	}
	if p.need.fold {
		buf := p.lowered.Get().(*[]byte)
		defer p.lowered.Put(buf)
		*buf = lowerASCII(*buf, text)
		text = *buf
	}
	for _, t := range p.need.texts {
		if bytes.Contains(text, t) {
			return true
		}
	}
	return false
}

// count gives the number of matches in a text.
func (p *searchPattern) count(text []byte) int {
	if p.spansLines {
		return len(p.spans(text))
	}
	n := 0
	p.lines(text, func(l line) bool {
		if p.need.exact && len(p.need.texts) == 1 {
			n += bytes.Count(text[l.start:l.end], p.need.texts[0])
		} else {
			n += len(p.re.FindAllIndex(text[l.start:l.end], maxSpans))
		}
		return true
	})
	return n
}

// lineAt gives the line that holds a place in a text.
func lineAt(text []byte, at int) line {
	l := line{start: bytes.LastIndexByte(text[:at], '\n') + 1, end: len(text)}
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		l.end = at + i
	}
	return l
}
