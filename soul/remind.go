package soul

import (
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
)

const (
	// planEvery is after how many answers the model is reminded of plan mode again, and
	// planWhole after how many it is told all of it and not a sentence.
	planEvery, planWhole = 5, 25
	// driftEvery is after how many steps of a turn the model is reminded of what it is for.
	driftEvery = 25
	// driftWords bounds what is repeated of the user's words, in code points.
	driftWords = 400
)

// The first words of reminders, by which they are found again in a conversation.
const (
	planOn  = "Plan mode is on: change nothing and run nothing that changes something."
	planOff = "Plan mode is over: you may make changes now."
	yoloOn  = "The user is not asked any more before you change files or run commands."
	yoloOff = "The user is asked again before you change files or run commands."
	afkOn   = "Nobody is at the screen."
	afkOff  = "The user is back at the screen."
)

const (
	planMore = " Look around as much as you need and work out how you would do what the user wants. Where several ways are really different, say what speaks for each. End with the plan: the steps in order, the files that each is about, and how it will be checked. Ask only what the user alone can decide."
	yoloMore = " Take the more care with what cannot be undone: look before you delete or overwrite, stay within what was asked, and do not touch what is outside of the workspace."
	afkMore  = " Nothing is asked for, and questions are not answered: decide yourself, say what you took for granted, and do the work to its end."
)

const (
	reminderHead = "<system-reminder>"
	reminderTail = "</system-reminder>"
)

// reminders notice when the model has to be told what holds. What they say goes to the
// end of the conversation, so that what was sent before stays as it is.
type reminders struct {
	known bool // what the conversation says of modes was looked up
	mode  string
	away  bool
}

// forget says that the conversation may no longer hold what was told.
func (r *reminders) forget() { r.known = false }

// remind gives what the model has to be told now, "" for nothing.
func (b *Builtin) remind() string {
	mode, away := b.modeNow()
	r := &b.reminders
	if !r.known {
		r.known = true
		r.mode, r.away = modeTold(b.history.All())
	}
	var say []string
	switch {
	case mode == "plan":
		if text := planReminder(b.history.All()); text != "" {
			say = append(say, text)
		}
	case r.mode == "plan":
		say = append(say, planOff)
	}
	switch {
	case mode == r.mode || away || b.cfg.Profile.quietYolo:
	case mode == "yolo":
		say = append(say, yoloOn+yoloMore)
	case r.mode == "yolo" && mode != "plan":
		say = append(say, yoloOff)
	}
	switch {
	case away && !r.away:
		say = append(say, afkOn+afkMore)
	case r.away && !away:
		say = append(say, afkOff)
	}
	r.mode, r.away = mode, away
	return framed(say...)
}

// framed puts reminders into their frame, a line each.
func framed(say ...string) string {
	if len(say) == 0 {
		return ""
	}
	return reminderHead + strings.Join(say, "\n") + reminderTail
}

// modeNow gives the mode that is on, and whether the user is away.
func (b *Builtin) modeNow() (mode string, away bool) {
	if b.cfg.Controls == nil {
		return "", false
	}
	if s, ok := b.cfg.Controls.(Switches); ok {
		away = s.On(SwitchAFK)
	}
	return b.cfg.Controls.Mode(), away
}

// reminded gives the reminders in a message.
func reminded(m llm.Message) string {
	if m.Role != llm.RoleUser {
		return ""
	}
	for _, p := range m.Content {
		if strings.HasPrefix(p.Text, reminderHead) {
			return p.Text
		}
	}
	return ""
}

// modeTold gives what a conversation told last of modes.
func modeTold(messages []llm.Message) (mode string, away bool) {
	mode = "default"
	for _, m := range messages {
		text := reminded(m)
		if text == "" {
			continue
		}
		for _, t := range []struct{ words, mode string }{{planOn, "plan"}, {planOff, "default"}, {yoloOn, "yolo"}, {yoloOff, "default"}} {
			if strings.Contains(text, t.words) {
				mode = t.mode
			}
		}
		if strings.Contains(text, afkOn) || strings.Contains(text, afkOff) {
			away = strings.Contains(text, afkOn)
		}
	}
	return mode, away
}

// planReminder is what has to be said of plan mode: all of it when it was not said for
// long, a sentence when that is a while ago, else "".
func planReminder(messages []llm.Message) string {
	answers, last := 0, -1
	for i := len(messages) - 1; i >= 0 && answers < planWhole; i-- {
		if messages[i].Role == llm.RoleAssistant {
			answers++
		}
		switch text := reminded(messages[i]); {
		case strings.Contains(text, planOff):
			return planOn + planMore
		case strings.Contains(text, planOn+planMore):
			if last < 0 {
				last = answers
			}
			if last < planEvery {
				return ""
			}
			return planOn
		case strings.Contains(text, planOn) && last < 0:
			last = answers
		}
	}
	if last >= 0 && last < planEvery {
		return ""
	}
	return planOn + planMore
}

// remindInTurn tells the model, before step n of a turn, what has to be told: what holds,
// and in a long turn what it is for. It opens no turn.
func (b *Builtin) remindInTurn(n int) {
	text := b.remind()
	if n%driftEvery == 1 && n > 1 && !b.cfg.Profile.nestsTurns {
		text += framed(b.drift(n - 1))
	}
	if text != "" {
		b.insert(llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(text)}})
	}
}

// drift reminds of what a turn is for.
func (b *Builtin) drift(steps int) string {
	messages := b.history.All()
	var s strings.Builder
	fmt.Fprintf(&s, "You have made %d steps in this turn.", steps)
	if turns, _ := turnsOf(points(messages), 1); len(turns) > 0 {
		if parts := messages[turns[0].index].Content; len(parts) > 0 && parts[0].Text != "" {
			fmt.Fprintf(&s, " It is for what the user said: “%s”.", Shorten(parts[0].Text, driftWords))
		}
	}
	if plan := planText(messages); plan != "" {
		s.WriteString("\nYour to-do list:\n" + plan + "\n")
	}
	s.WriteString(" Check that what you are doing still serves that; leave what does not, and come to an end when it is done.")
	return s.String()
}
