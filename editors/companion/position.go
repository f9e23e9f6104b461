package companion

import (
	"bytes"
	"unicode/utf8"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/editors/state"
)

// encoding is the unit in which an editor counts the characters of a line.
type encoding string

// The encodings that LSP has. UTF-16 is meant where none was agreed on.
const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
	utf32Units encoding = "utf-32"
)

// choose gives the first encoding of an editor's list that we know.
func choose(offered []string) encoding {
	for _, name := range offered {
		if e, ok := named(name); ok {
			return e
		}
	}
	return utf16Units
}

func named(name string) (encoding, bool) {
	switch e := encoding(name); e {
	case utf8Units, utf16Units, utf32Units:
		return e, true
	}
	return utf16Units, false
}

// units is how many units a character has.
func (e encoding) units(r rune, size int) int {
	switch {
	case e == utf8Units:
		return size
	case e == utf16Units && r >= 0x10000:
		return 2
	}
	return 1
}

// line gives a text's n-th line, counted from 0, without its end, and where it
// begins. Lines end with \n, \r\n or \r. Behind the last line stands an empty one.
func line(text []byte, n int) (start, end int) {
	for ; n > 0; n-- {
		next := lineEnd(text[start:])
		if next < 0 {
			return len(text), len(text)
		}
		start += next
		if start < len(text) && text[start] == '\r' && start+1 < len(text) && text[start+1] == '\n' {
			start++
		}
		start++
	}
	if length := lineEnd(text[start:]); length >= 0 {
		return start, start + length
	}
	return start, len(text)
}

// lineEnd gives where the first line ends, -1 when it is the last.
func lineEnd(text []byte) int {
	end := bytes.IndexByte(text, '\n')
	before := text
	if end >= 0 {
		before = text[:end]
	}
	if i := bytes.IndexByte(before, '\r'); i >= 0 {
		return i
	}
	return end
}

// offset gives the byte that a position means. What lies behind a line is its end,
// what lies within a character is its beginning.
func (e encoding) offset(text []byte, p protocol.Position) int {
	start, end := line(text, int(p.Line))
	return start + e.within(text[start:end], int(p.Character))
}

// within gives the byte in a line at which a number of units ends.
func (e encoding) within(line []byte, units int) int {
	at := 0
	for at < len(line) {
		r, size := utf8.DecodeRune(line[at:])
		if units -= e.units(r, size); units < 0 {
			break
		}
		at += size
	}
	return at
}

// place gives a position for the agent. Without the text, known says so, the units
// are taken for what they are in ASCII.
func (e encoding) place(text []byte, known bool, p protocol.Position) state.Position {
	if !known {
		return state.Position{Line: int(p.Line) + 1, Column: int(p.Character) + 1, Byte: int(p.Character)}
	}
	start, end := line(text, int(p.Line))
	at := e.within(text[start:end], int(p.Character))
	return state.Position{Line: int(p.Line) + 1, Column: utf8.RuneCount(text[start:start+at]) + 1, Byte: at}
}
