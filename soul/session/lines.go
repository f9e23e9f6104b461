package session

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds a line that is read or written, in bytes: pictures are in them.
const maxLine = 64 << 20

// line is a line of a file. Its text is valid until the next one is read.
type line struct {
	text   []byte // without its end
	number int    // 1-based
	at     int64  // offset of its first byte
	size   int64  // bytes, with its end
	ended  bool
	long   bool // over the bound; the text is cut
}

// lineReader reads lines in a memory that does not depend on the file.
type lineReader struct {
	r      *bufio.Reader
	max    int
	buf    []byte
	number int
	at     int64
}

func newLineReader(r io.Reader, at int64) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: maxLine, at: at}
}

// next gives the next line, io.EOF after the last one.
func (l *lineReader) next() (line, error) {
	l.buf = l.buf[:0]
	l.number++
	out := line{number: l.number, at: l.at}
	for {
		part, err := l.r.ReadSlice('\n')
		out.size += int64(len(part))
		l.at += int64(len(part))
		if err == nil && len(l.buf) == 0 { // the usual case: no copy
			out.text, out.ended = part[:len(part)-1], true
			return out, nil
		}
		room := max(l.max-len(l.buf), 0)
		out.long = out.long || len(part) > room
		l.buf = append(l.buf, part[:min(len(part), room)]...)
		switch {
		case err == nil || errors.Is(err, io.EOF):
			if out.size == 0 {
				return line{}, io.EOF
			}
			out.ended = err == nil
			out.text = bytes.TrimSuffix(l.buf, []byte{'\n'})
			return out, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line{}, err
		}
	}
}
