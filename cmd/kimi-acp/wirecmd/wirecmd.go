package wirecmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"kimi-acp/internal/cmdline"
	"kimi-acp/internal/screen"
	"kimi-acp/soul/session"
)

// Options are what a run works on, and where it writes.
type Options struct {
	Store    *session.Store
	Out, Err io.Writer
	// Screen lays out what goes to Out; columns of 0 are those of the terminal.
	Screen func(columns int) *screen.Screen
}

const usage = `Usage: kimi-acp wire COMMAND [flags] ID

Shows the recording of a session (wire.jsonl). An ID may be given by its beginning;
kimi-acp sessions list shows them.

Commands:
  log ID       the messages, one a line
  replay ID    what was said and done, as a person sees it; with --json as a client
               of the Wire gets it

Examples:
  kimi-acp wire log 3f2a --count
  kimi-acp wire log 3f2a --follow --type ToolCall,ToolResult
  kimi-acp wire replay 3f2a --json

Exit codes: 0 all is well, 1 something failed, 2 wrong usage.
`

// call is one use of a command.
type call struct {
	Options
	columns int
	follow  bool
	count   bool
	json    bool
	types   string
}

// command is one of the things that can be done.
type command struct {
	name, form, help string
	flags            func(f *flag.FlagSet, c *call)
	run              func(ctx context.Context, c *call, r *session.Reader) error
}

func commands() []command {
	return []command{
		{"log", "log ID [--follow] [--count] [--type T,…] [--json]", "Shows the messages of a recording, one a line: the number of the line, the time, the\ntype, and the beginning of what is in it.", logFlags, log},
		{"replay", "replay ID [--json]", "Shows what was said and done in a session.", replayFlags, replay},
	}
}

// Serves tells whether a command line is one for Run.
func Serves(args []string) bool {
	if len(args) == 0 {
		return false
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return true
		}
	}
	return args[0] == "help" || args[0] == "-h" || args[0] == "--help"
}

// Run runs kimi-acp wire log or replay and gives the exit code: 0, 1 when something
// failed, 2 for wrong usage. When ctx ends, following ends, and that is no failure.
func Run(ctx context.Context, args []string, o Options) int {
	if !Serves(args) {
		_, _ = fmt.Fprint(o.Err, usage)
		return 2
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.call(ctx, args[1:], o)
		}
	}
	_, _ = fmt.Fprint(o.Out, usage)
	return 0
}

func (c command) call(ctx context.Context, args []string, o Options) int {
	x := &call{Options: o}
	flags := flag.NewFlagSet("wire "+c.name, flag.ContinueOnError)
	flags.SetOutput(o.Err)
	flags.IntVar(&x.columns, "width", 0, "columns to lay out for (default: the terminal's, else 80)")
	c.flags(flags, x)
	flags.Usage = func() {
		_, _ = fmt.Fprintf(flags.Output(), "Usage: kimi-acp wire %s\n\n%s\n\nFlags:\n", c.form, c.help)
		flags.PrintDefaults()
	}
	words, err := cmdline.Parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case len(words) != 1:
		_, _ = fmt.Fprintf(o.Err, "kimi-acp wire %s: name one session; kimi-acp sessions list shows them\n", c.name)
		return 2
	}
	if err := c.on(ctx, x, words[0]); err != nil {
		_, _ = fmt.Fprintf(o.Err, "kimi-acp wire %s: %v\n", c.name, err)
		return 1
	}
	return 0
}

// on runs a command on a session.
func (c command) on(ctx context.Context, x *call, word string) (err error) {
	id, err := x.Store.Find(word)
	if errors.Is(err, session.ErrNotFound) {
		return fmt.Errorf("there is no session %q; kimi-acp sessions list --all shows those that there are", word)
	}
	if err != nil {
		return err
	}
	r, err := x.Store.Read("", id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return c.run(ctx, x, r)
}
