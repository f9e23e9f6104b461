package soul

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kimi-acp/soul/compaction"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
)

// Rewinder is a Soul that can take turns back.
type Rewinder interface {
	// Rewind takes back the last turns, at least one: what was said, the plan, and the
	// edits of files, as far as they can be. It says for people what came of it, and
	// tells the model with the next prompt. It is called between turns.
	Rewind(ctx context.Context, turns int) string
}

// Rewind takes back the last turns; see Rewinder.
func (b *Builtin) Rewind(ctx context.Context, turns int) string {
	turns = min(turns, len(b.record.turns))
	index, said := b.history.Turn(turns)
	if turns == 0 || index < 0 {
		return b.undoEdits(ctx, turns)
	}
	edits, elsewhere := b.record.editsSince(turns)
	planned := tool.PlansIn(b.history.All()[index:])
	if err := b.takeBack(turns); err != nil {
		return fmt.Sprintf("Nothing was taken back: %v.", err)
	}
	var out strings.Builder
	what := "The last turn is taken back"
	if turns > 1 {
		what = fmt.Sprintf("The last %d turns are taken back", turns)
	}
	fmt.Fprintf(&out, "%s, from “%s” on: the model no longer knows of them.\n", what, Shorten(said, 60))
	rest := b.history.All()
	plan, known := tool.PlanIn(rest)
	if compacted := len(rest) > 0 && compaction.IsSummary(rest[0]); planned && b.cfg.Session != nil && (known || !compacted) {
		b.cfg.Session.SetPlan(plan)
		out.WriteString("The plan is as it was before.\n")
	}
	b.takeBackFiles(ctx, edits, turns, elsewhere, &out)
	return out.String()
}

// takeBackFiles undoes the edits from a turn of theirs on, 0: none were noted. Of some
// turns they were made elsewhere.
func (b *Builtin) takeBackFiles(ctx context.Context, since, turns, elsewhere int, out *strings.Builder) {
	kept := b.editTurns()
	if kept == nil {
		return
	}
	if elsewhere > 0 {
		fmt.Fprintf(out, "What %d of them did to files stays: they ran in another session or program, so it is not known here.\n", elsewhere)
	}
	if since == 0 {
		return
	}
	files := kept.UndoSince(ctx, since)
	if files == "" {
		if elsewhere == 0 {
			out.WriteString("They changed no files.\n")
		}
		return
	}
	out.WriteString("\nFiles:\n" + files)
	b.remark(fmt.Sprintf("The user took back the last %d turns of this conversation, which you no longer see. What became of the files that they changed:\n%s%s", turns, files, b.cfg.Edits.Findings(ctx)))
}

// remark tells the model something, ahead of the next prompt.
func (b *Builtin) remark(text string) {
	m := llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text("<system>" + text + "</system>")}}
	b.history.Append(m)
	b.record.note(m)
}

// undoEdits takes back edits alone: of the turns that made them nothing is known any
// more, as after /clear.
func (b *Builtin) undoEdits(ctx context.Context, turns int) string {
	if b.cfg.Edits == nil {
		return "There is nothing to take back."
	}
	return b.cfg.Edits.Undo(ctx, max(turns, 1))
}

// takeBack takes the last turns out of the history. An error has changed nothing.
func (b *Builtin) takeBack(turns int) error {
	index, _ := b.history.Turn(turns)
	if index < 0 || turns > len(b.record.turns) {
		return errors.New("the history does not go back that far")
	}
	if err := b.record.revert(turns); err != nil {
		return err
	}
	b.history.Truncate(index)
	return nil
}
