package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"kimi-acp/cmd/kimi-acp/demo"
)

// runDemo plays an editor in front of this very program.
func runDemo(args []string) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	yes := flags.Bool("yes", false, "give every permission without asking")
	columns := flags.Int("width", 0, "columns to lay out for (default: the terminal's, else 80)")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Usage: kimi-acp demo [--yes] [--width N]\n\nPlays an editor: starts the agent, sends a prompt from a scratch project with\nunsaved text, and shows everything up to the edited file. Needs git; needs no\nkey and no network. Without a terminal permissions are given by themselves.\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kimi-acp demo: cannot find this program:", err)
		return 1
	}
	// A reader that leaves early (kimi-acp demo | head) must not keep us from
	// cleaning up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := demo.Options{Agent: []string{self, "acp"}, Out: os.Stdout, Width: *columns}
	out := int(os.Stdout.Fd())
	if term.IsTerminal(out) {
		o.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(out); err == nil && o.Width == 0 {
			o.Width = w
		}
	}
	if o.Width == 0 {
		o.Width = 80
	}
	if !*yes && term.IsTerminal(int(os.Stdin.Fd())) {
		o.In = os.Stdin
	}
	if err := demo.Run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "kimi-acp demo:", err)
		return 1
	}
	return 0
}
