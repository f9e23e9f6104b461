package run

import (
	"io"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Answer is a View, for the Raw stream, that writes the model's text and nothing
// else, as it comes. Texts that something else stood between begin on lines of their
// own, and the whole ends with a line end. An answer that broke off and is gone on with
// stays in one piece.
type Answer struct {
	w    io.Writer
	told wire.Retelling
	mend bool        // an attempt broke off, and no text has come since
	fail func(error) // told once when w takes no more
	open bool        // the last line has no end
	dead bool
}

// NewAnswer makes an Answer. Fail is told once when nothing can be written any
// more; nil: nobody is told.
func NewAnswer(w io.Writer, fail func(error)) *Answer { return &Answer{w: w, fail: fail} }

// Receive writes a text, or ends the line that one left open.
func (a *Answer) Receive(m wire.Message) {
	m, superseded := a.told.Receive(m)
	switch part := m.(type) {
	case wire.StepRetry:
		a.mend = true
		return
	case wire.ContentPart:
		if part.Part.Type == llm.PartText {
			if superseded {
				a.end()
			}
			a.mend = false
			a.write(part.Part.Text)
			return
		}
		if a.mend {
			return
		}
	}
	if shows(m) {
		a.mend = false
		a.end()
	}
}

// shows tells whether a message stands between two texts.
func shows(m wire.Message) bool {
	switch m.(type) {
	case wire.ContentPart, wire.StepBegin, wire.StepRetry, wire.Notification, wire.ToolCall, wire.ToolResult, wire.ApprovalRequest, wire.QuestionRequest, wire.TurnEnd:
		return true
	}
	return false
}

func (a *Answer) end() {
	if a.open {
		a.write("\n")
	}
}

func (a *Answer) write(text string) {
	if a.dead || text == "" {
		return
	}
	if _, err := io.WriteString(a.w, text); err != nil {
		a.dead = true
		if a.fail != nil {
			a.fail(err)
		}
	}
	a.open = !strings.HasSuffix(text, "\n")
}

// maxText bounds the text that a Result holds, in bytes.
const maxText = 8 << 20

// tally sums up a turn.
type tally struct {
	kept   strings.Builder
	answer *Answer
	usage  llm.Usage
}

// Receive counts a message in.
func (t *tally) Receive(m wire.Message) {
	if t.answer == nil {
		t.answer = NewAnswer(limited{&t.kept}, nil)
	}
	t.answer.Receive(m)
	if s, ok := m.(wire.StatusUpdate); ok && s.TokenUsage != nil {
		t.usage.InputOther += s.TokenUsage.InputOther
		t.usage.Output += s.TokenUsage.Output
		t.usage.InputCacheRead += s.TokenUsage.InputCacheRead
		t.usage.InputCacheCreation += s.TokenUsage.InputCacheCreation
	}
}

func (t *tally) text() string { return t.kept.String() }

// limited takes no more than maxText.
type limited struct{ to *strings.Builder }

func (l limited) Write(p []byte) (int, error) {
	if l.to.Len()+len(p) > maxText {
		return 0, io.ErrShortWrite
	}
	return l.to.Write(p)
}
