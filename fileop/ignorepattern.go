package fileop

import "strings"

// wildcard is a compiled pattern of an ignore file. Its meaning is git's: `*` and
// `?` stop at a slash, `**` between slashes stands for any folders.
//
// It is matched by following all possibilities at once, so the time is bounded by
// the lengths of pattern and name multiplied: patterns come from repositories that
// nobody has vouched for.
type wildcard struct {
	glyphs []glyph
	// never: the pattern is malformed, and git matches nothing with such a one.
	never bool
}

type glyphKind uint8

const (
	glyphByte    glyphKind = iota // the byte c
	glyphAny                      // one byte but a slash
	glyphSet                      // one byte of set, never a slash
	glyphStar                     // bytes but slashes, or nothing
	glyphAll                      // any bytes, or nothing
	glyphFolders                  // any bytes that end with a slash, or nothing
)

type glyph struct {
	kind glyphKind
	c    byte
	set  *byteSet
}

type byteSet [4]uint64

func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }
func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// compileWildcard reads a pattern.
func compileWildcard(p string) wildcard {
	var w wildcard
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '?':
			w.glyphs = append(w.glyphs, glyph{kind: glyphAny})
			i++
		case '*':
			kind, n := starAt(p, i)
			w.glyphs = append(w.glyphs, glyph{kind: kind})
			i += n
		case '[':
			set, n := setAt(p[i:])
			if n == 0 {
				return wildcard{never: true}
			}
			w.glyphs = append(w.glyphs, glyph{kind: glyphSet, set: set})
			i += n
		case '\\':
			if i+1 == len(p) {
				return wildcard{never: true}
			}
			w.glyphs = append(w.glyphs, glyph{kind: glyphByte, c: p[i+1]})
			i += 2
		default:
			w.glyphs = append(w.glyphs, glyph{kind: glyphByte, c: c})
			i++
		}
	}
	return w
}

// starAt reads the run of stars at i, and how many bytes it takes. Two or more
// cross folders only where they stand alone between slashes.
func starAt(p string, i int) (glyphKind, int) {
	n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
	if n == 1 || i > 0 && p[i-1] != '/' {
		return glyphStar, n
	}
	switch rest := p[i+n:]; {
	case rest == "" || strings.HasPrefix(rest, `\/`):
		return glyphAll, n
	case rest[0] == '/':
		return glyphFolders, n + 1
	}
	return glyphStar, n
}

// setAt reads the bracket expression that p begins with, and how many bytes it
// takes; 0: it is malformed.
func setAt(p string) (*byteSet, int) {
	set := &byteSet{}
	i, inverted := 1, false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		i, inverted = i+1, true
	}
	previous := -1 // the byte that may begin a range
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0
		}
		c := p[i]
		switch {
		case c == ']' && !first:
			if inverted {
				set.invert()
			}
			return set, i + 1
		case c == '-' && previous >= 0 && i+1 < len(p) && p[i+1] != ']':
			end, n := escaped(p, i+1)
			if n == 0 {
				return nil, 0
			}
			for b := previous; b <= int(end); b++ {
				set.add(byte(b))
			}
			i, previous = i+1+n, -1
			continue
		case c == '[' && strings.HasPrefix(p[i:], "[:"):
			end := strings.IndexByte(p[i+2:], ']')
			if end < 0 {
				return nil, 0
			}
			if name, ok := strings.CutSuffix(p[i+2:i+2+end], ":"); ok {
				if !addClass(set, name) {
					return nil, 0
				}
				i, previous = i+2+end+1, -1
				continue
			}
		}
		b, n := escaped(p, i)
		if n == 0 {
			return nil, 0
		}
		set.add(b)
		i, previous = i+n, int(b)
	}
}

// escaped reads one byte that a backslash may stand before.
func escaped(p string, i int) (c byte, n int) {
	if p[i] != '\\' {
		return p[i], 1
	}
	if i+1 == len(p) {
		return 0, 0
	}
	return p[i+1], 2
}

// addClass adds the bytes of a named class, false: there is none of that name.
func addClass(set *byteSet, name string) bool {
	lower := func(c byte) bool { return c >= 'a' && c <= 'z' }
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	graph := func(c byte) bool { return c > ' ' && c < 0x7f }
	alnum := func(c byte) bool { return lower(c) || upper(c) || digit(c) }
	var member func(byte) bool
	switch name {
	case "alnum":
		member = alnum
	case "alpha":
		member = func(c byte) bool { return lower(c) || upper(c) }
	case "blank":
		member = func(c byte) bool { return c == ' ' || c == '\t' }
	case "cntrl":
		member = func(c byte) bool { return c < ' ' || c == 0x7f }
	case "digit":
		member = digit
	case "graph":
		member = graph
	case "lower":
		member = lower
	case "print":
		member = func(c byte) bool { return c == ' ' || graph(c) }
	case "punct":
		member = func(c byte) bool { return graph(c) && !alnum(c) }
	case "space":
		member = func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	case "upper":
		member = upper
	case "xdigit":
		member = func(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
	default:
		return false
	}
	for c := range 256 {
		if member(byte(c)) {
			set.add(byte(c))
		}
	}
	return true
}

// match tells whether the pattern fits the whole name.
func (w wildcard) match(name string) bool {
	if w.never {
		return false
	}
	// reached[i] says that the glyphs before i fit what was read so far; inside[i]
	// that glyphFolders at i has begun and waits for its slash.
	n := len(w.glyphs)
	var space [4 * 64]bool
	buffers := space[:]
	if 4*(n+1) > len(buffers) {
		buffers = make([]bool, 4*(n+1))
	}
	reached, next := buffers[:n+1], buffers[n+1:2*(n+1)]
	inside, nextInside := buffers[2*(n+1):3*(n+1)], buffers[3*(n+1):4*(n+1)]
	reached[0] = true
	w.skip(reached)
	for i := range len(name) {
		c, alive := name[i], false
		clear(next)
		clear(nextInside)
		for g, glyph := range w.glyphs {
			if glyph.kind == glyphFolders && (reached[g] || inside[g]) {
				nextInside[g] = true
				next[g+1] = next[g+1] || c == '/'
				alive = true
				continue
			}
			if !reached[g] || !glyph.takes(c) {
				continue
			}
			alive = true
			if glyph.kind == glyphStar || glyph.kind == glyphAll {
				next[g] = true
			} else {
				next[g+1] = true
			}
		}
		if !alive {
			return false
		}
		reached, next = next, reached
		inside, nextInside = nextInside, inside
		w.skip(reached)
	}
	return reached[n]
}

// skip goes on over glyphs that may stand for nothing.
func (w wildcard) skip(reached []bool) {
	for g, glyph := range w.glyphs {
		if reached[g] && glyph.kind >= glyphStar {
			reached[g+1] = true
		}
	}
}

func (g glyph) takes(c byte) bool {
	switch g.kind {
	case glyphByte:
		return c == g.c
	case glyphAny, glyphStar:
		return c != '/'
	case glyphSet:
		return c != '/' && g.set.has(c)
	}
	return true
}
