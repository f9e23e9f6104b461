package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Framing says where a message ends on the byte stream.
type Framing uint8

// The framings.
const (
	Newline       Framing = iota // one message a line, ended by \n; \r\n is read too
	ContentLength                // header lines with Content-Length, a blank line, the body
)

const (
	readBuffer = 64 << 10 // bytes read at once; also the limit of one header line
	headSize   = 4 << 10  // bytes kept of a message over the limit, to find its id
	maxHeaders = 64       // header lines of one message
)

// frame is one message as it came: its own memory, which may be kept.
type frame struct {
	data []byte
	size int64 // bytes of the whole message; more than len(data) if it was over the limit
}

// oversized says that the message was over the limit; data is then its beginning.
func (f frame) oversized() bool { return f.size > int64(len(f.data)) }

// framer splits a byte stream into messages. An error is final, io.EOF is the
// plain end.
type framer interface {
	next() (frame, error)
}

// newFramer gives the framer for messages of at most limit bytes.
func (f Framing) newFramer(r io.Reader, limit int) framer {
	b := bufio.NewReaderSize(r, readBuffer)
	if f == ContentLength {
		return &lengthFramer{r: b, limit: limit}
	}
	return &lineFramer{r: b, limit: limit}
}

// appendFrame appends message with what the framing puts around it.
func (f Framing) appendFrame(dst, message []byte) []byte {
	if f == ContentLength {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(message)), 10)
		dst = append(dst, "\r\n\r\n"...)
		return append(dst, message...)
	}
	return append(append(dst, message...), '\n')
}

// lineFramer reads a message a line. What stands behind the last \n counts as a
// line, too.
type lineFramer struct {
	r     *bufio.Reader
	limit int
	begun bool  // the first line was read
	err   error // what ended the input
}

func (l *lineFramer) next() (frame, error) {
	f := frame{}
	for l.err == nil {
		chunk, err := l.r.ReadSlice('\n')
		ended := err == nil
		if ended {
			chunk = chunk[:len(chunk)-1]
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			l.err = err
		}
		f.size += int64(len(chunk))
		f.data = l.keep(f, chunk)
		if ended {
			return l.begin(f), nil
		}
	}
	if errors.Is(l.err, io.EOF) && f.size > 0 {
		return l.begin(f), nil
	}
	return frame{}, l.err
}

// keep appends chunk while the message, with it of f.size bytes, is within the
// limit. Of one that is not, it keeps the head.
func (l *lineFramer) keep(f frame, chunk []byte) []byte {
	if f.size <= int64(l.limit) {
		if cap(f.data)-len(f.data) < len(chunk) { // double, where append would grow by a quarter
			f.data = slices.Grow(f.data, max(len(f.data), len(chunk)))
		}
		return append(f.data, chunk...)
	}
	if before := f.size - int64(len(chunk)); before > int64(l.limit) {
		return f.data // the head was taken
	}
	head := bytes.Clone(f.data[:min(len(f.data), headSize)])
	head = append(head, chunk[:min(len(chunk), headSize-len(head))]...)
	// A head as long as the message would not look cut.
	return head[:min(int64(len(head)), f.size-1)]
}

// begin takes the byte order mark from the first line.
func (l *lineFramer) begin(f frame) frame {
	if !l.begun {
		l.begun = true
		if data, ok := bytes.CutPrefix(f.data, []byte("\ufeff")); ok {
			f.data, f.size = data, f.size-int64(len(f.data)-len(data))
		}
	}
	return f
}

// lengthFramer reads messages with headers. A length that is bad or absent is
// final, since nothing says where the next message begins.
type lengthFramer struct {
	r     *bufio.Reader
	limit int
}

func (l *lengthFramer) next() (frame, error) {
	size, err := l.readHeaders()
	if err != nil {
		return frame{}, err
	}
	keep := size
	if size > int64(l.limit) {
		keep = min(size-1, headSize)
	}
	// The peer's word alone does not make us set memory aside.
	var body bytes.Buffer
	body.Grow(int(min(keep, readBuffer)))
	if _, err := io.CopyN(&body, l.r, keep); err != nil {
		return frame{}, fmt.Errorf("read a body of %d bytes: %w", size, inBody(err))
	}
	if _, err := io.CopyN(io.Discard, l.r, size-keep); err != nil {
		return frame{}, fmt.Errorf("skip a body of %d bytes: %w", size, inBody(err))
	}
	return frame{data: body.Bytes(), size: size}, nil
}

// readHeaders reads up to and with the blank line and gives the length. Lines
// that are no headers are skipped: language servers print such things.
func (l *lengthFramer) readHeaders() (int64, error) {
	size, headers := int64(-1), 0
	for lines := 0; ; lines++ {
		line, err := l.r.ReadSlice('\n')
		if errors.Is(err, io.EOF) && lines == 0 && len(line) == 0 {
			return 0, io.EOF
		}
		if err != nil {
			return 0, fmt.Errorf("read a header: %w", inBody(err))
		}
		if lines == maxHeaders {
			return 0, fmt.Errorf("read headers: more than %d lines", maxHeaders)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			if size >= 0 {
				return size, nil
			}
			if headers > 0 {
				return 0, errors.New("read headers: no Content-Length")
			}
			continue
		}
		name, value, isHeader := bytes.Cut(line, []byte(":"))
		if !isHeader {
			continue
		}
		headers++
		if bytes.EqualFold(bytes.TrimSpace(name), []byte("Content-Length")) {
			length, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
			if err != nil {
				return 0, errors.New("read headers: Content-Length is no number of bytes")
			}
			size = int64(length)
		}
	}
}

// inBody makes an end of input inside a message tell itself from a plain one.
func inBody(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
