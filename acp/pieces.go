package acp

import (
	"strings"
	"unicode/utf8"
)

// utf8Pieces turns pieces of bytes into pieces of text: a code point that is cut
// between two pieces comes with the second, and what is not UTF-8 becomes U+FFFD.
type utf8Pieces struct{ rest []byte }

func (u *utf8Pieces) add(piece []byte) string {
	b := append(u.rest, piece...)
	cut := len(b)
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				cut = len(b) - i
			}
			break
		}
	}
	text := strings.ToValidUTF8(string(b[:cut]), "\ufffd")
	u.rest = append([]byte(nil), b[cut:]...)
	return text
}
