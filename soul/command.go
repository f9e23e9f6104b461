package soul

import (
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// command is a slash command of the built-in soul.
type command struct {
	Command
	run func(b *Builtin, text string) error
}

// builtinCommands lists the commands in the order in which they are shown.
func builtinCommands() []command {
	return []command{
		{Command{Name: "help", Description: "List the commands and what they do"}, (*Builtin).help},
		{Command{Name: "status", Description: "Show the model and how full its context is"}, (*Builtin).showStatus},
		{Command{Name: "clear", Description: "Forget the conversation so far; files stay as they are"}, (*Builtin).clear},
	}
}

// Commands lists the slash commands that Run understands.
func (b *Builtin) Commands() []Command {
	var out []Command
	for _, c := range builtinCommands() {
		out = append(out, c.Command)
	}
	return out
}

// parseCommand finds the command that a prompt begins with. A slash that begins
// anything else, such as a path, is ordinary text for the model.
func parseCommand(text string) (command, bool) {
	word, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return command{}, false
	}
	if i := strings.IndexAny(word, " \t\r\n"); i >= 0 {
		word = word[:i]
	}
	for _, c := range builtinCommands() {
		if c.Name == word {
			return c, true
		}
	}
	return command{}, false
}

func (b *Builtin) say(text string) error {
	b.cfg.Wire.Send(wire.ContentPart{Part: llm.Text(text)})
	return nil
}

func (b *Builtin) help(string) error {
	var s strings.Builder
	s.WriteString("Commands:\n")
	for _, c := range builtinCommands() {
		fmt.Fprintf(&s, "- `/%s`: %s\n", c.Name, c.Description)
	}
	return b.say(s.String())
}

func (b *Builtin) showStatus(string) error {
	s := b.Status()
	return b.say(fmt.Sprintf("Model `%s`: %d of %d tokens in use (%.1f %%), %d messages.", s.Model, s.ContextTokens, s.MaxContextTokens, 100*float64(s.ContextTokens)/float64(max(s.MaxContextTokens, 1)), b.history.Len()))
}

func (b *Builtin) clear(string) error {
	b.history.Truncate(0)
	b.sendStatus(&assembler{})
	return b.say("The conversation is cleared. Files were not touched.")
}
