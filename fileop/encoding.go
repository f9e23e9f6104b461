package fileop

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is how a file's characters stand as bytes. What is read is text in any of
// them; what is written goes back in the file's own.
type Encoding uint8

// The encodings.
const (
	UTF8        Encoding = iota
	UTF16LE              // with its byte order mark, without which it is not told from binary
	UTF16BE              // the same
	Windows1252          // Latin-1 with the characters that Windows has added
)

// String is the encoding's name.
func (e Encoding) String() string {
	return [...]string{"UTF-8", "UTF-16LE", "UTF-16BE", "Windows-1252"}[e]
}

// order is the byte order of UTF-16.
func (e Encoding) order() interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if e == UTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// windows1252 holds the characters of the bytes 0x80 to 0x9f; 0 for those that have
// none.
var windows1252 = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

// decodeUTF16 gives the text of UTF-16 with a byte order mark, without the mark. It
// is false for bytes that are not, and for those that would not come back the same:
// an odd number of them, or half a pair of surrogates.
func decodeUTF16(data []byte) (text string, e Encoding, ok bool) {
	if !isUTF16(data) || len(data)%2 != 0 {
		return "", UTF8, false
	}
	if e = UTF16LE; data[0] == 0xfe {
		e = UTF16BE
	}
	var b strings.Builder
	b.Grow(len(data) / 2)
	order := e.order()
	for data = data[2:]; len(data) > 0; data = data[2:] {
		r := rune(order.Uint16(data))
		if utf16.IsSurrogate(r) {
			if len(data) < 4 {
				return "", e, false
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(data[2:]))); r == utf8.RuneError {
				return "", e, false
			}
			data = data[2:]
		}
		b.WriteRune(r)
	}
	return b.String(), e, true
}

// isWestern tells text in Windows-1252 from other bytes that are not UTF-8. There is
// no proof: it has characters for all of the bytes, nothing in it reads as UTF-8 of
// several bytes, and most of what is not ASCII stands in runs of up to three bytes,
// as in western words. In Cyrillic, Greek and East Asian text the runs are longer.
func isWestern(s string) bool {
	short, long := 0, 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		start := i
		for ; i < len(s) && s[i] >= utf8.RuneSelf; i++ {
			if s[i] < 0xa0 && windows1252[s[i]-0x80] == 0 {
				return false
			}
			if _, size := utf8.DecodeRuneInString(s[i:]); size > 1 {
				return false
			}
		}
		if n := i - start; n <= 3 {
			short += n
		} else {
			long += n
		}
	}
	return short >= long
}

func decodeWindows1252(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for i := range len(s) {
		r := rune(s[i])
		if r >= 0x80 && r < 0xa0 {
			r = windows1252[r-0x80]
		}
		b.WriteRune(r)
	}
	return b.String()
}

// byteOf is a character's byte in Windows-1252.
func byteOf(r rune) (byte, bool) {
	if r < 0x80 || r >= 0xa0 && r <= 0xff {
		return byte(r), true
	}
	for i, c := range windows1252 {
		if c == r && c != 0 {
			return byte(0x80 + i), true
		}
	}
	return 0, false
}

// lacks gives the first character of a text that the encoding does not have. The
// text is UTF-8.
func (e Encoding) lacks(text string) (rune, bool) {
	if e != Windows1252 {
		return 0, false
	}
	for _, r := range text {
		if _, ok := byteOf(r); !ok {
			return r, true
		}
	}
	return 0, false
}

// encode gives the bytes of a text that lacks no character. UTF-8 passes as it is.
func (e Encoding) encode(text string) []byte {
	switch e {
	case UTF16LE, UTF16BE:
		order := e.order()
		out := make([]byte, 0, 2*len(text))
		for _, r := range text {
			if a, b := utf16.EncodeRune(r); a != utf8.RuneError {
				out = order.AppendUint16(order.AppendUint16(out, uint16(a)), uint16(b)) //nolint:gosec // halves of a pair have 16 bits
				continue
			}
			out = order.AppendUint16(out, uint16(r)) //nolint:gosec // those above are pairs
		}
		return out
	case Windows1252:
		out := make([]byte, 0, len(text))
		for _, r := range text {
			b, _ := byteOf(r)
			out = append(out, b)
		}
		return out
	}
	return []byte(text)
}

func isUTF16(data []byte) bool {
	return len(data) >= 2 && (data[0] == 0xff && data[1] == 0xfe || data[0] == 0xfe && data[1] == 0xff)
}
