package policy

import (
	"slices"
	"unicode"
)

// maxLookalikes bounds what Lookalikes gives.
const maxLookalikes = 5

// alphabets are those whose letters are taken for one another.
var alphabets = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}

// Lookalikes gives the words of a text that pretend to be others, the first few: those
// that mix letters of alphabets which look alike, and those with letters that are
// wide or styled forms of plain ones. Words of one alphabet are left alone, so that
// people can write in theirs.
func Lookalikes(text string) []string {
	var words []string
	add := func(word []rune) {
		if s := string(word); odd(word) && !slices.Contains(words, s) && len(words) < maxLookalikes {
			words = append(words, s)
		}
	}
	var word []rune
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			word = append(word, r)
			continue
		}
		add(word)
		word = word[:0]
	}
	add(word)
	return words
}

func odd(word []rune) bool {
	found := 0
	for _, t := range alphabets {
		if slices.ContainsFunc(word, func(r rune) bool { return unicode.Is(t, r) }) {
			found++
		}
	}
	return found > 1 || slices.ContainsFunc(word, func(r rune) bool {
		return r >= 0xff21 && r <= 0xff5a || r >= 0x1d400 && r <= 0x1d7ff
	})
}

// Escaped is a word with everything beyond ASCII written as an escape, which tells
// lookalikes from what they look like.
func Escaped(word string) string {
	var out []byte
	for _, r := range word {
		if r < 0x80 {
			out = append(out, byte(r))
			continue
		}
		out = append(out, escape(r)...)
	}
	return string(out)
}
