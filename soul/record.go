package soul

import (
	"fmt"
	"log/slog"
	"strconv"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

// Keeper is a Soul whose history can be kept on disk. Its methods are called between
// turns.
type Keeper interface {
	// Keep takes over the history that s holds, and writes to s what comes to it from
	// here on. The caller closes s, after Park or when no turn runs any more.
	Keep(s *session.Session)
	// Park lets go of the history and of the session that keeps it. Keep has to bring
	// it back before the next turn.
	Park()
}

// record writes a history down. Without a session it does nothing. The first failure
// is final: the conversation goes on in memory, and the user is told once. It is used
// by the goroutine of the turn, and between turns by that of the caller.
type record struct {
	system string // the system prompt in force, frozen once it is written
	log    *slog.Logger

	kept   *session.Session
	begun  bool     // the system prompt is written
	next   int      // id of the next checkpoint
	turns  []opened // the turns in the history, the oldest first
	failed error
	told   bool
}

// opened is where a turn was opened.
type opened struct {
	checkpoint int // in front of it
	edits      int // the turn of the edits that began then, 0: to be looked up
}

func (r *record) write(what func(*session.Session) error) {
	if r.kept == nil || r.failed != nil {
		return
	}
	if err := what(r.kept); err != nil {
		r.fail(err)
	}
}

func (r *record) fail(err error) {
	r.failed = err
	r.log.Warn("the history is no longer written", "error", err)
}

// begin writes the system prompt, if it was not.
func (r *record) begin() {
	if !r.begun {
		r.write(func(s *session.Session) error { return s.AppendSystem(r.system) })
		r.begun = true
	}
}

// compacted begins the record anew with what is left of the history. Nothing before it
// can be taken back.
func (r *record) compacted(messages []llm.Message, tokens int) {
	r.clear()
	r.begin()
	r.checkpoint()
	r.write(func(s *session.Session) error { return s.AppendMessages(messages...) })
	r.write(func(s *session.Session) error { return s.AppendUsage(tokens) })
}

// turn writes the message that opens a turn. Edits is the turn of the edits that
// begins with it, 0 when none are kept.
func (r *record) turn(m llm.Message, edits int) {
	r.begin()
	t := opened{r.next, edits}
	r.next++
	if session.OpensTurn(m) { // else nobody finds it again
		r.turns = append(r.turns, t)
	}
	r.write(func(s *session.Session) error { return s.AppendTurn(t.checkpoint, m) })
	if r.kept == nil || edits == 0 {
		return
	}
	// Without it, taking back this turn in another process leaves its files alone.
	if err := r.kept.SetAside(editsKey(t.checkpoint), editsNote{r.kept.ID(), edits}); err != nil {
		r.log.Debug("the turn of edits was not noted", "error", err)
	}
}

// editsKey is where a session keeps which turn of the edits began at a checkpoint.
func editsKey(checkpoint int) string { return "edits " + strconv.Itoa(checkpoint) }

// editsNote is what is kept there. A fork inherits the notes, and not the edits.
type editsNote struct {
	Session string `json:"session"`
	Turn    int    `json:"turn"`
}

// editsSince is the first turn of the edits among the n last turns, 0 when none was
// noted, and the number of those turns that made their edits elsewhere. Another process
// may have given the numbers of turns without edits again, so the first need not be that
// of the oldest.
func (r *record) editsSince(n int) (first, elsewhere int) {
	for _, t := range r.turns[len(r.turns)-n:] {
		var note editsNote
		if t.edits == 0 && r.kept != nil && r.kept.Aside(editsKey(t.checkpoint), &note) && note.Session == r.kept.ID() {
			t.edits = note.Turn
		}
		if t.edits == 0 {
			elsewhere++
		} else if first == 0 || t.edits < first {
			first = t.edits
		}
	}
	return first, elsewhere
}

// checkpoint marks the place before a step.
func (r *record) checkpoint() {
	id := r.next
	r.next++
	r.write(func(s *session.Session) error { return s.AppendCheckpoint(id) })
}

// step writes an answer and the results of its calls; tokens 0: not reported.
func (r *record) step(answer llm.Message, tokens int, results []llm.Message) {
	r.write(func(s *session.Session) error { return s.AppendStep(answer, tokens, results...) })
}

// note writes a message that is no part of a step.
func (r *record) note(m llm.Message) {
	r.write(func(s *session.Session) error { return s.AppendMessages(m) })
}

// clear begins the record anew. What it was is kept beside it.
func (r *record) clear() {
	r.write((*session.Session).Rotate)
	r.begun, r.next, r.turns = false, 0, nil
}

// compact writes the conversation anew, which takes so many tokens by our estimate,
// with a checkpoint at the end of what it was and one behind what it is. The turns
// that are still in it can be taken back as before. When it cannot be written, the
// record stays as it was and goes on: it is too long, and nothing is missing in it.
func (r *record) compact(messages []llm.Message, tokens int) {
	openers := 0
	for _, m := range messages {
		if session.OpensTurn(m) {
			openers++
		}
	}
	r.turns = r.turns[max(len(r.turns)-openers, 0):]
	kept := make([]session.Kept, 0, len(messages))
	for _, m := range messages {
		k := session.Kept{Message: m, Checkpoint: -1}
		if session.OpensTurn(m) {
			if openers <= len(r.turns) {
				k.Checkpoint = r.turns[len(r.turns)-openers].checkpoint
			}
			openers--
		}
		kept = append(kept, k)
	}
	r.checkpoint()
	after := r.next
	r.next++
	if r.kept == nil || r.failed != nil {
		return
	}
	err := r.kept.Rewrite(r.system, kept, tokens, after)
	r.kept.DropMessages()
	if err != nil {
		r.log.Warn("the compacted history was not written", "error", err)
		return
	}
	r.begun = true
}

// revert goes back to before the n-th last turn. An error has changed nothing.
func (r *record) revert(n int) error {
	at := len(r.turns) - n
	if r.kept != nil && r.failed == nil {
		if err := r.kept.RevertTo(r.turns[at].checkpoint); err != nil {
			return fmt.Errorf("going back in the history: %w", err)
		}
		r.kept.DropMessages()
	}
	r.next, r.turns = r.turns[at].checkpoint, r.turns[:at]
	return nil
}

// unsaved says, once, that the session can no longer be saved; "" while it can.
func (r *record) unsaved() string {
	if r.kept == nil || r.told {
		return ""
	}
	err := r.failed
	if err == nil {
		err = r.kept.Err()
	}
	if err == nil {
		return ""
	}
	r.told = true
	return fmt.Sprintf("\n\nThis session can no longer be saved (%v). The conversation goes on in memory, and is lost when the session is closed.", err)
}

// Keep takes over the history of s; see Keeper.
func (b *Builtin) Keep(s *session.Session) {
	r := s.Restored()
	s.DropMessages()
	b.history.Restore(r.Messages, r.Tokens, r.Counted)
	b.record = record{system: b.cfg.System, log: b.cfg.Logger, kept: s, begun: r.System != "", next: r.Checkpoints}
	for _, checkpoint := range r.Turns {
		b.record.turns = append(b.record.turns, opened{checkpoint: checkpoint})
	}
	if b.record.begun {
		b.history.fixed += llm.EstimateText(r.System) - llm.EstimateText(b.cfg.System)
		b.record.system, b.cfg.System = r.System, r.System
	}
}

// Park lets go of the history; see Keeper. One that could not be written stays, since
// nobody else has it.
func (b *Builtin) Park() {
	if b.record.failed != nil || b.record.kept == nil {
		return
	}
	b.history.Restore(nil, 0, 0)
	b.record = record{system: b.record.system, log: b.cfg.Logger}
}

// openTurn lets the user's message enter the history.
func (b *Builtin) openTurn(m llm.Message) {
	edits := 0
	if t := b.editTurns(); t != nil {
		edits = t.Turn()
	}
	b.record.turn(m, edits)
	b.history.Append(m)
}
