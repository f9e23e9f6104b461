package demo

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The widths that a screen is laid out for, in columns.
const (
	minWidth = 40
	maxWidth = 96
)

// style is what a piece of text means; a screen decides how that looks.
type style string

// The styles, as the numbers of ANSI escape sequences.
const (
	plain   style = ""
	bold    style = "1"
	faint   style = "2"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	cyan    style = "36"
	boldFg  style = "1;36"
	heading style = "1;34"
)

// screen writes a readable account of what happens, wrapped to a width. Streamed
// text is wrapped as it comes. It is used by one goroutine at a time.
type screen struct {
	w      io.Writer
	colour bool
	width  int

	open   string          // the heading of the section that streams, "" for none
	indent string          // of the open section
	style  style           // of the open section
	column int             // columns used on the current line, 0 at its start
	space  bool            // a space is due before the next word
	word   strings.Builder // the word that is not yet written
}

func newScreen(w io.Writer, colour bool, width int) *screen {
	return &screen{w: w, colour: colour, width: min(max(width, minWidth), maxWidth)}
}

func (s *screen) paint(st style, text string) string {
	if !s.colour || st == plain || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// print writes the text as it is. The demo goes on when nobody reads any more, for
// it has to clean up behind itself.
func (s *screen) print(text string) { _, _ = io.WriteString(s.w, text) }

// section begins a part with a heading.
func (s *screen) section(name, detail string) {
	s.end()
	line := s.paint(heading, "▌ "+name)
	if detail != "" {
		room := s.width - 4 - width(name)
		line += "  " + s.paint(faint, cut(detail, room))
	}
	s.print("\n" + line + "\n")
}

// line writes one line of a section, cut to the width.
func (s *screen) line(st style, text string) {
	s.end()
	s.print("  " + s.paint(st, cut(text, s.width-2)) + "\n")
}

// wrapped writes a paragraph of a section.
func (s *screen) wrapped(st style, text string) {
	s.end()
	s.indent, s.style = "  ", st
	s.write(text)
	s.end()
}

// stream writes a piece of text that goes on, under a heading that is written once.
func (s *screen) stream(name string, st style, text string) {
	if s.open != name {
		s.section(name, "")
		s.open, s.indent, s.style = name, "  ", st
	}
	s.write(text)
}

// write adds streamed text: whole words, wrapped.
func (s *screen) write(text string) {
	for _, r := range text {
		switch {
		case r == '\n':
			s.flushWord()
			s.newLine()
		case unicode.IsSpace(r):
			s.flushWord()
			s.space = s.column > 0
		case unicode.IsControl(r):
			s.word.WriteRune('\ufffd')
		default:
			s.word.WriteRune(r)
		}
	}
}

func (s *screen) flushWord() {
	word := s.word.String()
	s.word.Reset()
	if word == "" {
		return
	}
	if s.space {
		word = " " + word
	}
	if s.column > width(s.indent) && s.column+width(word) > s.width {
		s.newLine()
		word = strings.TrimPrefix(word, " ")
	}
	s.space = false
	s.put(word)
}

func (s *screen) newLine() {
	s.print("\n")
	s.column, s.space = 0, false
}

func (s *screen) put(text string) {
	if s.column == 0 {
		s.print(s.indent)
		s.column = width(s.indent)
	}
	s.print(s.paint(s.style, text))
	s.column += width(text)
}

// end closes what streams.
func (s *screen) end() {
	s.flushWord()
	if s.column > 0 {
		s.newLine()
	}
	s.open = ""
}

// width counts the columns of a text, one a code point and two for wide ones.
func width(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff) {
			n++
		}
	}
	return n
}

// cut shortens a text to a number of columns, and shows what would move a cursor.
func cut(text string, columns int) string {
	text = strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '\ufffd'
		}
		return r
	}, text)
	text = strings.ReplaceAll(text, "\t", "    ")
	if width(text) <= columns {
		return text
	}
	var b strings.Builder
	used := 0
	for _, r := range text {
		if used += width(string(r)); used > columns-1 {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}
