package soul

import (
	"context"
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/tool"
)

// checkpoint marks the place before a step: in the record, among the edits, and where
// the model can go back, in the conversation.
func (b *Builtin) checkpoint() {
	id := b.record.next
	if t := b.editTurns(); t != nil {
		t.BeginStep(tool.StepAt(id))
	}
	if b.cfg.Mailbox == nil {
		b.record.checkpoint()
		return
	}
	b.places = append(b.places, point{index: b.history.Len(), checkpoint: id})
	m := llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(fmt.Sprintf("<system>CHECKPOINT %d</system>", id))}}
	b.record.place(&m)
	b.history.Append(m)
	b.cfg.Mailbox.Mark(id)
}

// openMailbox begins a turn, in which the model can go back no further than the user's
// words.
func (b *Builtin) openMailbox() {
	b.places = nil
	if b.cfg.Mailbox != nil {
		b.cfg.Mailbox.Open()
	}
}

// closePlaces forgets the places of the turn so far, since the conversation before them
// is another one.
func (b *Builtin) closePlaces() {
	b.places = nil
	if b.cfg.Mailbox != nil {
		b.cfg.Mailbox.Forget(0)
	}
}

// mail takes what the model sent back in this step.
func (b *Builtin) mail() (tool.DMail, bool) {
	if b.cfg.Mailbox == nil {
		return tool.DMail{}, false
	}
	return b.cfg.Mailbox.Take()
}

// goBackWith goes back to the place that a message is for, files and all if that is wanted,
// and puts the message there. What the user has said since stays, and what was told of
// work in the background, since it is told once. It is false when the
// conversation could not go back: then all is as it was.
func (b *Builtin) goBackWith(ctx context.Context, m tool.DMail) bool {
	at := len(b.places) - 1
	for at >= 0 && b.places[at].checkpoint != m.Checkpoint {
		at--
	}
	if at < 0 {
		return false
	}
	to := b.places[at]
	gone := b.history.All()[to.index:]
	if err := b.goBack(to); err != nil {
		b.cfg.Logger.Warn("a turn could not go back", "session", b.cfg.SessionID, "error", err)
		return false
	}
	b.places = b.places[:at]
	b.cfg.Mailbox.Forget(to.checkpoint)
	b.repeats = repeats{}
	if tool.PlansIn(gone) {
		b.planBack()
	}
	files := ""
	if kept := b.editTurns(); m.Files && kept != nil {
		files = kept.UndoSince(ctx, kept.Turn(), tool.StepAt(to.checkpoint))
	}
	for _, m := range gone {
		if session.OpensTurn(m) || isNews(m) {
			b.insert(m)
		}
	}
	b.insert(llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(letter(m, files))}})
	if !b.cfg.Profile.quietMail {
		body := "What came after it is on your screen, and no longer known to the model."
		if files != "" {
			body += "\n\nFiles:\n" + files
		}
		b.tell("info", fmt.Sprintf("The model went back to checkpoint %d, with a message to itself", to.checkpoint), body)
	}
	return true
}

// letter is what the model reads at the place to which it has gone back.
func letter(m tool.DMail, files string) string {
	var out strings.Builder
	out.WriteString("<system>You went on from here, and came back with a message to yourself. What you said and did in between is no longer in this conversation. ")
	if m.Files {
		out.WriteString("What you had changed in files was taken back:\n")
		if files == "" {
			files = "- nothing had changed\n"
		}
		out.WriteString(files + "All else is as you left it. ")
	} else {
		out.WriteString("Files and everything else are as you left them, so what you see above may have changed. ")
	}
	out.WriteString("Go on from your message; there is no need to speak of it to the user.\n\n")
	out.WriteString(strings.ReplaceAll(m.Message, "</system", "<\\/system"))
	out.WriteString("</system>")
	return out.String()
}
