package soul

import (
	"context"
	"fmt"

	"kimi-acp/soul/skill"
	"kimi-acp/soul/wire"
)

// Switch is something that a user turns on and off in a session of the kimi profile.
type Switch string

// The switches.
const (
	SwitchYolo Switch = "yolo" // nothing is asked for
	SwitchAFK  Switch = "afk"  // the user is away: nothing is asked for, and no questions are put
	SwitchPlan Switch = "plan" // nothing is changed
)

// Switches are those of a session. They are called from the turn's goroutine.
type Switches interface {
	On(s Switch) bool
	// Turn turns a switch, also to where it stands. What must outlast the session is
	// kept.
	Turn(s Switch, on bool)
	// Folders are the folders that belong to the session beside its working folder, and
	// AddFolder adds one, from the session's next start on.
	Folders() []string
	AddFolder(path string) error
}

// KimiProfile is what clients of kimi-cli's Wire count on: its commands, one for each
// skill and flow, and its manners. A rejection ends the turn, a status says of the
// context only what the model counted, and questions run also when they are hidden.
func KimiProfile(s Switches, skills []skill.Skill) Profile {
	p := Profile{rejectionEnds: true, sparseStatus: true, silentStops: true, nestsTurns: true, changesTools: true, quietYolo: true, quietMail: true, hidden: []string{"AskUserQuestion"}, commands: []command{
		{Command{Name: "init", Description: "Analyze the codebase and generate an `AGENTS.md` file"}, (*Builtin).initialize},
		{Command{Name: "compact", Description: "Compact the context (optionally with a custom focus, e.g. /compact keep db discussions)"}, (*Builtin).kimiCompactNow},
		{Command{Name: "clear", Description: "Clear the context", Aliases: []string{"reset"}}, (*Builtin).clearNow},
		{Command{Name: "yolo", Description: "Toggle YOLO mode (auto-approve all actions)"}, toggle(s, SwitchYolo, "Yolo is on: nothing is asked for.", "Yolo is off.")},
		{Command{Name: "afk", Description: "Toggle afk mode (auto-dismiss AskUserQuestion, auto-approve tool calls)"}, toggle(s, SwitchAFK, "Afk is on: nothing is asked for, and questions are dismissed.", "Afk is off.")},
		{Command{Name: "plan", Description: "Toggle plan mode. Usage: /plan [on|off|view|clear]"}, planCommand(s)},
		{Command{Name: "add-dir", Description: "Add a directory to the workspace. Usage: /add-dir <path>. Run without args to list added dirs"}, addFolder(s)},
		{Command{Name: "export", Description: "Export current session context to a markdown file"}, (*Builtin).export},
		{Command{Name: "import", Description: "Import context from a file or session ID"}, (*Builtin).imports},
	}}
	p.commands = append(p.commands, skillCommands(skills)...)
	return p
}

// toggle turns a switch to where it is not.
func toggle(s Switches, which Switch, on, off string) func(*Builtin, context.Context, string) (string, error) {
	return func(b *Builtin, _ context.Context, _ string) (string, error) {
		s.Turn(which, !s.On(which))
		said := off
		if s.On(which) {
			said = on
		} else if s.On(SwitchYolo) || s.On(SwitchAFK) {
			said += " Nothing is asked for all the same, since the other of yolo and afk is on."
		}
		b.say("%s", said)
		return "", nil
	}
}

// planCommand turns plan mode on or off. Plans are in the answers, not in a file.
func planCommand(s Switches) func(*Builtin, context.Context, string) (string, error) {
	return func(b *Builtin, _ context.Context, arg string) (string, error) {
		switch arg {
		case "view", "clear":
			b.say("Plans stand in the conversation here; there is no file of a plan.")
			return "", nil
		case "on", "off":
			s.Turn(SwitchPlan, arg == "on")
		default:
			s.Turn(SwitchPlan, !s.On(SwitchPlan))
		}
		on := s.On(SwitchPlan)
		if on {
			b.say("Plan mode is on: nothing is changed and no command runs.")
		} else {
			b.say("Plan mode is off.")
		}
		b.cfg.Wire.Send(wire.StatusUpdate{PlanMode: &on})
		return "", nil
	}
}

// addFolder lists the further folders, or adds one.
func addFolder(s Switches) func(*Builtin, context.Context, string) (string, error) {
	return func(b *Builtin, _ context.Context, path string) (string, error) {
		if path == "" {
			list := ""
			for _, f := range s.Folders() {
				list += fmt.Sprintf("- `%s`\n", f)
			}
			if list == "" {
				list = "There are none. Add one with `/add-dir PATH`."
			}
			b.say("Folders beside the working folder:\n%s", list)
			return "", nil
		}
		if err := s.AddFolder(path); err != nil {
			b.say("`%s` was not added: %v", path, err)
			return "", nil
		}
		b.say("`%s` belongs to this session from its next start on.", path)
		return "", nil
	}
}

// clearNow forgets the conversation; the record begins anew at once.
func (b *Builtin) clearNow(context.Context, string) (string, error) {
	b.history.Truncate(0)
	b.reminders.forget()
	b.record.clear()
	b.record.begin()
	b.say("The context has been cleared.")
	b.sendContext()
	return "", nil
}

// kimiCompactNow compacts because the user asked.
func (b *Builtin) kimiCompactNow(ctx context.Context, focus string) (string, error) {
	if b.history.Len() == 0 {
		b.say("The context is empty.")
		return "", nil
	}
	if err := b.compactAsKimi(ctx, "manual", focus); err != nil {
		return "", err
	}
	b.say("The context has been compacted.")
	b.sendContext()
	return "", nil
}

// sendContext tells how full the context is, and nothing else.
func (b *Builtin) sendContext() {
	s := b.Status()
	ratio := float64(s.ContextTokens) / float64(max(s.MaxContextTokens, 1))
	b.cfg.Wire.Send(wire.StatusUpdate{ContextUsage: &ratio, ContextTokens: &s.ContextTokens, MaxContextTokens: &s.MaxContextTokens})
}
