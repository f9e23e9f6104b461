package wire

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Version is the version of the protocol that this package speaks.
const Version = "1.10"

// The error codes of the protocol beyond those of JSON-RPC.
const (
	CodeInvalidState = -32000 // a turn runs, or none does
	CodeNoModel      = -32001 // no model is set
	CodeNotSupported = -32002 // the model, or the program, cannot do it
	CodeProvider     = -32003 // the model's provider failed
	CodeAuthExpired  = -32004 // the log-in has run out
)

// Recording says how a Recorder records.
type Recording struct {
	// Empty says that nothing was written to the file yet, so that it needs the
	// header line. A file that is not empty must end in a newline.
	Empty bool
	// Now is the clock of the timestamps; nil: time.Now.
	Now func() time.Time
	// Failed is told, once a turn, that the rest of the turn will not be recorded.
	// It runs during a delivery and must not send on the Wire. nil: nobody is told.
	Failed func(error)
}

// Recorder is a View that appends what it receives to a wire.jsonl, one Write for
// a line. Attach it to the Merged stream of one Wire.
//
// When a Write fails (or a message cannot be encoded), the rest of the turn is left
// out, so that a recorded turn has no gap but only an end; the next turn is
// recorded again, beginning on a line of its own.
type Recorder struct {
	w      io.Writer
	cfg    Recording
	header bool // still to be written
	torn   bool // the last Write left part of a line
	depth  int  // of TurnBegin and TurnEnd, which nest
	failed bool // in this turn
}

// NewRecorder makes a Recorder that writes to w.
func NewRecorder(w io.Writer, cfg Recording) *Recorder {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Recorder{w: w, cfg: cfg, header: cfg.Empty}
}

// Receive appends a line for the message, with the time of writing.
func (r *Recorder) Receive(m Message) {
	if Local(m) {
		return
	}
	if _, ok := m.(TurnBegin); ok {
		r.depth++
	}
	if !r.failed {
		if err := r.record(m); err != nil {
			r.failed = true
			if r.cfg.Failed != nil {
				r.cfg.Failed(fmt.Errorf("record %s: %w", m.WireType(), err))
			}
		}
	}
	if _, ok := m.(TurnEnd); ok {
		r.depth = max(r.depth-1, 0)
		if r.depth == 0 {
			r.failed = false
		}
	}
}

func (r *Recorder) record(m Message) error {
	message, err := Encode(m)
	if err != nil {
		return err
	}
	if r.header {
		if err := r.writeLine([]byte(`{"type": "metadata", "protocol_version": "` + Version + `"}`)); err != nil {
			return err
		}
		r.header = false
	}
	line := append([]byte(nil), `{"timestamp": `...)
	line = appendSeconds(line, r.cfg.Now())
	line = append(line, `, "message": `...)
	line = appendSpaced(line, message)
	return r.writeLine(append(line, '}'))
}

// writeLine writes the line with its newline, and one before it when the last line
// was left unfinished.
func (r *Recorder) writeLine(line []byte) error {
	if r.torn {
		line = append([]byte{'\n'}, line...)
	}
	line = append(line, '\n')
	n, err := r.w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if n > 0 {
		r.torn = line[n-1] != '\n'
	}
	return err
}

// appendSeconds appends the time as seconds since 1970, to the microsecond, always
// with a decimal point.
func appendSeconds(dst []byte, t time.Time) []byte {
	micros := t.UnixMicro()
	start := len(dst)
	dst = strconv.AppendFloat(dst, float64(micros)/1e6, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') >= 0 {
		return dst
	}
	return append(dst, ".0"...)
}
