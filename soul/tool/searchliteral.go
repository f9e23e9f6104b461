package tool

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxLiterals      = 16 // texts of which one is required
	binaryHead       = 8 << 10
	kelvin, longS    = "\u212a", "\u017f" // what k and s also stand for when case does not count
	foldsBeyondASCII = "ks"
)

// literals are texts of which every match of a pattern holds at least one. They are
// looked for instead of running the pattern over all of a text, which is many times
// faster. No texts: nothing is known.
type literals struct {
	texts [][]byte
	fold  bool // letter case does not count; the texts are in lower case
	exact bool // a match is one of the texts, and one of the texts is a match
}

// requiredLiterals finds them for a parsed pattern.
func requiredLiterals(re *syntax.Regexp) literals {
	need := required(re)
	if len(need.texts) == 0 {
		return literals{}
	}
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	need.exact = re.Op == syntax.OpLiteral && !need.fold && string(need.texts[0]) == string(re.Rune)
	return need
}

func required(re *syntax.Regexp) literals {
	switch re.Op {
	case syntax.OpLiteral:
		return ofLiteral(re)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best literals
		for _, sub := range re.Sub {
			if need := required(sub); need.betterThan(best) {
				best = need
			}
		}
		return best
	case syntax.OpAlternate:
		return anyOf(re.Sub)
	}
	return literals{}
}

func ofLiteral(re *syntax.Regexp) literals {
	text := string(re.Rune)
	if slices.Contains(re.Rune, utf8.RuneError) {
		return literals{} // it stands for broken bytes as well
	}
	if re.Flags&syntax.FoldCase == 0 {
		return literals{texts: [][]byte{[]byte(text)}}
	}
	text = longestASCII(strings.ToLower(text))
	if text == "" {
		return literals{}
	}
	return literals{texts: [][]byte{[]byte(text)}, fold: true}
}

// longestASCII is the longest run of ASCII in s: of other letters, case is no matter
// of single bytes.
func longestASCII(s string) string {
	best := ""
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if len(run) > len(best) {
			best = run
		}
	}
	return best
}

// anyOf needs literals of every branch.
func anyOf(branches []*syntax.Regexp) literals {
	var all literals
	for i, branch := range branches {
		need := required(branch)
		if len(need.texts) == 0 || i > 0 && need.fold != all.fold {
			return literals{}
		}
		all.fold = need.fold
		all.texts = append(all.texts, need.texts...)
	}
	if len(all.texts) > maxLiterals {
		return literals{}
	}
	return all
}

// betterThan prefers long texts, and few of them.
func (l literals) betterThan(other literals) bool {
	if len(l.texts) == 0 || len(other.texts) == 0 {
		return len(l.texts) > 0
	}
	if a, b := l.shortest(), other.shortest(); a != b {
		return a > b
	}
	return len(l.texts) < len(other.texts)
}

func (l literals) shortest() int {
	n := len(l.texts[0])
	for _, t := range l.texts {
		n = min(n, len(t))
	}
	return n
}

// applyTo tells whether the literals can be relied on in a text: the two letters
// that are spelled in other ways when case does not count must not be.
func (l literals) applyTo(text []byte) bool {
	if len(l.texts) == 0 {
		return false
	}
	if !l.fold {
		return true
	}
	for _, t := range l.texts {
		if bytes.ContainsAny(t, foldsBeyondASCII) {
			return !bytes.Contains(text, []byte(kelvin)) && !bytes.Contains(text, []byte(longS))
		}
	}
	return true
}

// literalFinder looks for the literals from the beginning of one text to its end.
type literalFinder struct {
	texts  [][]byte
	within []byte
	next   []int // where each text stands next; -1: nowhere
}

func newLiteralFinder(l literals, within []byte) literalFinder {
	f := literalFinder{texts: l.texts, within: within, next: make([]int, len(l.texts))}
	for i := range f.next {
		f.next[i] = f.search(i, 0)
	}
	return f
}

// from gives the first place at or behind pos, which never goes back; -1: none.
func (f *literalFinder) from(pos int) int {
	first := -1
	for i, at := range f.next {
		if at >= 0 && at < pos {
			at = f.search(i, pos)
			f.next[i] = at
		}
		if at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

func (f *literalFinder) search(i, pos int) int {
	if pos > len(f.within) {
		return -1
	}
	at := bytes.Index(f.within[pos:], f.texts[i])
	if at < 0 {
		return -1
	}
	return pos + at
}

// lowerASCII writes text in lower case, as far as it is ASCII, into buf, which grows
// as needed.
func lowerASCII(buf, text []byte) []byte {
	buf = append(buf[:0], text...)
	for i, c := range buf {
		if c-'A' < 26 {
			buf[i] = c | 0x20
		}
	}
	return buf
}
