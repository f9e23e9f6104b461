// Package yaml reads the part of YAML that people write by hand in small files of
// settings: mappings and lists, indented or in brackets, plain and quoted texts, and
// blocks of text. What it reads, it reads as other readers of YAML do; anything else, such
// as anchors, tags and several documents, is refused with the line and what to do.
//
// It must not know what the files are about: numbers and truth values are texts to it.
package yaml

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a text that is read.
const (
	MaxSize  = 1 << 20 // bytes
	maxDepth = 32      // mappings and lists in one another
	maxKey   = 200     // bytes of a name in a mapping
)

// Kind is what a Node is.
type Kind int

// The kinds of nodes.
const (
	Null    Kind = iota // nothing is there, or null or ~
	Text                // in Node.Text
	Mapping             // in Node.Entries
	List                // in Node.Items
)

// Node is a value.
type Node struct {
	Kind    Kind
	Line    int // where it begins; 1 is the first
	Text    string
	Entries []Entry // in the order of the file, each name once
	Items   []Node
}

// Entry is a name in a mapping, and what it stands for.
type Entry struct {
	Name  string
	Line  int // of the name
	Value Node
}

// Error is what cannot be read.
type Error struct {
	Line int
	What string // and what to do
}

// Error gives the line and what is wrong there.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

// Parse reads a text of at most MaxSize bytes, which is one mapping or nothing. What cannot
// be read is an *Error.
func Parse(text string) (n Node, err error) {
	if len(text) > MaxSize {
		return Node{}, &Error{Line: 1, What: fmt.Sprintf("the file has more than %d bytes; shorten it", MaxSize)}
	}
	p := &parser{text: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), line: 1}
	defer func() {
		if r := recover(); r != nil {
			refused, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			n, err = Node{}, refused
		}
	}()
	p.checkCharacters()
	return p.document(), nil
}

// parser reads a text from its beginning to its end. What it refuses is a panic with an
// *Error, which Parse takes up.
type parser struct {
	text  string
	at    int // the byte to be read next
	line  int // its line
	start int // where that begins
	depth int
}

func (p *parser) refuse(format string, args ...any) { p.refuseAt(p.line, format, args...) }

func (p *parser) refuseAt(line int, format string, args ...any) {
	panic(&Error{Line: line, What: fmt.Sprintf(format, args...)})
}

// checkCharacters refuses what no text has.
func (p *parser) checkCharacters() {
	line := 1
	for i, r := range p.text {
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && !strings.HasPrefix(p.text[i:], "\ufffd"):
			p.refuseAt(line, "this is not UTF-8; save the file as UTF-8")
		case r < ' ' && r != '\t', r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029', r == '\ufeff', r == '\ufffe', r == '\uffff':
			p.refuseAt(line, "there is a control character (U+%04X); remove it", r)
		}
	}
}

// peek is the byte n behind the next one, 0 behind the end.
func (p *parser) peek(n int) byte {
	if p.at+n < len(p.text) {
		return p.text[p.at+n]
	}
	return 0
}

func (p *parser) ended() bool { return p.at >= len(p.text) }

// column is how far in the next byte stands; 0 is the left.
func (p *parser) column() int { return p.at - p.start }

// newline reads the end of a line.
func (p *parser) newline() {
	p.at++
	p.line++
	p.start = p.at
}

// spaces reads spaces. Tabs are refused, since nobody can see how far in they are.
func (p *parser) spaces() {
	for p.peek(0) == ' ' {
		p.at++
	}
	if p.peek(0) == '\t' {
		p.refuse("there is a tab; use spaces")
	}
}

// comment reads a comment up to the end of its line.
func (p *parser) comment() {
	if p.peek(0) == '#' && (p.column() == 0 || p.text[p.at-1] == ' ') {
		for !p.ended() && p.peek(0) != '\n' {
			p.at++
		}
	}
}

// skip reads spaces, comments and ends of lines.
func (p *parser) skip() {
	for {
		p.spaces()
		p.comment()
		if p.peek(0) != '\n' || p.ended() {
			return
		}
		p.newline()
	}
}

// lineEnds reads what may follow a value on its line, and tells whether nothing else does.
func (p *parser) lineEnds() bool {
	p.spaces()
	p.comment()
	return p.ended() || p.peek(0) == '\n'
}

// blankAt tells whether the byte n behind the next one separates: a space or an end.
func (p *parser) blankAt(n int) bool {
	b := p.peek(n)
	return b == ' ' || b == '\n' || b == '\t' || p.at+n >= len(p.text)
}

// marker tells whether a mark of documents stands at the left.
func (p *parser) marker() bool {
	rest := p.text[p.at:]
	return p.column() == 0 && (strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "...")) && p.blankAt(3)
}
