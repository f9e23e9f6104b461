package kernel

import (
	"context"

	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// Taking back is the host's: it has the journal of edits, and what was said and done in
// the session's own record. A soul that asks no model does it there, as the built-in one
// does. The program ends then, and before it is started again its session is made what is
// left.

// Rewind takes turns back; see soul.Rewinder.
func (k *Kernel) Rewind(ctx context.Context, back soul.Back) string {
	k.turns.Lock()
	defer k.turns.Unlock()
	text := k.keeper().Rewind(ctx, back)
	k.takeOver()
	return text
}

// hostCommand carries out one of soul.HostCommands.
func (k *Kernel) hostCommand(ctx context.Context, in soul.Input) (soul.Outcome, error) {
	out, err := k.keeper().Run(ctx, in)
	k.takeOver()
	return out, err
}

// keeper gives a soul that has the host's record of the conversation. Where the program
// cannot be made to forget, it has no conversation, so that only edits are taken back.
func (k *Kernel) keeper() *soul.Builtin {
	kept, why := k.record.kept, ""
	switch {
	case !k.cfg.Program.goesOn():
		why = "its command line does not name its session; with `{session}` in it, both can be taken back"
	case kept == nil || k.cfg.Sessions == nil || k.record.failed || kept.Err() != nil:
		why = "this session is not kept on disk; begin a new one to go on without that"
	default:
		if err := kept.Reread(); err != nil {
			k.cfg.Logger.Warn("the conversation could not be read", "error", err)
			why = "the conversation could not be read; begin a new session to go on without that"
		}
	}
	config := soul.Config{SessionID: k.cfg.Launch.SessionID, Wire: k.cfg.Wire, Edits: k.cfg.Edits, Session: k.cfg.Session, Logger: k.cfg.Logger}
	if why == "" {
		keeper := soul.New(config)
		keeper.Keep(kept)
		return keeper
	}
	if turns, ok := k.cfg.Edits.(soul.EditTurns); ok {
		config.Edits = editsAlone{k.cfg.Edits, turns, "\nOnly files were taken back: the kernel " + k.name() + " still knows what was said, since " + why + ".\n"}
	}
	return soul.New(config)
}

// editsAlone are edits that are taken back without the talk about them, which is said.
type editsAlone struct {
	soul.Edits
	soul.EditTurns
	said string
}

// Undo takes back the edits of the last turns that made some.
func (e editsAlone) Undo(ctx context.Context, turns int) string {
	return e.Edits.Undo(ctx, turns) + e.said
}

// takeOver looks what has become of the record. If turns have left it, the program ends,
// and gets what is left with its next start.
func (k *Kernel) takeOver() {
	kept := k.record.kept
	if kept == nil || k.record.failed || kept.Err() != nil {
		return
	}
	if err := kept.Reread(); err != nil {
		k.cfg.Logger.Warn("the conversation could not be read", "error", err)
		return
	}
	left := kept.Restored()
	kept.DropMessages()
	if left.Rotations == k.record.state.Rotations {
		return
	}
	k.Park()
	k.record = record{
		kept: kept, begun: left.System != "",
		state: state{k.cfg.Program.identity(), left.Rotations, left.Checkpoints},
		carry: append([]llm.Message{}, left.Messages...), // an empty one is carried over, too
	}
}

// noteEdits notes which edits belong to the turn that is being written.
func (k *Kernel) noteEdits() {
	edits, ok := k.cfg.Edits.(soul.EditTurns)
	if !ok {
		return
	}
	if err := soul.NoteEdits(k.record.kept, k.record.state.Checkpoints, edits.Turn()); err != nil {
		k.cfg.Logger.Debug("the turn of edits was not noted", "error", err)
	}
}

// beginStep says that what is edited from here on belongs to another step.
func (k *Kernel) beginStep(t *turn) {
	if edits, ok := k.cfg.Edits.(soul.EditTurns); ok && t != nil {
		_, steps, _ := t.saw()
		edits.BeginStep(steps)
	}
}
