package soul

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Controls is what slash commands may change about the session around a soul. It
// is called from the turn's goroutine, one call at a time.
type Controls interface {
	// Mode is the id of the mode that is on.
	Mode() string
	// SetMode turns a mode on: default, accept-edits, plan or yolo.
	SetMode(id string) error
	// Model is the id of the model in use, and Models are those there are.
	Model() string
	Models() []string
	// SetModel changes the model from the next request on.
	SetModel(id string) error
}

// Session is what slash commands may do with the session around a soul. It is called
// from the turn's goroutine, one call at a time.
type Session interface {
	// Title is what the session is called.
	Title() string
	// SetTitle gives it another title.
	SetTitle(title string) error
	// Fork makes another session that begins as this one is now, without the turn
	// that runs, and gives its id and title.
	Fork() (id, title string, err error)
	// SetPlan replaces the plan, and shows it.
	SetPlan(items []wire.PlanItem)
	// Waiting gives the texts of the prompts that waited when an earlier process ended,
	// oldest first.
	Waiting() []string
	// EndWaiting has them run as turns of their own behind the one that runs, or forgets
	// them. One that does not begin is still there afterwards.
	EndWaiting(run bool)
}

// Edits are the changes of files that the tools have made in a session. It may be
// called by several goroutines at once.
type Edits interface {
	// Undo takes back the edits of the last turns that made some, and says for
	// people what came of it.
	Undo(ctx context.Context, turns int) string
	// UndoChange takes back one change, by the name that Changes gives it, and
	// UndoFile those of a file. Both say for people what came of it.
	UndoChange(ctx context.Context, id string) string
	UndoFile(ctx context.Context, path string) string
	// Changes lists for people the edits that stand.
	Changes() string
	// Findings tells, for the model, what the user made of its edits since it was
	// asked last; "" is nothing.
	Findings(ctx context.Context) string
	// Notice is what the user has to know of the keeping of edits and was not told yet;
	// "" is nothing.
	Notice() string
}

// Permissions are what was granted and refused in a session, for its project and in
// general. It may be called by several goroutines at once.
type Permissions interface {
	// List shows them for people, numbered from 1.
	List() string
	// Remove takes one back by its number, and Keep makes an answer of the session last
	// for the project. Both say for people what came of it.
	Remove(n int) string
	Keep(n int) string
}

// EditTurns are Edits that can be taken back together with the talk of their turns, and
// by steps, and brought back.
type EditTurns interface {
	// UndoSince takes back the edits of a turn, from 1, and of those after it, and
	// says for people what came of each file; "" when they made none. With a step, > 0,
	// the edits of earlier steps of that turn stay.
	UndoSince(ctx context.Context, turn, step int) string
	// BeginStep says that what is edited from here on belongs to a step of the turn, a
	// number > 0 that grows.
	BeginStep(step int)
	// Turn is the turn to which edits belong now, from 1.
	Turn() int
	// UndoSteps takes back the edits of the last steps that made some, and Redo brings
	// back what was taken back last. Both say for people what came of it.
	UndoSteps(ctx context.Context, steps int) string
	Redo(ctx context.Context) string
}

// editTurns gives the edits as EditTurns, nil when they are none.
func (b *Builtin) editTurns() EditTurns {
	t, _ := b.cfg.Edits.(EditTurns)
	return t
}

// command is a slash command of the built-in soul.
type command struct {
	Command
	// run carries it out. A prompt that it gives is what the model is asked
	// instead; none ends the turn.
	run func(b *Builtin, ctx context.Context, args string) (prompt string, err error)
}

// builtinCommands lists the commands in the order in which they are shown.
func builtinCommands() []command {
	return []command{
		{Command{Name: "help", Description: "List the commands and what they do"}, (*Builtin).help},
		{Command{Name: "status", Description: "Show model, mode and how full the context is"}, (*Builtin).showStatus},
		{Command{Name: "context", Description: "Show what the model is told of editor, files and git, with its size"}, (*Builtin).showContext},
		{Command{Name: "usage", Description: "Show the tokens that this session has used"}, (*Builtin).showUsage},
		{Command{Name: "model", Description: "Show the models, or change to one", Hint: "[model]"}, (*Builtin).chooseModel},
		{Command{Name: "plan", Description: "Turn plan mode, which changes nothing, on or off", Hint: "[on|off]"}, switchMode("plan")},
		{Command{Name: "yolo", Description: "Turn the mode that asks nothing on or off", Hint: "[on|off]"}, switchMode("yolo")},
		{Command{Name: "permissions", Description: "Show what was granted and refused; take it back, or keep it for the project", Hint: "[remove N|keep N]"}, (*Builtin).permissions},
		{Command{Name: "changes", Description: "List the edits of this session that stand"}, (*Builtin).listChanges},
		{Command{Name: "undo", Description: "Take back the last turn, or the last turns: talk, plan and files; or the edits of steps, of one change or of a file", Hint: "[turns|step [N]|change ID|file PATH|all]"}, (*Builtin).undo},
		{Command{Name: "redo", Description: "Bring back the edits that were taken back last"}, (*Builtin).redo},
		{Command{Name: "rewind", Description: "List the turns and steps that can be taken back, or take back the last turns, and steps of the turn before", Hint: "[turns[.steps]]"}, (*Builtin).rewindTo},
		{Command{Name: "title", Description: "Show the session's title, or give it another one", Hint: "[title]"}, (*Builtin).title},
		{Command{Name: "fork", Description: "Make a copy of this session, to go on in another direction there"}, (*Builtin).fork},
		{Command{Name: "export", Description: "Write the conversation to a Markdown file", Hint: "[path]"}, (*Builtin).export},
		{Command{Name: "import", Description: "Give the model the text of a file or of another conversation's export", Hint: "path"}, (*Builtin).imports},
		{Command{Name: "goal", Description: "Work until a goal is judged to be reached; show, go on with, bound or forget it", Hint: "[goal|resume|pause|budget N|clear]"}, (*Builtin).goalNow},
		{Command{Name: "queue", Description: "Show the prompts that waited when the program ended; send or forget them", Hint: "[run|clear]"}, (*Builtin).queue},
		{Command{Name: "init", Description: "Look at the project and write an AGENTS.md for it"}, (*Builtin).initialize},
		{Command{Name: "compact", Description: "Sum up the conversation so far, to make room; say what the summary must keep", Hint: "[topic]"}, (*Builtin).compactNow},
		{Command{Name: "clear", Description: "Forget the conversation so far; files stay as they are"}, (*Builtin).clear},
	}
}

// Commands lists the slash commands that Run understands.
func (b *Builtin) Commands() []Command {
	var out []Command
	for _, c := range b.commands() {
		out = append(out, c.Command)
	}
	return out
}

// parseCommand finds the command that a prompt begins with, and what follows it.
// A slash that begins anything else, such as a path, is ordinary text for the model.
func (b *Builtin) parseCommand(text string) (c command, args string, ok bool) {
	if p := b.cfg.Profile; p.commands != nil {
		return p.parse(text)
	}
	text, ok = strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return command{}, "", false
	}
	word := text
	if i := strings.IndexAny(text, " \t\r\n"); i >= 0 {
		word, args = text[:i], strings.TrimSpace(text[i:])
	}
	known := builtinCommands()
	if isSkillCommand(word) && b.cfg.Skills != nil { // the folders are read for these alone
		known = skillCommands(b.cfg.Skills())
	}
	for _, c := range known {
		if c.Name == word {
			return c, args, true
		}
	}
	return command{}, "", false
}

// say answers in the model's place.
func (b *Builtin) say(format string, args ...any) {
	b.cfg.Wire.Send(wire.ContentPart{Part: llm.Text(fmt.Sprintf(format, args...))})
}

func (b *Builtin) help(context.Context, string) (string, error) {
	var s strings.Builder
	for _, c := range b.commands() {
		name := c.Name
		if c.Hint != "" {
			name += " " + c.Hint
		}
		fmt.Fprintf(&s, "- `/%s`: %s\n", name, c.Description)
	}
	b.say("Commands:\n%s", s.String())
	return "", nil
}

func (b *Builtin) showStatus(context.Context, string) (string, error) {
	s := b.Status()
	mode := ""
	if b.cfg.Controls != nil {
		mode = fmt.Sprintf(" Mode `%s`.", b.cfg.Controls.Mode())
	}
	b.say("Model `%s`: %d of %d tokens in use (%.1f %%), %d messages.%s", s.Model, s.ContextTokens, s.MaxContextTokens, 100*float64(s.ContextTokens)/float64(max(s.MaxContextTokens, 1)), b.history.Len(), mode)
	return "", nil
}

func (b *Builtin) showUsage(context.Context, string) (string, error) {
	b.mu.Lock()
	calls, u := b.calls, b.used
	b.mu.Unlock()
	b.say("%d model calls: %d tokens in (%d of them from the cache), %d out.", calls, u.Input(), u.InputCacheRead, u.Output)
	return "", nil
}

func (b *Builtin) showContext(ctx context.Context, _ string) (string, error) {
	if b.cfg.Moment == nil {
		b.say("Nothing is told of the editor and the project in this session.")
		return "", nil
	}
	b.say("%s", b.cfg.Moment.Describe(ctx, b.history.contexts()))
	return "", nil
}

func (b *Builtin) chooseModel(_ context.Context, id string) (string, error) {
	c := b.cfg.Controls
	if c == nil || len(c.Models()) == 0 {
		b.say("The model is `%s`; there is no other to choose.", b.Status().Model)
		return "", nil
	}
	if id == "" {
		var s strings.Builder
		for _, m := range c.Models() {
			mark := ""
			if m == c.Model() {
				mark = " (in use)"
			}
			fmt.Fprintf(&s, "- `%s`%s\n", m, mark)
		}
		b.say("Models:\n%sChange with `/model NAME`.", s.String())
		return "", nil
	}
	if err := c.SetModel(id); err != nil {
		b.say("The model stays `%s`: %v", c.Model(), err)
		return "", nil
	}
	b.say("The model is now `%s`.", c.Model())
	return "", nil
}

// switchMode is the command that turns a mode on, and back to default.
func switchMode(mode string) func(*Builtin, context.Context, string) (string, error) {
	return func(b *Builtin, _ context.Context, arg string) (string, error) {
		c := b.cfg.Controls
		if c == nil {
			b.say("Modes cannot be changed in this session.")
			return "", nil
		}
		to := mode
		switch {
		case arg == "off", arg == "" && c.Mode() == mode:
			to = "default"
		case arg != "" && arg != "on":
			b.say("`/%s` takes `on` or `off`. The mode stays `%s`.", mode, c.Mode())
			return "", nil
		}
		if err := c.SetMode(to); err != nil {
			return "", fmt.Errorf("change the mode: %w", err)
		}
		b.say("The mode is now `%s`.", to)
		return "", nil
	}
}

// initPrompt asks for an AGENTS.md.
const initPrompt = `Write an AGENTS.md at the root of this project, for agents that will work on it.
Look first: the README, the build files, the layout, a few typical sources and their tests. Then write, in at most 80 lines: what the project is, a map of its folders, the commands to build, test and lint it (only those that you have seen in its files), the conventions that its code follows, and what is easy to get wrong. If an AGENTS.md is there already, keep what holds and mend what does not. State nothing that you have not seen.`

func (b *Builtin) initialize(_ context.Context, extra string) (string, error) {
	if extra == "" {
		return initPrompt, nil
	}
	return initPrompt + "\n\nThe user adds: " + extra, nil
}

func (b *Builtin) permissions(_ context.Context, args string) (string, error) {
	p := b.cfg.Permissions
	if p == nil {
		b.say("Nothing is granted in this session.")
		return "", nil
	}
	words := strings.Fields(args)
	if len(words) == 0 {
		b.say("%s", p.List())
		return "", nil
	}
	do := map[string]func(int) string{"remove": p.Remove, "keep": p.Keep}[words[0]]
	if do == nil || len(words) != 2 {
		b.say("`/permissions` shows what was granted, `/permissions remove N` takes the N-th back, `/permissions keep N` keeps an answer of this session for the project.")
		return "", nil
	}
	n, err := strconv.Atoi(words[1])
	if err != nil {
		b.say("%q is no number of the list; `/permissions` shows it.", words[1])
		return "", nil
	}
	b.say("%s", do(n))
	return "", nil
}

func (b *Builtin) listChanges(context.Context, string) (string, error) {
	if b.cfg.Edits == nil {
		b.say("Edits are not kept in this session.")
		return "", nil
	}
	b.say("%s", b.cfg.Edits.Changes())
	return "", nil
}

func (b *Builtin) undo(ctx context.Context, arg string) (string, error) {
	edits := b.cfg.Edits
	what, which, _ := strings.Cut(arg, " ")
	which = strings.TrimSpace(which)
	turns, err := strconv.Atoi(cmp.Or(arg, "1"))
	switch {
	case edits != nil && what == "change" && which != "":
		b.say("%s", edits.UndoChange(ctx, which))
	case edits != nil && what == "file" && which != "":
		b.say("%s", edits.UndoFile(ctx, strings.Trim(which, "`")))
	case edits != nil && what == "step":
		b.undoSteps(ctx, which)
	case arg == "all":
		b.say("%s", b.Rewind(ctx, Back{Turns: math.MaxInt}))
	case err != nil || turns < 1:
		b.say("`/undo` takes the number of turns to take back, such as `/undo 2`, or what to take back: `/undo step`, `/undo change a1`, `/undo file PATH`, `/undo all`.")
	default:
		b.say("%s", b.Rewind(ctx, Back{Turns: turns}))
	}
	return "", nil
}

// undoSteps takes back edits alone: what was said stays.
func (b *Builtin) undoSteps(ctx context.Context, arg string) {
	steps, err := strconv.Atoi(cmp.Or(arg, "1"))
	kept := b.editTurns()
	switch {
	case kept == nil:
		b.say("Edits are not kept by steps in this session.")
	case err != nil || steps < 1:
		b.say("`/undo step` takes the number of steps to take back, such as `/undo step 2`; without one it takes back the last.")
	default:
		b.say("%s", kept.UndoSteps(ctx, steps))
	}
}

func (b *Builtin) redo(ctx context.Context, _ string) (string, error) {
	kept := b.editTurns()
	if kept == nil {
		b.say("Edits are not kept in this session.")
		return "", nil
	}
	b.say("%s", kept.Redo(ctx))
	return "", nil
}

func (b *Builtin) clear(context.Context, string) (string, error) {
	b.history.Truncate(0)
	b.reminders.forget()
	b.record.clear()
	b.renewTools()
	b.sendStatus(&assembler{})
	b.say("The conversation is cleared. Files were not touched.")
	return "", nil
}
