package session

import (
	"errors"

	"kimi-acp/soul/wire"
)

// Report says in what state a session is.
type Report struct {
	Findings []Finding // empty: it is in order
	Records  int       // messages in the history
	Recorded int       // messages in the recording
	Size     int64     // bytes of the history
	Checked  int64     // bytes of it that were held against sums
}

// Verify reads all of a session and says what is damaged. It mends nothing.
func (r *Reader) Verify() Report {
	var out Report
	h, err := r.History()
	if err != nil {
		out.Findings = append(out.Findings, Finding{Kind: KindUnreadable, Text: err.Error()})
	}
	out.Findings = append(out.Findings, h.Findings...)
	out.Records, out.Size, out.Checked = len(h.Messages), h.Size, h.Checked
	if _, err := r.State(); err != nil {
		out.Findings = append(out.Findings, Finding{Kind: KindSettings, Text: err.Error()})
	}
	var found notes
	for m, err := range r.Recording() {
		if err != nil {
			found.add(KindUnreadable, "%v", err)
			break
		}
		var unknown *wire.UnknownTypeError
		switch {
		case m.Err == nil:
			out.Recorded++
		case errors.As(m.Err, &unknown):
			found.add(KindUnknown, "line %d of the recording: %s", m.Line, clip(m.Err.Error()))
		default:
			found.add(KindRecording, "line %d of the recording: %s", m.Line, clip(m.Err.Error()))
		}
	}
	out.Findings = append(out.Findings, found.all()...)
	return out
}
