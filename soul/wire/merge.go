package wire

import (
	"bytes"
	"strings"

	"kimi-acp/soul/llm"
)

// maxMerged bounds what a merger holds, in bytes of text. Longer text goes on as
// a second message, which says the same.
const maxMerged = 1 << 20

// merger makes the merged stream out of the raw one: adjacent deltas of one text,
// one thought or one tool call become one message. It is not safe for several
// goroutines.
type merger struct {
	head  Message // what the held message began with, a deep copy; nil: nothing is held
	tail  strings.Builder
	grown bool // tail counts, even if it is empty
}

// push takes the next raw message and emits what is complete.
func (g *merger) push(m Message, emit func(Message)) {
	if g.absorb(m) {
		return
	}
	g.flush(emit)
	switch m := m.(type) {
	case ContentPart:
		g.head = ContentPart{clonePart(m.Part)}
	case ToolCall:
		m.Call.Arguments = clone(m.Call.Arguments)
		m.Call.Extras = bytes.Clone(m.Call.Extras)
		g.head = m
	case ToolCallPart:
		g.head = ToolCallPart{clone(m.ArgumentsPart)}
	default:
		emit(m)
	}
}

// flush emits what is held.
func (g *merger) flush(emit func(Message)) {
	if g.head == nil {
		return
	}
	m := g.head
	switch h := m.(type) {
	case ContentPart:
		switch h.Part.Type {
		case llm.PartText:
			h.Part.Text += g.tail.String()
		case llm.PartThink:
			h.Part.Think += g.tail.String()
		}
		m = h
	case ToolCall:
		h.Call.Arguments = g.grow(h.Call.Arguments)
		m = h
	case ToolCallPart:
		h.ArgumentsPart = g.grow(h.ArgumentsPart)
		m = h
	}
	g.head, g.grown = nil, false
	g.tail.Reset()
	emit(m)
}

// absorb adds m to what is held, if it continues it.
func (g *merger) absorb(m Message) bool {
	if g.head == nil || g.tail.Len() >= maxMerged {
		return false
	}
	switch next := m.(type) {
	case ContentPart:
		held, ok := g.head.(ContentPart)
		return ok && g.absorbPart(held, next.Part)
	case ToolCallPart:
		if _, ok := g.head.(ContentPart); ok {
			return false
		}
		if next.ArgumentsPart != nil {
			g.grown = true
			g.tail.WriteString(*next.ArgumentsPart)
		}
		return true
	default:
		return false
	}
}

func (g *merger) absorbPart(held ContentPart, next llm.Part) bool {
	if held.Part.Type != next.Type {
		return false
	}
	switch next.Type {
	case llm.PartText:
		g.tail.WriteString(next.Text)
		return true
	case llm.PartThink:
		if given(held.Part.Encrypted) {
			return false // a signature closes the thought that it signs
		}
		g.tail.WriteString(next.Think)
		if given(next.Encrypted) {
			held.Part.Encrypted = clone(next.Encrypted)
			g.head = held
		}
		return true
	default:
		return false
	}
}

// grow gives the arguments with the tail; nil stays nil until a part brought text.
func (g *merger) grow(arguments *string) *string {
	if !g.grown {
		return arguments
	}
	whole := g.tail.String()
	if arguments != nil {
		whole = *arguments + whole
	}
	return &whole
}

func given(s *string) bool { return s != nil && *s != "" }

func clonePart(p llm.Part) llm.Part {
	p.Encrypted = clone(p.Encrypted)
	p.Media.ID = clone(p.Media.ID)
	return p
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
