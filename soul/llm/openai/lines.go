package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"kimi-acp/soul/llm"
)

const (
	// maxLine bounds one line of a stream, and all that is not an event, in bytes.
	maxLine = 8 << 20
	// maxDrain bounds what is read after the last event, in bytes.
	maxDrain = 64 << 10
	// drainTimeout is how long is waited for the end of the response.
	drainTimeout = 250 * time.Millisecond
	// maxTogether bounds a line of several events, in bytes: the library's buffer
	// has 4 KiB, and longer lines cost it more copies than they save.
	maxTogether = 4000
	// readSize is the size of the buffer between the connection and the lines.
	readSize = 32 << 10
)

// errStalled is why a call is cancelled whose stream went silent.
var errStalled = &llm.Error{Kind: llm.KindStalled, Message: "the provider went silent in the middle of its answer"}

// separator stands between the events that lines passes on together. No event
// holds it: in JSON a control character must be escaped.
const separator = '\x1e'

// lines is the body that go-openai reads: of the response it passes on the data
// lines only, each whole and with a line end. Events that have come together go
// on in one line, with a separator between them, because what the library does
// with a line costs more than all that we do with an event. So comments and event names cannot
// use up the library's patience or its memory, a last line without a line end
// counts, an error event reaches us instead of the library, which would wait for
// a line after it, and a body that is no event stream is kept to be looked at.
//
// It watches over the silence, too: while a read waits for longer than limit, the
// call is cancelled. Any byte counts as a sign of life, also a comment.
type lines struct {
	body  io.ReadCloser
	in    *bufio.Reader
	timer *time.Timer
	limit time.Duration
	until time.Time // when the last read is over, whatever comes; zero: there is no such time

	line  []byte // the line that is passed on, reused
	out   []byte // what is left of it
	long  []byte // a line that did not fit into in's buffer
	err   error  // after out
	data  bool   // a data line was seen
	done  bool   // [DONE] was seen
	stray []byte // what was no event: a JSON body, HTML
}

func newLines(body io.ReadCloser, limit time.Duration, cancel context.CancelCauseFunc) *lines {
	l := &lines{body: body, limit: limit}
	l.timer = time.AfterFunc(limit, func() { cancel(errStalled) })
	l.timer.Stop()
	l.in = bufio.NewReaderSize(readerFunc(l.readBody), readSize)
	return l
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// readBody reads the connection under the watch of the timer.
func (l *lines) readBody(p []byte) (int, error) {
	limit := l.limit
	if !l.until.IsZero() {
		limit = min(limit, max(time.Until(l.until), 0))
	}
	l.timer.Reset(limit)
	defer l.timer.Stop()
	return l.body.Read(p)
}

// Read gives bytes of at most one line, that is of the events of one read.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.out) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		l.next()
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	return n, nil
}

// endIn bounds all further reads together: nothing is of much use any more, and comments
// may come without end.
func (l *lines) endIn(d time.Duration) { l.until = time.Now().Add(d) }

// drain reads the rest of a response whose last event has come, so that its
// connection can serve the next call.
func (l *lines) drain() {
	l.endIn(drainTimeout)
	_, _ = io.CopyN(io.Discard, readerFunc(l.readBody), maxDrain) // only the reuse is lost if it fails
}

// Close stops the watch and closes the response.
func (l *lines) Close() error {
	l.timer.Stop()
	return l.body.Close()
}

// next reads a line and sets out if it is to be passed on.
func (l *lines) next() {
	line, err := l.readLine()
	l.err = err
	if err != nil && !errors.Is(err, io.EOF) {
		return // what came before the break is no whole line
	}
	line = bytes.TrimSpace(line)
	payload, isData := payloadOf(line)
	switch {
	case !isData:
		l.keep(line)
	case len(payload) == 0:
	case err != nil && payload[0] == '{' && !json.Valid(payload):
		l.data = true // the stream ends within an event
	case string(payload) == endOfStream:
		l.data, l.done = true, true
		l.line = append(l.line[:0], "data:"+endOfStream+"\n"...)
		l.out = l.line
	default:
		l.data = true
		l.line = appendEvent(append(l.line[:0], "data:"...), payload)
		l.gather()
		l.line = append(l.line, '\n')
		l.out = l.line
	}
}

// gather adds the events that have come already, up to a line that is no event.
func (l *lines) gather() {
	for {
		come, _ := l.in.Peek(l.in.Buffered()) // cannot fail
		end := bytes.IndexByte(come, '\n')
		if end < 0 || len(l.line)+end > maxTogether {
			return
		}
		line := bytes.TrimSpace(come[:end])
		payload, isData := payloadOf(line)
		if !isData && !ignored(line) || string(payload) == endOfStream {
			return
		}
		if len(payload) > 0 {
			l.line = appendEvent(append(l.line, separator), payload)
		}
		_, _ = l.in.Discard(end + 1) // cannot fail
	}
}

// endOfStream is what follows the last event.
const endOfStream = "[DONE]"

// payloadOf gives what a data line says; false: the line is another.
func payloadOf(line []byte) ([]byte, bool) {
	payload, isData := bytes.CutPrefix(line, []byte("data:"))
	if !isData {
		return nil, false
	}
	return bytes.TrimSpace(payload), true
}

// appendEvent appends an event, with a blank that hides the start of an error
// event from the library.
func appendEvent(dst, payload []byte) []byte {
	if payload[0] == '{' {
		dst = append(dst, "{ "...)
		payload = payload[1:]
	}
	return append(dst, payload...)
}

// readLine gives the next line, which is valid until the next call.
func (l *lines) readLine() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	l.long = append(l.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.in.ReadSlice('\n')
		if len(l.long)+len(line) > maxLine {
			return nil, malformed("the provider sent a line of more than %d bytes", maxLine)
		}
		l.long = append(l.long, line...)
	}
	return l.long, err
}

// keep collects a line that is no event, up to maxLine bytes in all.
func (l *lines) keep(line []byte) {
	if ignored(line) || len(l.stray)+len(line) >= maxLine {
		return
	}
	l.stray = append(append(l.stray, line...), '\n')
}

// ignored tells whether the line is blank, a comment or another field of
// server-sent events.
func ignored(line []byte) bool {
	if len(line) == 0 || line[0] == ':' {
		return true
	}
	for _, name := range [...]string{"event:", "id:", "retry:"} {
		if bytes.HasPrefix(line, []byte(name)) {
			return true
		}
	}
	return false
}
