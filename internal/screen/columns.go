package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Columns counts the columns of a text: one for a code point, two for wide ones,
// none for marks that stand over another.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case wide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func wide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f ||
		r >= 0x2e80 && r <= 0xa4cf || // CJK
		r >= 0xac00 && r <= 0xd7a3 || // Hangul
		r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f ||
		r >= 0xff00 && r <= 0xff60 || // full width
		r >= 0x1f300 && r <= 0x1faff) // emoji
}

// Cut shortens a text to a number of columns, at least 1, with an ellipsis. Tabs
// become spaces, and what would move the cursor is replaced.
func Cut(text string, columns int) string {
	text = Shown(text)
	if Columns(text) <= columns {
		return text
	}
	return within(text, columns-1) + "…"
}

// within is the longest beginning of a text that has at most so many columns.
func within(text string, columns int) string {
	used := 0
	for i, r := range text {
		if used += Columns(string(r)); used > columns {
			return text[:i]
		}
	}
	return text
}

// Shown gives one line of text as it can be shown: tabs as spaces, and U+FFFD for
// what would move the cursor or is not UTF-8.
func Shown(text string) string {
	text = strings.ReplaceAll(text, "\t", "    ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '\ufffd'
		}
		return r
	}, text)
}

// Pad fills a text with spaces to a number of columns; a longer one stays as it is.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-Columns(text), 0))
}
