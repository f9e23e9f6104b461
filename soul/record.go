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
	begun  bool        // the system prompt is written
	next   int         // id of the next checkpoint; one that is gone is not given again
	mark   int         // what the next message is marked with; see llm.Message
	edits  map[int]int // by the checkpoint of a turn, the turn of the edits that began then
	failed error
	told   bool
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

// compacted begins the record anew with what is left of the history, and marks it.
// Nothing before it can be taken back.
func (r *record) compacted(messages []llm.Message, tokens int) {
	r.clear()
	r.begin()
	r.checkpoint()
	for i := range messages {
		messages[i].Mark, r.mark = r.mark, 0
	}
	r.write(func(s *session.Session) error { return s.AppendMessages(messages...) })
	r.write(func(s *session.Session) error { return s.AppendUsage(tokens) })
}

// turn writes the message that opens a turn, and marks it. Edits is the turn of the
// edits that begins with it, 0 when none are kept.
func (r *record) turn(m *llm.Message, edits int) {
	r.begin()
	r.place(m)
	checkpoint := m.Mark - 1
	if edits == 0 {
		return
	}
	if r.edits == nil {
		r.edits = map[int]int{}
	}
	r.edits[checkpoint] = edits
	if r.kept == nil {
		return
	}
	if err := NoteEdits(r.kept, checkpoint, edits); err != nil {
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

// editsOf is the turn of the edits that began with a turn, 0 when none was noted.
func (r *record) editsOf(turn point) int {
	if n := r.edits[turn.checkpoint]; n > 0 {
		return n
	}
	var note editsNote
	if r.kept != nil && r.kept.Aside(editsKey(turn.checkpoint), &note) && note.Session == r.kept.ID() {
		return note.Turn
	}
	return 0
}

// editsSince is the first turn of the edits among some turns, 0 when none was noted,
// and the number of those turns that made their edits elsewhere. Another process may
// have given the numbers of turns without edits again, so the first need not be that of
// the oldest.
func (r *record) editsSince(turns []point) (first, elsewhere int) {
	for _, t := range turns {
		if n := r.editsOf(t); n == 0 {
			elsewhere++
		} else if first == 0 || n < first {
			first = n
		}
	}
	return first, elsewhere
}

// checkpoint marks the place before a step.
func (r *record) checkpoint() {
	id := r.next
	r.next++
	r.mark = id + 1
	r.write(func(s *session.Session) error { return s.AppendCheckpoint(id) })
}

// place writes a checkpoint and a message behind it, which it marks.
func (r *record) place(m *llm.Message) {
	m.Mark, r.mark = r.next+1, 0
	r.next++
	r.write(func(s *session.Session) error { return s.AppendTurn(m.Mark-1, *m) })
}

// marked takes the mark of the message that comes next.
func (r *record) marked() (mark int) {
	mark, r.mark = r.mark, 0
	return mark
}

// setAside keeps a value beside the session, if there is one. Who lacks it goes on
// without.
func (r *record) setAside(key string, value any) {
	if r.kept == nil {
		return
	}
	if err := r.kept.SetAside(key, value); err != nil {
		r.log.Debug("something was not kept beside the session", "key", key, "error", err)
	}
}

// stepBegins keeps an answer whose tools are about to run: should the program be killed
// while they do, the model has to know.
func (r *record) stepBegins(answer llm.Message) {
	if r.kept == nil || r.failed != nil {
		return
	}
	if err := r.kept.BeginStep(answer); err != nil {
		r.log.Debug("a step is kept only when it is over", "error", err)
	}
}

// did keeps what came of one of the step's calls. It may be called side by side while
// nothing else of the record is.
func (r *record) did(result llm.Message) {
	if r.kept == nil || r.failed != nil {
		return
	}
	if err := r.kept.StepDid(result); err != nil {
		r.log.Debug("a result is kept only when the step is over", "error", err)
	}
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
	r.begun, r.next, r.mark, r.edits = false, 0, 0, nil
}

// compact writes the conversation anew, which takes so many tokens by our estimate,
// with a checkpoint at the end of what it was and one behind what it is. One can go back
// in what is still in it as before. When it cannot be written, the record stays as it was
// and goes on: it is too long, and nothing is missing in it.
func (r *record) compact(messages []llm.Message, tokens int) {
	r.checkpoint()
	after := r.next
	r.next++
	r.mark = after + 1
	if r.kept == nil || r.failed != nil {
		return
	}
	err := r.kept.Rewrite(r.system, messages, tokens, after)
	r.kept.DropMessages()
	if err != nil {
		r.log.Warn("the compacted history was not written", "error", err)
		return
	}
	r.begun = true
}

// revert goes back to before a checkpoint. An error has changed nothing.
func (r *record) revert(checkpoint int) error {
	if r.kept != nil && r.failed == nil {
		if err := r.kept.RevertTo(checkpoint); err != nil {
			return fmt.Errorf("going back in the history: %w", err)
		}
		r.kept.DropMessages()
	}
	r.mark = 0
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
	b.reminders = reminders{}
	b.left.due = !b.left.known && len(r.Messages) > 0
	if b.record.begun {
		b.history.holdMore(llm.EstimateText(r.System) - llm.EstimateText(b.cfg.System))
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
	b.record.turn(&m, edits)
	b.history.Append(m)
}
