package lsp

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/contextprovider"
	"kimi-acp/contextprovider/outline"
)

// units is how many UTF-16 code units a text has.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

// offsetIn gives the byte of a line at which a column stands, counted from 0 in UTF-16
// code units. What is behind the line is its end.
func offsetIn(line string, column int) int {
	n := 0
	for i, r := range line {
		if n >= column {
			return i
		}
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return len(line)
}

// offsetOf gives the byte of a text at which a position stands. What is behind the text
// is its end.
func offsetOf(text string, at protocol.Position) int {
	start := 0
	for range at.Line {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return len(text)
		}
		start += i + 1
	}
	line, _, _ := strings.Cut(text[start:], "\n")
	return start + offsetIn(strings.TrimSuffix(line, "\r"), int(at.Character))
}

// lineOf gives a line of a text, from 1, "" where there is none.
func lineOf(text string, n int) string {
	for i := 1; ; i++ {
		line, rest, more := strings.Cut(text, "\n")
		if i == n {
			return strings.TrimSuffix(line, "\r")
		}
		if !more {
			return ""
		}
		text = rest
	}
}

// positionOf finds a place in the text of its file.
func positionOf(text string, at contextprovider.Place) (protocol.Position, error) {
	if at.Symbol == "" && at.Line <= 0 {
		return protocol.Position{}, errors.New("say which symbol is meant, or its line and column")
	}
	// A name may be given with what it belongs to; it is the last word that is looked for.
	name := at.Symbol[strings.LastIndexAny(at.Symbol, ".:#")+1:]
	if name == "" && at.Symbol != "" {
		return protocol.Position{}, fmt.Errorf("%q is no name", at.Symbol)
	}
	if at.Line <= 0 {
		at.Line = likelyLine(at.Path, text, name)
	}
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		if at.Line > 0 && number != at.Line {
			continue
		}
		line = strings.TrimSuffix(line, "\r")
		column := max(at.Column-1, 0)
		if name != "" {
			i := wordIn(line, name, offsetIn(line, column))
			if i < 0 {
				continue
			}
			column = units(line[:i])
		}
		return protocol.Position{Line: uint32(number - 1), Character: uint32(column)}, nil //nolint:gosec // a text is far smaller
	}
	if at.Line > 0 && name != "" {
		return protocol.Position{}, fmt.Errorf("%s does not stand in line %d of %s, which has %d lines", name, at.Line, at.Path, number)
	}
	if name != "" {
		return protocol.Position{}, fmt.Errorf("%s does not stand in %s", name, at.Path)
	}
	return protocol.Position{}, fmt.Errorf("%s has %d lines, so there is no line %d", at.Path, number, at.Line)
}

// likelyLine is the line in which a name of a file is likely to be meant: where it is
// defined, else where it stands in no comment. It is 0 when there is no such line.
func likelyLine(path, text, name string) int {
	for _, d := range outline.Of(path, []byte(text)) {
		if d.Name == name {
			return d.Line
		}
	}
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		begin := strings.TrimSpace(line)
		if wordIn(line, name, 0) >= 0 && !strings.HasPrefix(begin, "//") && !strings.HasPrefix(begin, "#") && !strings.HasPrefix(begin, "*") && !strings.HasPrefix(begin, "/*") {
			return number
		}
	}
	return 0
}

// wordIn finds a word in a line: the one that holds or follows the byte from, else the
// first. It is -1 where there is none.
func wordIn(line, word string, from int) int {
	first, best := -1, -1
	for i := 0; i < len(line); {
		j := strings.Index(line[i:], word)
		if j < 0 {
			break
		}
		j += i
		i = j + 1
		if !boundary(line, j, j+len(word)) {
			continue
		}
		if first < 0 {
			first = j
		}
		if best < 0 && j+len(word) >= from {
			best = j
		}
	}
	if best >= 0 {
		return best
	}
	return first
}

// boundary tells whether what stands between two bytes of a line is a whole word.
func boundary(line string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(line[:start])
	after, _ := utf8.DecodeRuneInString(line[end:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordAt gives the word that stands at a column of a line, from 0 in UTF-16 code units.
func wordAt(line string, column int) string {
	at := offsetIn(line, column)
	start := strings.LastIndexFunc(line[:at], func(r rune) bool { return !inWord(r) })
	if start >= 0 {
		_, size := utf8.DecodeRuneInString(line[start:])
		start += size
	} else {
		start = 0
	}
	end := strings.IndexFunc(line[at:], func(r rune) bool { return !inWord(r) })
	if end < 0 {
		end = len(line) - at
	}
	return line[start : at+end]
}
