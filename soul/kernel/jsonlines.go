package kernel

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// jsonLines reads only the lines that may be messages: programs also print traces and
// banners where they speak, and nobody must answer those.
type jsonLines struct {
	in    *bufio.Reader
	begun bool // within a line that is let through
}

func newJSONLines(r io.Reader) *jsonLines {
	return &jsonLines{in: bufio.NewReaderSize(r, 64<<10)}
}

// Read gives the next bytes of lines that begin with a brace.
func (j *jsonLines) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for !j.begun {
		if err := j.skip(); err != nil {
			return 0, err
		}
	}
	if _, err := j.in.Peek(1); err != nil {
		return 0, err
	}
	ready, _ := j.in.Peek(min(len(p), j.in.Buffered())) // they are there
	if end := bytes.IndexByte(ready, '\n'); end >= 0 {
		ready, j.begun = ready[:end+1], false
	}
	n := copy(p, ready)
	_, err := j.in.Discard(n)
	return n, err
}

// skip comes to a line that begins with a brace, or past one piece of another.
func (j *jsonLines) skip() error {
	first, err := j.in.Peek(1)
	if err != nil {
		return err
	}
	if first[0] == '{' {
		j.begun = true
		return nil
	}
	for {
		_, err := j.in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
