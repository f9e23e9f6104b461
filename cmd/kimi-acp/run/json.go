package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Lines is a View, for the Merged stream, that writes each message of the Wire as
// one line of JSON, {"type":…,"payload":…}.
type Lines struct {
	w    io.Writer
	fail func(error)
	dead bool
}

// NewLines makes a Lines. Fail is told once when nothing can be written any more,
// or when a message has no JSON.
func NewLines(w io.Writer, fail func(error)) *Lines { return &Lines{w: w, fail: fail} }

// Receive writes a message's line.
func (l *Lines) Receive(m wire.Message) {
	if l.dead {
		return
	}
	line, err := wire.Encode(m)
	if err == nil {
		_, err = l.w.Write(append(line, '\n'))
	}
	if err != nil {
		l.dead = true
		l.fail(err)
	}
}

// last is the line that ends the output.
type last struct {
	Type       string    `json:"type"`
	StopReason string    `json:"stop_reason"`
	Exit       ExitCode  `json:"exit"`
	Text       string    `json:"text"`
	Steps      int       `json:"steps"`
	Unanswered int       `json:"unanswered"`
	Usage      llm.Usage `json:"usage"`
	Error      *failure  `json:"error"`
}

type failure struct {
	Message string `json:"message"`
	Status  int    `json:"status"` // HTTP, 0: none
}

// End writes the last line: the result as {"type":"result",…}. A turn that could
// not begin has an error that is not the Result's.
func (l *Lines) End(r Result, exit ExitCode, err error) error {
	stop := StopName(r)
	if err == nil {
		err = r.Err
	} else {
		stop = "error"
	}
	out := last{
		Type: "result", StopReason: stop, Exit: exit,
		Text: r.Text, Steps: r.Steps, Unanswered: r.Unanswered, Usage: r.Usage,
	}
	if err != nil {
		f := failure{Message: err.Error()}
		var e *llm.Error
		if errors.As(err, &e) {
			f.Status = e.Status
		}
		out.Error = &f
	}
	enc := json.NewEncoder(l.w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
