package soul

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// Profile is what differs between the souls of several programs, as data: the commands,
// and the manners of a turn. The zero value is that of editors.
type Profile struct {
	commands []command // nil: builtinCommands
	// hidden are tools that run although the model is not told of them.
	hidden []string
	// rejectionEnds says that a call which the user turned down without a word ends the
	// turn.
	rejectionEnds bool
	// sparseStatus says that a status tells of the context only when the model has
	// counted it.
	sparseStatus bool
	// silentStops says that a turn which has used up its steps ends without a word: the
	// client says so.
	silentStops bool
	// nestsTurns says that each turn of a flow is told as a turn within the command's.
	nestsTurns bool
	// changesTools says that tools which come up in the course of a conversation are told
	// at once, at the price of what a provider keeps of it.
	changesTools bool
	// quietYolo says that the model is not told that the user is asked no more.
	quietYolo bool
	// quietMail says that nobody is told when the model goes back in its turn.
	quietMail bool
}

// commands lists the commands in force.
func (b *Builtin) commands() []command {
	if c := b.cfg.Profile.commands; c != nil {
		return c
	}
	all := builtinCommands()
	if b.cfg.Skills != nil {
		all = append(all, skillCommands(b.cfg.Skills())...)
	}
	return all
}

// slashCommand is what kimi-cli takes for a command, known or not.
var slashCommand = regexp.MustCompile(`^/([A-Za-z0-9_-]+(?::[A-Za-z0-9_-]+)*)(?:\s+(.*))?$`)

// parse finds the command that a prompt is. One that there is not answers that it does
// not exist.
func (p Profile) parse(text string) (c command, args string, ok bool) {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	m := slashCommand.FindStringSubmatch(strings.TrimSpace(first))
	if m == nil {
		return command{}, "", false
	}
	args = strings.TrimSpace(m[2] + "\n" + rest)
	for _, c := range p.commands {
		if c.Name == m[1] || slices.Contains(c.Aliases, m[1]) {
			return c, args, true
		}
	}
	return command{run: func(b *Builtin, _ context.Context, _ string) (string, error) {
		b.say("Unknown slash command %q.", "/"+m[1])
		return "", nil
	}}, args, true
}

// wentOn is what a command gives that has asked the model itself: how that ended.
type wentOn struct {
	outcome Outcome
	err     error
}

func (*wentOn) Error() string { return "the command asked the model" }
