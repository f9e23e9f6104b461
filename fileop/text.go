package fileop

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const bom = "\ufeff"

// Newline is how a file ends its lines.
type Newline uint8

// The newline styles. A file without any line ending counts as LF.
const (
	LF Newline = iota
	CRLF
	Mixed // some of each; every line keeps its own
)

// Text is a text file taken apart. Encode puts it together again, byte for byte.
type Text struct {
	Body    string  // the text: lines joined by LF, no byte order mark
	BOM     bool    // the file begins with a byte order mark
	Newline Newline // how its lines end
	NotUTF8 bool    // Body holds bytes of no known encoding, kept as they are

	Encoding Encoding // of the file; Body is UTF-8 in any case

	own []bool // Mixed only: whether each LF of Body stands for CRLF
}

// Decode takes a file apart. ErrBinary means a NUL character, or UTF-16 that is
// damaged. Text in UTF-16 with a byte order mark and in Windows-1252 is known as such;
// text in another encoding passes with its bytes as they are. A CR that is not
// followed by LF is a character like any other.
func Decode(data []byte) (Text, error) {
	t, s := Text{}, string(data)
	switch {
	case isUTF16(data):
		text, e, ok := decodeUTF16(data)
		if !ok {
			return Text{}, fmt.Errorf("%w: it begins like UTF-16 and is damaged", ErrBinary)
		}
		t.Encoding, t.BOM, s = e, true, text
	case utf8.ValidString(s):
		s, t.BOM = strings.CutPrefix(s, bom)
	case isWestern(s):
		t.Encoding, s = Windows1252, decodeWindows1252(s)
	default:
		t.NotUTF8 = true
		s, t.BOM = strings.CutPrefix(s, bom)
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		return Text{}, fmt.Errorf("%w: NUL byte at offset %d", ErrBinary, i)
	}
	t.Body = joinLF(s)
	switch crlf, all := len(s)-len(t.Body), strings.Count(t.Body, "\n"); {
	case crlf == 0:
	case crlf == all:
		t.Newline = CRLF
	default:
		t.Newline = Mixed
		t.own = make([]bool, 0, all)
		for i := range len(s) {
			if s[i] == '\n' {
				t.own = append(t.own, i > 0 && s[i-1] == '\r')
			}
		}
	}
	return t, nil
}

// Encode gives the file's bytes.
func (t Text) Encode() []byte {
	if t.Encoding == UTF8 {
		return []byte(t.spoken(t.BOM))
	}
	return t.Encoding.encode(t.spoken(t.BOM))
}

// spoken is the text as UTF-8 with the file's line ends, as an editor wants it.
func (t Text) spoken(mark bool) string {
	var b strings.Builder
	b.Grow(len(t.Body) + len(t.own) + len(bom))
	if mark {
		b.WriteString(bom)
	}
	switch t.Newline {
	case LF:
		b.WriteString(t.Body)
	case CRLF:
		b.WriteString(strings.ReplaceAll(t.Body, "\n", "\r\n"))
	case Mixed:
		rest := t.Body
		for _, crlf := range t.own {
			line, after, _ := strings.Cut(rest, "\n")
			b.WriteString(line)
			if crlf {
				b.WriteByte('\r')
			}
			b.WriteByte('\n')
			rest = after
		}
		b.WriteString(rest)
	}
	return b.String()
}

// withBody is the file with another text: byte order mark and newline style stay.
// In a mixed file a line that stays keeps its ending, one that is rewritten takes
// over the ending of the line in its place, and one that is added gets the ending
// that most lines have.
func (t Text) withBody(body string) Text {
	if t.Newline == Mixed {
		t.own = carryEndings(t.Body, body, t.own, t.mostlyCRLF())
	}
	t.Body = body
	return t
}

// mostlyCRLF says which ending is the usual one; with as many of each it is the first.
func (t Text) mostlyCRLF() bool {
	n := 0
	for _, crlf := range t.own {
		if crlf {
			n++
		}
	}
	if 2*n == len(t.own) {
		return n > 0 && t.own[0]
	}
	return 2*n > len(t.own)
}

// carryEndings gives an ending to each LF of the new text. own are those of the old.
func carryEndings(before, after string, own []bool, usual bool) []bool {
	a, b := splitLines(before), splitLines(after)
	carried := make([]bool, 0, len(b))
	inPlace := func(line, end int) bool {
		if line < end && line < len(own) {
			return own[line]
		}
		return usual
	}
	line := 0
	for _, r := range append(diffLines(a, b), region{len(a), len(a), len(b), len(b)}) {
		for ; line < r.oldStart; line++ {
			carried = append(carried, inPlace(line, r.oldStart))
		}
		for i := range r.newEnd - r.newStart {
			carried = append(carried, inPlace(r.oldStart+i, r.oldEnd))
		}
		line = r.oldEnd
	}
	return carried[:strings.Count(after, "\n")] // the last line may have no ending
}

// joinLF turns CRLF into LF.
func joinLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// sameText compares two texts as people read them: an editor may show a CR of any
// kind as a line end.
func sameText(a, b string) bool {
	return a == b || strings.ReplaceAll(joinLF(a), "\r", "\n") == strings.ReplaceAll(joinLF(b), "\r", "\n")
}

// newlineOf is the style of a text that was given, not read: the one it uses most.
func newlineOf(s string) Newline {
	if crlf := strings.Count(s, "\r\n"); 2*crlf > strings.Count(s, "\n") {
		return CRLF
	}
	return LF
}
