package soul

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kimi-acp/soul/background"
	"kimi-acp/soul/compaction"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
)

// Rewinder is a Soul that can take turns back.
type Rewinder interface {
	// Rewind takes back the end of the conversation: what was said, the plan, and the
	// edits of files, as far as they can be. It says for people what came of it, and
	// tells the model with the next prompt. It is called between turns.
	Rewind(ctx context.Context, back Back) string
}

// Back says how much of a conversation is taken back: so many of the last turns, and so
// many of the last steps of the turn before them. One of the two is at least 1. More
// turns than there are means all; more steps than the turn has is refused.
type Back struct{ Turns, Steps int }

// Rewind takes back the end of the conversation; see Rewinder.
func (b *Builtin) Rewind(ctx context.Context, back Back) string {
	messages := b.history.All()
	turns, steps := turnsOf(points(messages), back.Turns)
	var goes []point // the first is where the conversation goes back to
	if back.Steps > len(steps) {
		return fmt.Sprintf("Nothing was taken back: the turn has %s that can be taken back one by one. `/rewind` lists them.", plural(len(steps), "step"))
	}
	goes = append(append(goes, steps[len(steps)-back.Steps:]...), turns...)
	if len(goes) == 0 {
		return b.undoEdits(ctx, back.Turns)
	}
	undo := b.undoing(messages, goes, back.Steps)
	planned := tool.PlansIn(messages[goes[0].index:])
	if err := b.goBack(goes[0]); err != nil {
		return fmt.Sprintf("Nothing was taken back: %v.", err)
	}
	var out strings.Builder
	out.WriteString(takenBack(messages, turns, back.Steps))
	if planned && b.planBack() {
		out.WriteString("The plan is as it was before.\n")
	}
	b.takeBackFiles(ctx, undo, &out)
	return out.String()
}

// takenBack says what the model no longer knows.
func takenBack(messages []llm.Message, turns []point, steps int) string {
	var what, from string
	switch {
	case len(turns) == 1:
		what = "The last turn is"
	case len(turns) > 1:
		what = fmt.Sprintf("The last %d turns are", len(turns))
	case steps == 1:
		what = "The last step is"
	default:
		what = fmt.Sprintf("The last %d steps are", steps)
	}
	if len(turns) > 0 {
		if parts := messages[turns[0].index].Content; len(parts) > 0 {
			from = ", from “" + Shorten(parts[0].Text, 60) + "” on"
		}
		if steps > 0 {
			from += ", and " + plural(steps, "step") + " of the turn before"
		}
	}
	return what + " taken back" + from + ": the model no longer knows of them.\n"
}

// planBack makes the plan what the conversation says, and tells whether it did: what
// was compacted does not say.
func (b *Builtin) planBack() bool {
	rest := b.history.All()
	plan, known := tool.PlanIn(rest)
	compacted := len(rest) > 0 && compaction.IsSummary(rest[0])
	if b.cfg.Session == nil || !known && compacted {
		return false
	}
	b.cfg.Session.SetPlan(plan)
	return true
}

// undoing is which edits go with a piece of the conversation.
type undoing struct {
	turn, step int    // of the edits, to be taken back with all that came later; turn 0: none were noted
	elsewhere  int    // turns whose edits are not known here
	of         string // the piece, for the model
}

// undoing finds the edits of what goes: whole turns, but for so many steps that stand
// before them.
func (b *Builtin) undoing(messages []llm.Message, goes []point, steps int) undoing {
	u := undoing{of: fmt.Sprintf("the last %d turns", len(goes)-steps)}
	u.turn, u.elsewhere = b.record.editsSince(goes[steps:])
	if steps == 0 {
		return u
	}
	u.of = fmt.Sprintf("the last %d steps, with all that came behind them,", steps)
	begun, _ := turnsOf(points(messages[:goes[0].index]), 1)
	first, elsewhere := b.record.editsSince(begun)
	u.elsewhere += elsewhere
	if first > 0 && (u.turn == 0 || first <= u.turn) { // else it made no edits, see editsSince
		u.turn, u.step = first, goes[0].checkpoint+1
	}
	return u
}

// takeBackFiles undoes edits, and says for people and the model what came of them.
func (b *Builtin) takeBackFiles(ctx context.Context, u undoing, out *strings.Builder) {
	kept := b.editTurns()
	if kept == nil {
		return
	}
	if u.elsewhere > 0 {
		fmt.Fprintf(out, "What %d of them did to files stays: they ran in another session or program, so it is not known here.\n", u.elsewhere)
	}
	if u.turn == 0 {
		return
	}
	files := kept.UndoSince(ctx, u.turn, u.step)
	if files == "" {
		if u.elsewhere == 0 {
			out.WriteString("They changed no files.\n")
		}
		return
	}
	out.WriteString("\nFiles:\n" + files + "\n`/redo` brings back what stood in the files.\n")
	b.remark(fmt.Sprintf("The user took back %s of this conversation, which you no longer see. What became of the files that they changed:\n%s%s", u.of, files, b.cfg.Edits.Findings(ctx)))
}

// remark tells the model something, ahead of the next prompt.
func (b *Builtin) remark(text string) {
	b.insert(llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text("<system>" + text + "</system>")}})
}

// undoEdits takes back edits alone: of the turns that made them nothing is known any
// more, as after /clear.
func (b *Builtin) undoEdits(ctx context.Context, turns int) string {
	if b.cfg.Edits == nil {
		return "There is nothing to take back."
	}
	return b.cfg.Edits.Undo(ctx, max(turns, 1))
}

// leaveOut takes a turn out of the history that a provider has refused: it would refuse
// whatever is said behind it.
func (b *Builtin) leaveOut() {
	before := b.history.All()
	if err := b.takeBack(); err != nil {
		b.cfg.Logger.Warn("a refused prompt stays in the history", "session", b.cfg.SessionID, "error", err)
		return
	}
	b.retell(before[b.history.Len():])
}

// retell tells once more what a piece of the conversation told of work in the background,
// which has left it: such news is given only once.
func (b *Builtin) retell(gone []llm.Message) {
	for _, m := range gone {
		if isNews(m) {
			b.insert(m)
		}
	}
}

// isNews tells whether a message tells of work in the background.
func isNews(m llm.Message) bool {
	return m.Role == llm.RoleUser && len(m.Content) > 0 && background.IsNews(m.Content[0].Text)
}

// takeBack takes the last turn out of the history. An error has changed nothing.
func (b *Builtin) takeBack() error {
	turns, _ := turnsOf(points(b.history.All()), 1)
	if len(turns) == 0 {
		return errors.New("the history does not go back that far")
	}
	return b.goBack(turns[0])
}

// goBack drops what the conversation has from a place on. An error has changed nothing.
func (b *Builtin) goBack(to point) error {
	if err := b.record.revert(to.checkpoint); err != nil {
		return err
	}
	b.history.Truncate(to.index)
	b.reminders.forget()
	return nil
}

// plural gives "1 step" or "3 steps".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
