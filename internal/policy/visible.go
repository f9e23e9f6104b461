package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is s with everything that cannot be seen, or that changes how the rest
// is seen, written as an escape: control characters, invisible ones, marks of
// direction, blanks that are no space, bytes that are no UTF-8. A newline and a
// tab are escaped too. What is left cannot pretend to be anything else.
func Visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == '\n' || r == '\t' || hidden(r) }) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !hidden(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
		i += n
	}
	return b.String()
}

func escape(r rune) string {
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

const (
	longIndent = 64 // blanks in a row that a script may hold without hiding anything
	emptyLines = 3  // in a row
)

// Legible is a script for people, line by line: hidden characters are written out,
// and long stretches of nothing, which could push the rest out of sight, are
// replaced by a note of how long they are.
func Legible(script string) string {
	var out []string
	empty := 0
	flush := func() {
		if empty > emptyLines {
			out = append(out, fmt.Sprintf("⟨%d empty lines⟩", empty))
		} else {
			out = append(out, make([]string, empty)...)
		}
		empty = 0
	}
	for _, line := range strings.Split(script, "\n") {
		if strings.Trim(line, " \t\r") == "" && line == strings.Trim(line, "\r") {
			empty++
			continue
		}
		flush()
		out = append(out, foldBlanks(Visible(line), longIndent))
	}
	flush()
	return strings.Join(out, "\n")
}

// hidden tells whether a rune is not what a reader takes it for: not seen at all,
// seen as a plain blank, or changing the order of others. Newline and tab are not.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ':
		return false
	case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
		return true
	case r < 0x80:
		return false
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800 || r == 0x034f:
		return true // letters and signs without a shape
	case r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000 && r <= 0xe0fff:
		return true // variants and tags
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
		unicode.Is(unicode.Co, r) || unicode.Is(unicode.Cs, r)
}

// hiddenIn gives the first hidden rune or bad byte of s as an escape.
func hiddenIn(s string) (string, bool) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || hidden(r) {
			return Visible(s[i : i+n]), true
		}
		i += n
	}
	return "", false
}

// longestBlank is how many blanks in a row are shown as they are.
const longestBlank = 8

// foldBlanks shortens runs of blanks that are longer, and says how long they were.
func foldBlanks(s string, longest int) string {
	var b strings.Builder
	for len(s) > 0 {
		n := len(s) - len(strings.TrimLeft(s, " "))
		if n > longest {
			fmt.Fprintf(&b, " ⟨%d blanks⟩ ", n)
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
		end := strings.IndexByte(s, ' ')
		if end < 0 {
			end = len(s)
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
	return b.String()
}
