package fileop

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxReplacements = 1000 // in one edit
	maxMatchLines   = 20   // line numbers that a MatchError names
)

// Replacement exchanges one text for another. Line ends are compared as LF, whatever
// the file uses.
type Replacement struct {
	Old, New string
	All      bool // every occurrence, from the start, not overlapping; else Old must be unique
}

// replace applies replacements one after the other, each to the result of those
// before it. It gives all of them or an error.
func (t Text) replace(path string, rs []Replacement) (Text, error) {
	if len(rs) > maxReplacements {
		return t, fmt.Errorf("%s: %w: %d replacements, at most %d in one edit", path, ErrBadEdit, len(rs), maxReplacements)
	}
	usual, start := t.mostlyCRLF(), t.Body
	for i, r := range rs {
		r.Old, r.New = joinLF(r.Old), joinLF(r.New)
		at, err := t.find(r)
		if err != nil {
			return t, fmt.Errorf("%s: replacement %d of %d: %w", path, i+1, len(rs), err)
		}
		if len(at) == 0 || len(at) > 1 && !r.All {
			return t, t.mismatch(path, i, len(rs), r.Old, start)
		}
		if size := int64(len(t.Body)) + int64(len(at))*int64(len(r.New)-len(r.Old)); size > MaxEdit {
			return t, &SizeError{Path: path, Size: size, Max: MaxEdit}
		}
		t = t.splice(at, r.Old, r.New, usual)
	}
	return t, nil
}

// find gives the offsets of Old: all that will be replaced, or the first two
// positions, overlapping ones too, when it has to be unique.
func (t Text) find(r Replacement) ([]int, error) {
	switch {
	case r.Old == "":
		return nil, fmt.Errorf("%w: the old text is empty; to add text, take a line beside it as old and repeat it in new", ErrBadEdit)
	case r.Old == r.New:
		return nil, fmt.Errorf("%w: old and new text are the same", ErrBadEdit)
	}
	if err := t.accepts(r.New); err != nil {
		return nil, err
	}
	var at []int
	for from := 0; ; {
		i := strings.Index(t.Body[from:], r.Old)
		if i < 0 {
			return at, nil
		}
		at = append(at, from+i)
		if r.All {
			from += i + len(r.Old)
			continue
		}
		if len(at) == 2 {
			return at, nil
		}
		from += i + 1
	}
}

// accepts says whether a text can be put into the file.
func (t Text) accepts(s string) error {
	switch {
	case strings.ContainsRune(s, 0):
		return fmt.Errorf("%w: the new text holds a NUL byte", ErrBinary)
	case !utf8.ValidString(s):
		return fmt.Errorf("%w: the new text", ErrEncoding)
	case t.Encoding != UTF8:
		if r, lacks := t.Encoding.lacks(s); lacks {
			return fmt.Errorf("%w: the file is %s, which has no %q; write it with other characters, or have the user convert the file", ErrEncoding, t.Encoding, r)
		}
	case t.NotUTF8 && strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }):
		return fmt.Errorf("%w: the file; only ASCII can be put into it, or convert it to UTF-8 first", ErrEncoding)
	}
	return nil
}

// splice exchanges old for text at the given offsets. Of a mixed file, lines outside
// these stretches keep their endings whatever happens inside.
func (t Text) splice(at []int, old, text string, usual bool) Text {
	var body strings.Builder
	body.Grow(max(0, len(t.Body)+len(at)*(len(text)-len(old))))
	var own []bool
	done, line, span := 0, 0, strings.Count(old, "\n")
	for _, i := range at {
		body.WriteString(t.Body[done:i])
		body.WriteString(text)
		if t.Newline == Mixed {
			first := line + strings.Count(t.Body[done:i], "\n")
			own = append(own, t.own[line:first]...)
			own = append(own, carryEndings(old, text, t.own[first:first+span], usual)...)
			line = first + span
		}
		done = i + len(old)
	}
	body.WriteString(t.Body[done:])
	if t.Newline == Mixed {
		t.own = append(own, t.own[line:]...)
	}
	t.Body = body.String()
	return t
}

// mismatch reports a replacement whose old text does not occur exactly once.
func (t Text) mismatch(path string, index, total int, old, start string) *MatchError {
	e := &MatchError{Path: path, Index: index, Total: total}
	line, done := 1, 0
	for from := 0; ; {
		i := strings.Index(t.Body[from:], old)
		if i < 0 {
			break
		}
		if e.Count++; len(e.Lines) < maxMatchLines {
			line += strings.Count(t.Body[done:from+i], "\n")
			done = from + i
			e.Lines = append(e.Lines, line)
		}
		from += i + 1
	}
	if e.Count == 0 {
		e.Consumed = index > 0 && strings.Contains(start, old)
		e.Nearest = nearest(t.Body, old)
	}
	return e
}
