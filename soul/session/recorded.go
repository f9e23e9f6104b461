package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"time"

	"kimi-acp/soul/wire"
)

// Recorded is a message as it stands in a wire.jsonl, or a line that holds none.
type Recorded struct {
	Line    int       // 1-based
	Offset  int64     // of the line's first byte
	At      time.Time // when it was written; zero: nobody knows
	Type    string    // as in the envelope, e.g. "TurnBegin"; "" when there is none
	Message wire.Message
	// Raw is the encoded message, type and payload; of a damaged line all of it.
	// It is the receiver's.
	Raw []byte
	// Err says why Message is nil: a *wire.UnknownTypeError, or what is wrong with
	// the line.
	Err error
}

// Recording gives the lines of wire.jsonl in order, as it was when the iteration
// began, but for headers and empty lines. An error is one of reading, and ends it.
func (r *Reader) Recording() iter.Seq2[Recorded, error] {
	return func(yield func(Recorded, error) bool) {
		if _, err := (&follower{dir: r.dir, whole: true}).drain(func(m Recorded) bool { return yield(m, nil) }); err != nil {
			yield(Recorded{}, err)
		}
	}
}

// follower reads a file of which the end is not known yet.
type follower struct {
	dir   folder
	whole bool        // the last line counts also without an end
	seen  fs.FileInfo // which file it was
	at    int64       // what was read of it, in bytes
	line  int         // lines
}

// drain gives what is new, until take wants no more; then more is false. A file that
// is not there has nothing, one that took the place of another is read from its
// beginning.
func (f *follower) drain(take func(Recorded) bool) (more bool, err error) {
	file, err := f.dir.OpenFile(wireName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err == nil {
		// Whoever writes must be able to replace it, so it is not kept open.
		more, err = f.drainFile(file, take)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return false, fmt.Errorf("reading the recording: %w", err)
	}
	return more, nil
}

func (f *follower) drainFile(file file, take func(Recorded) bool) (more bool, err error) {
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	if f.seen != nil && !os.SameFile(f.seen, info) || info.Size() < f.at {
		f.at, f.line = 0, 0
	}
	f.seen = info
	lines := newLineReader(io.NewSectionReader(file, f.at, info.Size()-f.at), f.at)
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if !l.ended && !f.whole {
			return true, nil // the rest of it is being written
		}
		f.line++
		f.at = l.at + l.size
		l.number = f.line
		if m, ok := parseRecorded(l); ok && !take(m) {
			return false, nil
		}
	}
}

// parseRecorded reads a line. It gives nothing of an empty one and of a header.
func parseRecorded(l line) (Recorded, bool) {
	m := Recorded{Line: l.number, Offset: l.at}
	if l.long {
		m.Err = fmt.Errorf("it has %d bytes, more than can be read", l.size)
		return m, true
	}
	text := bytes.TrimSpace(l.text)
	if len(text) == 0 {
		return m, false
	}
	raw, header := recorded(text)
	if header {
		return m, false
	}
	if raw == nil {
		m.Raw, m.Err = bytes.Clone(text), errors.New("it holds no message")
		return m, true
	}
	m.Raw = bytes.Clone(raw)
	var envelope struct {
		Timestamp float64 `json:"timestamp"`
	}
	if json.Unmarshal(text, &envelope) == nil && envelope.Timestamp > 0 && envelope.Timestamp < math.MaxInt32*1000 {
		m.At = time.UnixMicro(int64(math.Round(envelope.Timestamp * 1e6)))
	}
	var named struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &named) == nil {
		m.Type = named.Type
	}
	m.Message, m.Err = wire.Decode(raw)
	return m, true
}
