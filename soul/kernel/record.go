package kernel

import (
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// SessionID is the id of the session in which a kernel keeps the history of the session
// id. It is another one, so that no folder ever has two writers.
func SessionID(id string) string { return session.KernelPrefix + id }

// maxAnswer bounds what is kept of the texts of one turn, in bytes.
const maxAnswer = 256 << 10

// record writes down what was said in the turns of a kernel: enough for lists of
// sessions, and for another kernel that goes on with the session. It is used by the
// goroutine of the turn, and between turns by that of the caller.
type record struct {
	kept   *session.Session // nil: nothing is written
	begun  bool             // the system prompt is written
	wrote  bool
	next   int // id of the next checkpoint
	failed bool
}

// Keep writes what is said from here on to s; see soul.Keeper. The history itself stays
// with the kernel.
func (k *Kernel) Keep(s *session.Session) {
	r := s.Restored()
	k.record = record{kept: s, begun: r.System != "", next: r.Checkpoints}
}

// Park lets go of the session, and of the program until the next turn; see soul.Keeper.
func (k *Kernel) Park() {
	k.record = record{}
	k.mu.Lock()
	p := k.peer
	k.peer = nil
	k.mu.Unlock()
	if p != nil {
		p.end(k.cfg.Patience)
	}
}

// write writes a turn down.
func (k *Kernel) write(in wire.UserInput, answer string) {
	r := &k.record
	if r.kept == nil || r.failed {
		return
	}
	if !r.wrote {
		r.kept.DropMessages() // nobody else will ask for them
		r.wrote = true
	}
	said := llm.Message{Role: llm.RoleUser, Content: in.Parts}
	if in.Parts == nil {
		said.Content = []llm.Part{llm.Text(in.Text)}
	}
	var err error
	if !r.begun && k.cfg.System != nil {
		err = r.kept.AppendSystem(k.cfg.System())
	}
	r.begun = true
	if err == nil {
		err = r.kept.AppendTurn(r.next, said)
	}
	if err == nil && answer != "" {
		err = r.kept.AppendStep(llm.Message{Role: llm.RoleAssistant, Content: []llm.Part{llm.Text(answer)}}, 0)
	}
	r.next++
	if err != nil {
		r.failed = true
		k.cfg.Logger.Warn("what is said is no longer written", "error", err)
	}
}

// heard collects the texts of a turn, a paragraph for each step.
type heard struct {
	text strings.Builder
	gap  bool
}

func (h *heard) note(e wire.Event) {
	switch m := e.(type) {
	case wire.StepBegin:
		h.gap = h.text.Len() > 0
	case wire.ContentPart:
		if m.Part.Type != llm.PartText || m.Part.Text == "" || h.text.Len() >= maxAnswer {
			return
		}
		if h.gap {
			h.text.WriteString("\n\n")
			h.gap = false
		}
		h.text.WriteString(m.Part.Text)
	}
}
