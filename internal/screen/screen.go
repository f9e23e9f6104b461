package screen

import (
	"io"
	"strings"
	"unicode"
)

// The widths that a Screen is laid out for, in columns.
const (
	MinWidth = 40
	MaxWidth = 120
)

// Style is what a piece of text means; a Screen decides how that looks.
type Style string

// The styles, as the numbers of ANSI escape sequences.
const (
	Plain   Style = ""
	Bold    Style = "1"
	Faint   Style = "2"
	Red     Style = "31"
	Green   Style = "32"
	Yellow  Style = "33"
	Cyan    Style = "36"
	Heading Style = "1;34"
)

// margin stands before everything in a section.
const margin = "  "

// Screen writes a readable account of what happens, wrapped to a width. Streamed
// text is wrapped as it comes. It is used by one goroutine at a time.
type Screen struct {
	w      io.Writer
	colour bool
	width  int

	open   string          // the heading of the section that streams, "" for none
	indent string          // of the text that is being written
	style  Style           // of the text that is being written
	column int             // columns used on the current line, 0 at its start
	space  bool            // a space is due before the next word
	gap    bool            // the last line is empty
	word   strings.Builder // the word that is not yet written
}

// New makes a Screen. A width outside of MinWidth to MaxWidth is taken as the
// nearer of the two.
func New(w io.Writer, colour bool, width int) *Screen {
	return &Screen{w: w, colour: colour, width: min(max(width, MinWidth), MaxWidth)}
}

// Width is the number of columns that the Screen is laid out for.
func (s *Screen) Width() int { return s.width }

// Paint gives the text in the style's colours, as it is where there are none.
func (s *Screen) Paint(st Style, text string) string {
	if !s.colour || st == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// Print writes the text as it is. A writer that fails is not heard of: whoever
// shows things goes on when nobody reads any more.
func (s *Screen) Print(text string) {
	_, _ = io.WriteString(s.w, text)
	s.gap = text == "\n" && s.column == 0
}

// Gap ends what streams and leaves one line empty.
func (s *Screen) Gap() {
	s.End()
	if !s.gap {
		s.Print("\n")
	}
}

// Section begins a part with a heading, behind an empty line. The detail is cut to
// the width; "": none.
func (s *Screen) Section(name, detail string) {
	s.Gap()
	line := s.Paint(Heading, "▌ "+name)
	if detail != "" {
		line += "  " + s.Paint(Faint, Cut(detail, s.width-4-Columns(name)))
	}
	s.Print(line + "\n")
}

// Line writes one line of a section, cut to the width.
func (s *Screen) Line(st Style, text string) {
	s.End()
	s.Print(margin + s.Paint(st, Cut(text, s.width-len(margin))) + "\n")
}

// Wrapped writes a paragraph of a section.
func (s *Screen) Wrapped(st Style, text string) { s.Item(st, margin, text) }

// Item writes a paragraph behind a head, which stands in the same style; the lines
// that follow are indented by the head's width.
func (s *Screen) Item(st Style, head, text string) {
	s.End()
	s.indent, s.style = strings.Repeat(" ", Columns(head)), st
	if strings.TrimSpace(text) == "" {
		s.Print(s.Paint(st, strings.TrimRight(head, " ")) + "\n")
		return
	}
	s.Print(s.Paint(st, head))
	s.column = Columns(head)
	s.write(text)
	s.End()
}

// Verbatim writes the lines of a text as they are, broken at the width where they
// are longer.
func (s *Screen) Verbatim(st Style, text string) {
	s.End()
	room := s.width - len(margin)
	for line := range strings.SplitSeq(strings.TrimRight(text, "\r\n"), "\n") {
		line = Shown(strings.TrimRight(line, "\r"))
		for Columns(line) > room {
			head := within(line, room)
			s.Print(margin + s.Paint(st, head) + "\n")
			line = line[len(head):]
		}
		s.Print(margin + s.Paint(st, line) + "\n")
	}
}

// Stream writes a piece of text that goes on, under a heading that is written once.
func (s *Screen) Stream(name string, st Style, text string) {
	if s.open != name {
		s.Section(name, "")
		s.open, s.indent, s.style = name, margin, st
	}
	s.write(text)
}

// End closes what streams.
func (s *Screen) End() {
	s.flushWord()
	if s.column > 0 {
		s.newLine()
	}
	s.open, s.space = "", false
}

// write adds streamed text: whole words, wrapped.
func (s *Screen) write(text string) {
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

func (s *Screen) flushWord() {
	word := s.word.String()
	s.word.Reset()
	if word == "" {
		return
	}
	if s.space {
		word = " " + word
	}
	if s.column > Columns(s.indent) && s.column+Columns(word) > s.width {
		s.newLine()
		word = strings.TrimPrefix(word, " ")
	}
	s.space = false
	s.put(word)
}

func (s *Screen) newLine() {
	empty := s.column == 0
	s.column, s.space = 0, false
	s.Print("\n")
	s.gap = empty
}

func (s *Screen) put(text string) {
	if s.column == 0 {
		s.Print(s.indent)
		s.column = Columns(s.indent)
	}
	s.Print(s.Paint(s.style, text))
	s.column += Columns(text)
}
