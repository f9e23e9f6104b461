package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"kimi-acp/soul/llm"
)

// maxHistory bounds how much of a context.jsonl is read, in bytes. Of a larger
// file the end counts.
const maxHistory = 256 << 20

// Restored is what a context.jsonl holds.
type Restored struct {
	// System is the system prompt that the session was begun with, "" when the
	// file has none (yet).
	System string
	// Messages can be sent to a model: every tool call is answered right behind
	// its message, and every tool message answers a call.
	Messages []llm.Message
	// Tokens is what the model last reported for the first Counted of the
	// messages, 0 when it reported nothing. The others are to be estimated.
	Tokens  int
	Counted int
	// Checkpoints is the id that the next checkpoint has.
	Checkpoints int
	// Rotations grows whenever something is taken out of the history. Together with
	// Checkpoints it names a state of the history: as long as both are the same,
	// no turn was added and none was taken away.
	Rotations int
	// Skipped says what was repaired or left out, for people: one sentence each, a
	// bounded number of them.
	Skipped []string
}

// restorer reads a context.jsonl.
type restorer struct {
	maxHistory int64
	maxLine    int

	out   Restored
	notes notes
	sums  *verifier
	torn  *line // the last line, when it has no end and is no record

	checkpoint int // the id in the record before, -1: that one was no checkpoint
}

func newRestorer(sums *verifier) *restorer {
	return &restorer{maxHistory: maxHistory, maxLine: maxLine, sums: sums, checkpoint: -1}
}

// read takes in the whole file, or the system prompt and the end of a large one.
// An error is one of reading; whatever the bytes are, it is none.
func (r *restorer) read(src io.ReaderAt, size int64) error {
	start := int64(0)
	if size > r.maxHistory {
		if err := r.readHead(src, size); err != nil {
			return err
		}
		start = size - r.maxHistory
	}
	lines := newLineReader(io.NewSectionReader(src, start, size-start), start)
	lines.max = r.maxLine
	if start > 0 {
		skipped, err := lines.next() // its beginning is not there
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		r.notes.add(KindTooLong, "the history is longer than %d MiB: its first %d bytes are left out", r.maxHistory>>20, start+skipped.size)
		r.sums.skipTo(start + skipped.size)
	}
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		r.sums.line(l)
		r.take(l)
	}
	r.sums.finish(size, &r.notes)
	return nil
}

// readHead reads the system prompt of a file that is not read whole.
func (r *restorer) readHead(src io.ReaderAt, size int64) error {
	lines := newLineReader(io.NewSectionReader(src, 0, size), 0)
	lines.max = r.maxLine
	first, err := lines.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if record, err := decodeRecord(first.text); err == nil && record.role == roleSystem {
		r.out.System = record.text
	}
	return nil
}

// take adds a line to what was read.
func (r *restorer) take(l line) {
	if l.long {
		r.notes.add(KindBadLine, "line %d of the history has %d bytes, more than can be read; it is left out", l.number, l.size)
		return
	}
	if len(bytes.TrimSpace(l.text)) == 0 {
		return
	}
	record, err := decodeRecord(l.text)
	if err != nil {
		if !l.ended {
			r.torn = &line{number: l.number, at: l.at, size: l.size}
			return
		}
		r.notes.add(KindBadLine, "line %d of the history is left out: %s", l.number, explain(l.text, err))
		return
	}
	if record.flaw != "" {
		r.notes.add(KindBadLine, "line %d of the history is damaged: %s", l.number, record.flaw)
	}
	before := r.checkpoint
	r.checkpoint = -1
	switch record.role {
	case roleSystem:
		r.out.System = record.text
	case roleCheckpoint:
		r.out.Checkpoints = record.number + 1
		r.checkpoint = record.number
	case roleUsage:
		r.out.Tokens, r.out.Counted = record.number, len(r.out.Messages)
		r.checkpoint = before // kimi-cli counts between a checkpoint and what follows it
	default:
		record.message.Mark = before + 1
		r.out.Messages = append(r.out.Messages, record.message)
	}
}

// OpensTurn tells whether a message is what a user said, and not what a program put
// into the user's mouth: notes, and summaries of what was compacted.
func OpensTurn(m llm.Message) bool {
	if m.Role != llm.RoleUser || len(m.Content) == 0 || m.Content[0].Type != llm.PartText {
		return m.Role == llm.RoleUser
	}
	return !strings.HasPrefix(m.Content[0].Text, "<system>") && !strings.HasPrefix(m.Content[0].Text, "<system-reminder>")
}

// explain says what a line is when it is no record.
func explain(text []byte, err error) string {
	if n := bytes.Count(text, []byte{0}); n > 0 {
		return fmt.Sprintf("there are %d zero bytes in it, as a crash of the machine leaves them", n)
	}
	return clip(err.Error())
}

// clip shortens text of unknown origin.
func clip(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s[:limit]), nil)) + "…"
}

// finish makes the history valid. The lines that it gives complete the file itself
// in the same way, as long as nothing stands behind its last tool call; they are
// to be written before anything else.
func (r *restorer) finish() (out Restored, mend []byte, err error) {
	fixed := repair(r.out.Messages, r.out.Counted, &r.notes)
	r.out.Messages, r.out.Counted = fixed.messages, fixed.counted
	r.out.Skipped = r.notes.texts()
	for _, m := range fixed.missing {
		if mend, err = appendMessage(mend, m); err != nil {
			return Restored{}, nil, err
		}
	}
	return r.out, mend, nil
}
