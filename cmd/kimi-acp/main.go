// Command kimi-acp is an agent server: an editor starts it and speaks the Agent
// Client Protocol with it over stdin and stdout.
//
// This package holds flags and wiring, one file a subcommand. It must not hold
// behaviour that a test could not reach through the packages beneath it.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// subcommand is one thing that the program does.
type subcommand struct {
	name    string
	summary string // one line; empty: not listed
	run     func(args []string) int
}

func subcommands() []subcommand {
	return []subcommand{
		{"acp", "serve an editor over stdin and stdout (the default)", runACP},
		{"lsp", "tell the agent what the user looks at, as a language server", runLSP},
		{"demo", "play an editor and show one edit from prompt to file, offline", runDemo},
		{"run", "do one turn without an editor, in the current folder", runRun},
		{"doctor", "find out what keeps the agent from working, and what mends it", runDoctor},
		{"eval", "have a model do small tasks, and check what came of them", runEval},
		{"policy", "say what would be allowed, asked for or denied, and why", runPolicy},
		{"sessions", "list, show, watch, export, check, mend and delete kept sessions", runSessions},
		{"wire", "serve a client of kimi-cli's Wire, or show the recording of a session", runWire},
		{"info", "say which versions of kimi-cli's Wire and agent files are spoken", runInfo},
		{"trust", "say which folders may run code of their own", runTrust},
		{"version", "print the version", runVersion},
		{superviseCommand, "", runSupervise},
	}
}

func main() { os.Exit(dispatch(os.Args[1:])) }

// dispatch picks the subcommand. Without one, or with flags only, it is acp.
func dispatch(args []string) int {
	name, rest := "acp", args
	if len(args) > 0 {
		switch first := args[0]; {
		case first == "help" || first == "-h" || first == "--help":
			usage(os.Stdout)
			return 0
		case first == "--version":
			name, rest = "version", args[1:]
		case asksForWire(args):
			name = "wire"
		case !strings.HasPrefix(first, "-"):
			name, rest = first, args[1:]
		}
	}
	for _, c := range subcommands() {
		if c.name == name {
			return c.run(rest)
		}
	}
	fmt.Fprintf(os.Stderr, "kimi-acp: there is no command %q\n\n", name)
	usage(os.Stderr)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprint(w, "kimi-acp is an agent that works inside your editor, over the Agent Client Protocol.\n\nUsage: kimi-acp [command] [flags]\n\nCommands:\n")
	for _, c := range subcommands() {
		if c.summary != "" {
			fmt.Fprintf(w, "  %-9s %s\n", c.name, c.summary)
		}
	}
	fmt.Fprint(w, `
Examples:
  kimi-acp demo                 see what it does, without a key and without a network
  KIMI_API_KEY=… KIMI_MODEL_NAME=kimi-k2-turbo-preview kimi-acp
                                what an editor runs; see the README for each editor's settings
  kimi-acp doctor               what is set up, what is missing, and what mends it
  kimi-acp run "why does TestParse fail?"
                                one turn at the terminal, without an editor

Environment: KIMI_API_KEY, KIMI_BASE_URL, KIMI_MODEL_NAME, or OPENAI_API_KEY,
OPENAI_BASE_URL, OPENAI_MODEL; KIMI_SHARE_DIR (logs), KIMI_DEBUG=1 (detail).
`)
}
