package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kimi-acp/internal/cmdline"
	"kimi-acp/internal/config"
)

// wireFlags are kimi-cli's flags of its Wire server.
type wireFlags struct {
	settings             config.Flags
	workDir, session     string
	goOn, yolo, afk      bool
	plan                 bool
	maxSteps, maxRetries int
	maxRalph             *int // nil: as the settings say
	agent, agentFile     string
	skillsDirs, addDirs  []string
	mcp                  bool // MCP servers were named
}

const wireHelp = `Usage: kimi-acp wire [flags]
       kimi-acp --wire [flags]

Serves one session to a client of kimi-cli's Wire 1.10 over stdin and stdout. The
flags are those of kimi-cli. See docs/wire.md for clients and for what differs.
kimi-acp wire help tells of wire log and wire replay.

Flags:
`

// parseWireFlags reads kimi-cli's flags. The error is told already.
func parseWireFlags(args []string) (f wireFlags, code int, ok bool) {
	flags := flag.NewFlagSet("wire", flag.ContinueOnError)
	text := func(p *string, usage string, names ...string) {
		for _, n := range names {
			flags.StringVar(p, n, "", usage)
		}
	}
	on := func(p *bool, usage string, names ...string) {
		for _, n := range names {
			flags.BoolVar(p, n, false, usage)
		}
	}
	list := func(p *[]string, usage, name string) {
		flags.Func(name, usage, func(s string) error { *p = append(*p, s); return nil })
	}
	var thinking, noThinking, debug, ignored bool
	text(&f.workDir, "the `folder` to work in (default: the current one)", "work-dir", "w")
	text(&f.session, "go on with the session of this `ID`, or begin it", "session", "S", "resume", "r")
	on(&f.goOn, "go on with the folder's last session", "continue", "C")
	on(&f.yolo, "ask for nothing", "yolo", "y", "yes", "auto-approve")
	on(&f.afk, "ask for nothing, and put no questions", "afk")
	on(&f.plan, "begin in plan mode", "plan")
	text(&f.settings.ConfigText, "`settings` as JSON or TOML, in place of all files", "config")
	text(&f.settings.ConfigFile, "read this `file` in place of the usual ones", "config-file")
	text(&f.settings.Model, "the `ID` of the model", "model", "m")
	on(&thinking, "have the model think", "thinking")
	on(&noThinking, "have it not think", "no-thinking")
	on(&debug, "log the details", "debug")
	on(&ignored, "nothing", "verbose", "wire")
	flags.IntVar(&f.maxSteps, "max-steps-per-turn", 0, "end a turn after `N` model calls")
	flags.IntVar(&f.maxRetries, "max-retries-per-step", 0, "try a model call `N` times")
	flags.Func("max-ralph-iterations", "work on each prompt up to `N` times again; -1 without end", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < -1 {
			return errors.New("it is a number from -1 on")
		}
		f.maxRalph = &n
		return nil
	})
	text(&f.agentFile, "the agent of this `file` of kimi-cli's", "agent-file")
	list(&f.skillsDirs, "a `folder` with skills; may be given again", "skills-dir")
	list(&f.addDirs, "a further `folder` to work in; may be given again", "add-dir")
	named := func(string) error { f.mcp = true; return nil }
	flags.Func("mcp-config-file", "not supported yet: sessions do without MCP servers", named)
	flags.Func("mcp-config", "not supported yet", named)
	flags.StringVar(&f.agent, "agent", agentDefault, "the `agent`: default, or okabe, which can go back in its turn")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), wireHelp)
		flags.PrintDefaults()
	}
	words, err := cmdline.Parse(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return f, 0, false
	}
	if err != nil {
		return f, 2, false
	}
	given := map[string]bool{}
	flags.Visit(func(g *flag.Flag) { given[g.Name] = true })
	f.settings.Debug = debug
	switch {
	case thinking:
		f.settings.Thinking = &thinking
	case noThinking:
		f.settings.Thinking = new(bool)
	}
	sessionGiven := given["session"] || given["S"] || given["resume"] || given["r"]
	switch {
	case len(words) > 0:
		err = fmt.Errorf("unexpected argument %q", words[0])
	case thinking && noThinking:
		err = errors.New("--thinking and --no-thinking contradict each other")
	case f.goOn && sessionGiven:
		err = errors.New("--continue and --session contradict each other")
	case given["config"] && given["config-file"]:
		err = errors.New("--config and --config-file contradict each other")
	case given["agent"] && f.agentFile != "":
		err = errors.New("--agent and --agent-file contradict each other")
	case f.agent != agentDefault && f.agent != agentOkabe:
		err = fmt.Errorf("there is no agent %q", f.agent)
	case f.maxSteps < 0, f.maxRetries < 0:
		err = errors.New("--max-steps-per-turn and --max-retries-per-step must not be negative")
	default:
		f.workDir, err = kimiFolder(f.workDir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kimi-acp wire:", err)
		return f, 2, false
	}
	return f, 0, true
}

// kimiFolder makes a folder absolute, as kimi-cli does: links stay as they are.
func kimiFolder(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the folder to work in: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("--work-dir: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("--work-dir: %s is not a folder", abs)
	}
	return abs, nil
}

// asksForWire tells whether a command line without a subcommand is kimi-cli's for its
// Wire server.
func asksForWire(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], "-") && slices.Contains(args, "--wire")
}
