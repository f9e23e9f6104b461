package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf8"

	"kimi-acp/internal/jsonstring"
)

// Appender is the fast path of params, results and error data: a value that
// writes itself. AppendJSON appends exactly one JSON value, in valid UTF-8 and
// without a raw newline, and may be called from any goroutine.
type Appender interface {
	AppendJSON(dst []byte) []byte
}

// appendCall appends a request, or a notification if id is "".
func appendCall(dst []byte, method string, id ID, params any) ([]byte, error) {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = jsonstring.Append(dst, method)
	if id != "" {
		dst = append(append(dst, `,"id":`...), id...)
	}
	if params != nil {
		var err error
		if dst, err = appendValue(append(dst, `,"params":`...), params); err != nil {
			return dst, fmt.Errorf("encode params of %s: %w", method, err)
		}
	}
	return append(dst, '}'), nil
}

// appendResult appends the response to id with a result.
func appendResult(dst []byte, id ID, result any) ([]byte, error) {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst, err := appendValue(append(dst, `,"result":`...), result)
	return append(dst, '}'), err
}

// appendError appends the response to id with an error. If the data cannot be
// encoded, err says so and the response is complete without it.
func (d *Dialect) appendError(dst []byte, id ID, e *Error) (_ []byte, err error) {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = strconv.AppendInt(append(dst, `,"error":{"code":`...), int64(e.Code), 10)
	dst = jsonstring.Append(append(dst, `,"message":`...), e.Message)
	data := e.Data
	if data != nil {
		var withData []byte
		if withData, err = appendValue(append(dst, `,"data":`...), data); err == nil {
			return append(withData, "}}"...), nil
		}
	}
	if d.NullData {
		dst = append(dst, `,"data":null`...)
	}
	return append(dst, "}}"...), err
}

// appendValue appends v as one JSON value of one line and valid UTF-8. A panic of
// v's own encoding is an error: one bad value must not cost the process.
func appendValue(dst []byte, v any) (_ []byte, err error) {
	start := len(dst)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding of %T panicked: %s", v, panicWords(p))
		}
	}()
	if a, ok := v.(Appender); ok {
		dst = a.AppendJSON(dst)
		if len(dst) == start {
			return dst, fmt.Errorf("%T appended nothing", v)
		}
		if bytes.IndexByte(dst[start:], '\n') >= 0 {
			return dst, fmt.Errorf("%T appended a raw newline", v)
		}
	} else {
		w := sliceWriter{dst}
		encoder := json.NewEncoder(&w)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			return dst, err
		}
		dst = w.b[:len(w.b)-1] // without Encode's newline
	}
	if !utf8.Valid(dst[start:]) {
		// In JSON, bytes beyond ASCII stand in strings only.
		dst = append(dst[:start], bytes.ToValidUTF8(dst[start:], []byte("\ufffd"))...)
	}
	return dst, nil
}

// sliceWriter is an io.Writer at the end of b.
type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// panicWords describes a panic value for a log: the runtime's own words, which
// quote no data, or only the type.
func panicWords(p any) string {
	var r interface {
		error
		RuntimeError()
	}
	if err, ok := p.(error); ok && errors.As(err, &r) {
		return r.Error()
	}
	return fmt.Sprintf("%T", p)
}

// scratchPool holds buffers in which messages are encoded before they are queued.
type scratchPool struct{ pool sync.Pool }

type scratch struct{ b []byte }

func (s *scratchPool) take() *scratch {
	if b, ok := s.pool.Get().(*scratch); ok {
		return b
	}
	return new(scratch)
}

// give takes a buffer back, unless it became so large that it should be freed.
func (s *scratchPool) give(b *scratch) {
	const kept = 64 << 10
	if cap(b.b) <= kept {
		b.b = b.b[:0]
		s.pool.Put(b)
	}
}
