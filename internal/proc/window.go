package proc

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// window keeps the beginning and the end of a text that may be of any length, each up
// to half bytes, cut between runes.
type window struct {
	half  int
	head  []byte
	tail  []byte // the last bytes after head, up to twice half before it is cut back
	full  bool   // head takes no more
	total int64  // bytes written
}

// write takes whole runes.
func (w *window) write(p []byte) {
	w.total += int64(len(p))
	if !w.full {
		n := min(w.half-len(w.head), len(p))
		if n < len(p) {
			w.full = true
			for n > 0 && !utf8.RuneStart(p[n]) {
				n--
			}
		}
		w.head = append(w.head, p[:n]...)
		p = p[n:]
	}
	w.tail = append(w.tail, p...)
	if len(w.tail) > 2*w.half {
		w.tail = append(w.tail[:0], lastRunes(w.tail, w.half)...)
	}
}

// with gives a copy to which p was written.
func (w *window) with(p []byte) *window {
	c := &window{half: w.half, head: slices.Clone(w.head), tail: slices.Clone(w.tail), full: w.full, total: w.total}
	c.write(p)
	return c
}

// text gives what is kept, with a line in the place of what is not that says how many
// bytes are missing.
func (w *window) text() (text string, truncated bool) {
	tail := lastRunes(w.tail, w.half)
	missing := w.total - int64(len(w.head)+len(tail))
	if missing == 0 {
		return string(w.head) + string(tail), false
	}
	var b strings.Builder
	b.Write(w.head)
	if len(w.head) > 0 && w.head[len(w.head)-1] != '\n' {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[%d bytes of output left out]\n", missing)
	b.Write(tail)
	return b.String(), true
}

// lastRunes gives the longest end of p that has at most n bytes and whole runes.
func lastRunes(p []byte, n int) []byte {
	if len(p) <= n {
		return p
	}
	p = p[len(p)-n:]
	for len(p) > 0 && !utf8.RuneStart(p[0]) {
		p = p[1:]
	}
	return p
}
