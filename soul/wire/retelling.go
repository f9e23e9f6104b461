package wire

import (
	"strings"

	"kimi-acp/soul/llm"
)

// maxRetold bounds what is kept of a step to be compared with, in bytes of text and of
// thinking each. What goes beyond is never taken for said before.
const maxRetold = 4 << 20

// Retelling is for those who show what a Wire says and cannot take back what they have
// shown. After a StepRetry the step is told from its beginning once more; a Retelling
// leaves out what was said before word for word, and says when the new attempt goes
// another way. The zero value is ready; it serves one view, one message at a time.
type Retelling struct {
	text, think retold
}

// retold is what was shown of a step of one kind of part.
type retold struct {
	shown strings.Builder
	again bool // it is being told once more
	at    int  // bytes of shown that were told again
}

// Receive takes each message of a Wire and gives what is to be shown of it, nil:
// nothing. Where superseded is true, the message begins anew what was shown of its
// kind in this step, which no longer counts.
func (r *Retelling) Receive(m Message) (show Message, superseded bool) {
	switch part := m.(type) {
	case TurnBegin, StepBegin, StepInterrupted, TurnEnd:
		r.text, r.think = retold{}, retold{}
	case ToolCall:
		// The texts before it have come; what is said behind it is new.
		r.text.again, r.think.again = false, false
	case StepRetry:
		r.text.restart()
		r.think.restart()
	case ContentPart:
		kind, piece := &r.text, &part.Part.Text
		switch part.Part.Type {
		case llm.PartText:
		case llm.PartThink:
			kind, piece = &r.think, &part.Part.Think
		default:
			return m, false
		}
		if !kind.again || *piece == "" {
			kind.keep(*piece)
			return m, false // as it came: most do, and it costs nothing
		}
		if *piece, superseded = kind.next(*piece); *piece == "" {
			return nil, false
		}
		return part, superseded
	}
	return m, false
}

func (t *retold) restart() { t.again, t.at = t.shown.Len() > 0, 0 }

// next gives what is new of a piece while the step is told again. When it goes another way, that is all that the
// attempt has said so far.
func (t *retold) next(piece string) (text string, superseded bool) {
	shown := t.shown.String()
	n := min(len(piece), len(shown)-t.at)
	switch {
	case piece[:n] != shown[t.at:t.at+n]:
		text, superseded = shown[:t.at]+piece, true
		*t = retold{}
	case t.at+n < len(shown):
		t.at += n
		return "", false
	default:
		text = piece[n:]
		t.again = false
	}
	t.keep(text)
	return text, superseded
}

func (t *retold) keep(text string) {
	t.shown.WriteString(text[:min(len(text), maxRetold-t.shown.Len())])
}
