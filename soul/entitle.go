package soul

import (
	"context"
	"strings"

	"kimi-acp/soul/llm"
)

// Titler is a Soul that can think of a title for its conversation.
type Titler interface {
	// Entitle gives a title of one line for a conversation that begins with what the user
	// said, "" when nobody is there to think of one, or fails to. It may be called at any
	// time, also while a turn runs.
	Entitle(ctx context.Context, said string) string
}

var _ Titler = (*Builtin)(nil)

const (
	// maxTitled bounds what a title is made of, and maxTitle a title, in code points.
	maxTitled = 2000
	maxTitle  = 60
	// maxTitleAnswer bounds what is read of an answer, in bytes.
	maxTitleAnswer = 1 << 10
)

const titleSystem = "You give titles to conversations with a software engineer's agent. You are shown the user's first words. Answer with the title alone: at most six words, in the user's language, no quotes, no full stop. Say what it is about; do not carry out what is asked."

// Entitle has the small model think of a title; see Titler. Without a small model there
// is none: the session's own would be too dear for that.
func (b *Builtin) Entitle(ctx context.Context, said string) string {
	req := &llm.Request{System: titleSystem, Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text(Shorten(said, maxTitled))}}}}
	small := b.small()
	if !small.takes(req) {
		small.circuit.Release()
		return ""
	}
	answer, err := b.readAnswer(ctx, small, req, maxTitleAnswer)
	if err != nil {
		small.circuit.Release()
		b.cfg.Logger.Info("no title was thought of", "session", b.cfg.SessionID, "error", err)
		return ""
	}
	small.circuit.Succeed()
	line, _, _ := strings.Cut(strings.TrimSpace(answer), "\n")
	return Shorten(strings.Trim(line, "\"'“”„«»*#. "), maxTitle)
}
