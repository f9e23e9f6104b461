package sessionscmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"kimi-acp/internal/cmdline"
	"kimi-acp/internal/screen"
	"kimi-acp/soul/session"
)

// Options are what a run works on, and where it writes.
type Options struct {
	Store *session.Store
	Dir   string // the current folder, absolute
	Home  string // the user's home folder, may be empty
	In    io.Reader
	Out   io.Writer
	Err   io.Writer
	// Answers tells whether somebody is there to answer at In.
	Answers bool
	// Screen lays out what goes to Out; columns of 0 are those of the terminal.
	Screen func(columns int) *screen.Screen
	Now    func() time.Time
}

// The exit codes.
const (
	exitOK      = 0
	exitDamaged = 1 // damage was found, or the command failed
	exitUsage   = 2
)

const usage = `Usage: kimi-acp sessions COMMAND [flags] [ID]

Looks after the sessions that are kept on disk, also those of kimi-cli. An ID may be
given by its beginning; without one, show, export and watch take the session of the
current folder that was used last.

Commands:
  list            the sessions of the current folder, those used last first
  show [ID]       what is known of a session
  watch [ID]      follow a session while another process works in it
  export [ID] [FILE]
                  write a session as Markdown or as JSON lines
  verify [ID]     look for damage
  repair ID       mend what can be mended, and say what that was
  delete ID…      delete sessions, with all that belongs to them

Examples:
  kimi-acp sessions list --all
  kimi-acp sessions show 3f2a
  kimi-acp sessions watch
  kimi-acp sessions export 3f2a talk.md
  kimi-acp sessions verify --all
  kimi-acp sessions list --json | jq -r '.[0].id'

kimi-acp sessions COMMAND --help tells of a command's flags.

Exit codes: 0 all is well, 1 damage was found or something failed, 2 wrong usage.
`

// command is one of the things that can be done.
type command struct {
	name, form, help string
	run              func(ctx context.Context, c *call) error
	flags            func(f *flag.FlagSet, c *call)
	words            int // how many words it takes at most
}

func commands() []command {
	return []command{
		{name: "list", form: "list [--all | --cwd DIR] [--json]", help: "Lists the sessions of the current folder, those used last first.", run: list, flags: listFlags},
		{name: "show", form: "show [ID] [--path | --json]", help: "Shows what is known of a session.", run: show, flags: showFlags, words: 1},
		{name: "watch", form: "watch [ID] [--all] [--json]", help: "Shows what happens in a session, from its last turn on, until Ctrl-C. The session\nis only read: whoever works in it is not disturbed.", run: watch, flags: watchFlags, words: 1},
		{name: "export", form: "export [ID] [FILE] [--format md|jsonl] [--force]", help: "Writes a session as Markdown, for people, or as JSON lines, one message each, as\na model gets them. Without FILE it goes to stdout.", run: export, flags: exportFlags, words: 2},
		{name: "verify", form: "verify [ID | --all] [--json]", help: "Looks for damage in a session, or in those of the current folder. Nothing is changed.", run: verify, flags: verifyFlags, words: 1},
		{name: "repair", form: "repair ID", help: "Does what opening the session in an editor would do: sets a torn end aside, and\nanswers tool calls that have no result. Nothing is deleted.", run: repair, words: 1},
		{name: "delete", form: "delete ID… [--yes]", help: "Deletes sessions with all that belongs to them, also what undo needs. Your files\nstay as they are.", run: remove, flags: deleteFlags, words: 1000},
	}
}

// call is one use of a command.
type call struct {
	Options
	words   []string
	columns int
	all     bool
	json    bool
	path    bool
	yes     bool
	force   bool
	cwd     string
	format  string
}

// A usageError is a mistake on the command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// errDamaged says that damage was found, and that the user was told.
var errDamaged = errors.New("damage was found")

// Run runs kimi-acp sessions and gives the exit code. When ctx ends, watch ends, and
// that is no failure.
func Run(ctx context.Context, args []string, o Options) int {
	if len(args) == 0 {
		_, _ = fmt.Fprint(o.Err, usage)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "--help":
		_, _ = fmt.Fprint(o.Out, usage)
		return exitOK
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.call(ctx, args[1:], o)
		}
	}
	_, _ = fmt.Fprintf(o.Err, "kimi-acp sessions: there is no command %q; kimi-acp sessions help lists them\n", args[0])
	return exitUsage
}

func (c command) call(ctx context.Context, args []string, o Options) int {
	x := &call{Options: o}
	flags := flag.NewFlagSet("sessions "+c.name, flag.ContinueOnError)
	flags.SetOutput(o.Err)
	flags.IntVar(&x.columns, "width", 0, "columns to lay out for (default: the terminal's, else 80)")
	if c.flags != nil {
		c.flags(flags, x)
	}
	flags.Usage = func() {
		_, _ = fmt.Fprintf(flags.Output(), "Usage: kimi-acp sessions %s\n\n%s\n\nFlags:\n", c.form, c.help)
		flags.PrintDefaults()
	}
	var err error
	x.words, err = cmdline.Parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	if len(x.words) > c.words {
		err = usageError{fmt.Sprintf("%q is too much; usage: kimi-acp sessions %s", x.words[c.words], c.form)}
	} else {
		err = c.run(ctx, x)
	}
	var wrong usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDamaged):
		return exitDamaged
	}
	_, _ = fmt.Fprintf(o.Err, "kimi-acp sessions %s: %v\n", c.name, err)
	if errors.As(err, &wrong) {
		return exitUsage
	}
	return exitDamaged
}

// find gives the id that a word stands for.
func (c *call) find(word string) (string, error) {
	id, err := c.Store.Find(word)
	if errors.Is(err, session.ErrNotFound) {
		return "", fmt.Errorf("there is no session %q; kimi-acp sessions list --all shows those that there are", word)
	}
	return id, err
}

// open reads the session that a word stands for; without a word it is the latest of
// the current folder. The caller closes it.
func (c *call) open(words []string) (*session.Reader, error) {
	if len(words) > 0 {
		id, err := c.find(words[0])
		if err != nil {
			return nil, err
		}
		return c.Store.Read("", id)
	}
	page, err := c.Store.List(session.ListOptions{WorkDir: c.Dir, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(page.Sessions) == 0 {
		return nil, usageError{fmt.Sprintf("no session belongs to %s; name one by its ID (kimi-acp sessions list --all shows them)", c.tilde(c.Dir))}
	}
	return c.Store.Read(c.Dir, page.Sessions[0].ID)
}

// tilde shortens a path in the user's home folder.
func (c *call) tilde(path string) string {
	home := strings.TrimRight(c.Home, "/")
	if home == "" {
		return path
	}
	if path == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(path, home+"/"); ok {
		return "~/" + rest
	}
	return path
}
