package proc

import (
	"slices"
	"unicode/utf8"
)

// maxPending is the longest line, in bytes, that a carriage return can still take
// back. What a longer line holds is committed piece by piece.
const maxPending = 8 << 10

// plainText turns what a program writes to a terminal into plain text: valid UTF-8
// (bytes that are not become U+FFFD), no escape sequences, no control characters but
// tab and newline, a line that was overwritten with carriage returns only as it last
// stood. It takes lines of any length in bounded memory.
type plainText struct {
	commit  func([]byte) // takes finished text, whole runes; must not keep the slice
	part    []byte       // an incomplete rune at the end of the last write
	state   escapeState
	line    []byte // the current line, which may still be taken back
	spilled bool   // the beginning of the current line has been committed
	rewound bool   // a carriage return was seen: the next character starts the line anew
}

// escapeState is how far into an escape sequence (ECMA-48) the text is.
type escapeState uint8

const (
	ground       escapeState = iota
	escape                   // after ESC
	escapeInter              // after ESC and intermediate bytes
	controlSeq               // after ESC [
	controlStr               // in an operating system command or another string
	controlStrES             // in a string, after ESC
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	st  = 0x9c // string terminator, one character
)

func (t *plainText) write(p []byte) {
	if len(t.part) > 0 {
		p = append(t.part, p...)
		t.part = nil
	}
	for len(p) > 0 {
		if n := t.run(p); n > 0 {
			p = p[n:]
			continue
		}
		if !utf8.FullRune(p) {
			t.part = slices.Clone(p)
			return
		}
		r, n := utf8.DecodeRune(p)
		t.put(r)
		p = p[n:]
	}
}

// flush takes the end of the text: an incomplete rune will not be completed.
func (t *plainText) flush() {
	for range t.part {
		t.put(utf8.RuneError)
	}
	t.part = nil
}

// run takes a stretch of plain ASCII at once, which is what most output is made of,
// and says how many bytes it took.
func (t *plainText) run(p []byte) int {
	if t.state != ground || t.rewound {
		return 0
	}
	n := 0
	for n < len(p) && n < maxPending && (p[n] == '\t' || p[n] >= ' ' && p[n] <= '~') {
		n++
	}
	t.line = append(t.line, p[:n]...)
	t.spill()
	return n
}

func (t *plainText) put(r rune) {
	switch t.state {
	case escape:
		switch {
		case r == '[':
			t.state = controlSeq
			return
		case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
			t.state = controlStr
			return
		case r >= 0x20 && r <= 0x2f:
			t.state = escapeInter
			return
		}
		t.state = ground
		if r >= 0x30 && r <= 0x7e {
			return
		}
	case escapeInter:
		if r >= 0x20 && r <= 0x2f {
			return
		}
		t.state = ground
		if r >= 0x30 && r <= 0x7e {
			return
		}
	case controlSeq:
		if r >= 0x20 && r <= 0x3f {
			return
		}
		t.state = ground
		if r >= 0x40 && r <= 0x7e {
			return
		}
	case controlStr:
		switch r {
		case esc:
			t.state = controlStrES
			return
		case bel, can, sub, st:
			t.state = ground
			return
		case '\n': // a string that was never ended costs a line, not the rest of the output
			t.state = ground
		default:
			return
		}
	case controlStrES:
		if r == '\\' {
			t.state = ground
			return
		}
		t.state = escape // the string was broken off by a new sequence
		t.put(r)
		return
	}
	t.putGround(r)
}

func (t *plainText) putGround(r rune) {
	switch {
	case r == esc:
		t.state = escape
	case r == '\n':
		t.commit(append(t.line, '\n'))
		t.line = t.line[:0]
		t.spilled, t.rewound = false, false
	case r == '\r':
		t.rewound = true
	case r == '\b':
		if !t.rewound {
			_, n := utf8.DecodeLastRune(t.line)
			t.line = t.line[:len(t.line)-n]
		}
	case r == '\t' || r >= ' ' && r < 0x7f || r > 0x9f:
		if t.rewound {
			t.restartLine()
		}
		t.line = utf8.AppendRune(t.line, r)
		t.spill()
	}
}

func (t *plainText) restartLine() {
	t.line = t.line[:0]
	if t.spilled { // keep what follows apart from what can no longer be taken back
		t.commit([]byte{'\n'})
	}
	t.spilled, t.rewound = false, false
}

func (t *plainText) spill() {
	if len(t.line) >= maxPending {
		t.commit(t.line)
		t.line = t.line[:0]
		t.spilled = true
	}
}

// PlainText gives a terminal's text as a person reads it: without escape sequences,
// progress lines as they last stood.
func PlainText(s string) string {
	c := newCapture(2 * (len(s) + 1))
	_, _ = c.Write([]byte(s)) // never fails
	text, _ := c.finish()
	return text
}
