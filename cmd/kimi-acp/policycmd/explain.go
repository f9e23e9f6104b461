package policycmd

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"kimi-acp/fileop/facts"
	"kimi-acp/internal/policy"
)

// Options are where a run writes, and what it must know of the user.
type Options struct {
	Out, Err io.Writer
	Home     string   // the user's home folder, may be empty
	Own      []string // files and folders of the program
	// Engine gives the rules that hold in a workspace, with these ready sets; nil are
	// those of the settings. Nil: there are no rules but the ready ones.
	Engine func(root string, sets []string) (*policy.Engine, error)
	// Trusted tells whether the user trusts a workspace; nil: they do.
	Trusted func(root string) bool
}

const usage = `Usage:
  kimi-acp policy explain --shell CMD | --read PATH | --write PATH | --fetch URL | --mcp SERVER/TOOL
                          [--workspace DIR] [--trusted|--untrusted] [--mode MODE] [--set inspect,build] [--json]
  kimi-acp policy test FILE

explain says what would happen with an action, and why. Nothing is run. It goes by
your rules, those kept for the project, and whether you trust the folder; --set,
--trusted and --untrusted say it otherwise.

Examples:
  kimi-acp policy explain --shell 'cd web && npm test'
  kimi-acp policy explain --write .git/hooks/pre-commit --json
  kimi-acp policy explain --shell 'git status' --untrusted --mode plan

test holds the policy against a file of cases, one JSON object a line.
`

// Run runs kimi-acp policy and gives the exit code: 0; 1 when a case fails; 2 when
// the arguments cannot be understood.
func Run(args []string, o Options) int {
	code, err := run(args, o)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(o.Err, "kimi-acp policy:", err)
	}
	return code
}

func run(args []string, o Options) (int, error) {
	if len(args) == 0 {
		_, _ = fmt.Fprint(o.Err, usage)
		return 2, nil
	}
	switch args[0] {
	case "explain":
		return explain(args[1:], o)
	case "test":
		if len(args) != 2 {
			_, _ = fmt.Fprint(o.Err, usage)
			return 2, nil
		}
		return test(args[1], o)
	case "help", "-h", "--help":
		_, _ = fmt.Fprint(o.Out, usage)
		return 0, nil
	}
	return 2, fmt.Errorf("there is no command %q; use explain or test", args[0])
}

// question is what explain is asked.
type question struct {
	shell, read, write, fetch, mcp string
	workspace, mode, sets          string
	untrusted, trusted, json       bool
}

func explain(args []string, o Options) (int, error) {
	var q question
	flags := flag.NewFlagSet("policy explain", flag.ContinueOnError)
	flags.SetOutput(o.Err)
	flags.Usage = func() { _, _ = fmt.Fprint(o.Err, usage) }
	flags.StringVar(&q.shell, "shell", "", "")
	flags.StringVar(&q.read, "read", "", "")
	flags.StringVar(&q.write, "write", "", "")
	flags.StringVar(&q.fetch, "fetch", "", "")
	flags.StringVar(&q.mcp, "mcp", "", "")
	flags.StringVar(&q.workspace, "workspace", ".", "")
	flags.StringVar(&q.mode, "mode", string(policy.ModeDefault), "")
	flags.StringVar(&q.sets, "set", "", "")
	flags.BoolVar(&q.trusted, "trusted", false, "")
	flags.BoolVar(&q.untrusted, "untrusted", false, "")
	flags.BoolVar(&q.json, "json", false, "")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0, err
		}
		return 2, nil //nolint:nilerr // flag has told the user
	}
	if flags.NArg() > 0 || q.trusted && q.untrusted {
		return 2, errors.New("arguments are left over, or contradict each other; see kimi-acp policy help")
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	v, err := q.ask(given, o)
	if err != nil {
		return 2, err
	}
	if q.json {
		return 0, writeJSON(o.Out, v)
	}
	writeText(o.Out, v)
	return 0, nil
}

func (q question) ask(given map[string]bool, o Options) (policy.Verdict, error) {
	mode, err := policy.ParseMode(q.mode)
	if err != nil {
		return policy.Verdict{}, err
	}
	root, err := filepath.Abs(q.workspace)
	if err != nil {
		return policy.Verdict{}, fmt.Errorf("finding the workspace: %w", err)
	}
	var sets []string
	if given["set"] {
		sets = strings.Split(q.sets, ",")
	}
	if o.Engine == nil {
		o.Engine = func(_ string, sets []string) (*policy.Engine, error) { return policy.New(policy.Options{Sets: sets}) }
	}
	e, err := o.Engine(root, sets)
	if err != nil {
		return policy.Verdict{}, fmt.Errorf("the rules cannot be used, so everything is asked for each time: %w", err)
	}
	trusted := q.trusted || !q.untrusted && (o.Trusted == nil || o.Trusted(root))
	c := policy.Context{Roots: []string{root}, Home: o.Home, Own: o.Own, Mode: mode, Trusted: trusted, Windows: runtime.GOOS == "windows", Look: facts.Look}
	if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
		c.Roots = append(c.Roots, real)
	}
	var v policy.Verdict
	actions := 0
	for name, decide := range map[string]func(){
		"shell": func() { v = e.Shell(q.shell, c) },
		"read":  func() { v = e.Read(factsOf(q.read, root, o.Home), c) },
		"write": func() { v = e.Write(factsOf(q.write, root, o.Home), c) },
		"fetch": func() { v = e.Fetch(q.fetch, c) },
		"mcp": func() {
			server, tool, _ := strings.Cut(q.mcp, "/")
			v = e.MCP(server, tool, c)
		},
	} {
		if given[name] {
			actions++
			decide()
		}
	}
	if actions != 1 {
		return v, errors.New("name one action: --shell, --read, --write, --fetch or --mcp")
	}
	return v, nil
}

// factsOf looks at a path as it was asked for; what policy sees is the path as it
// was written.
func factsOf(path, root, home string) policy.PathFacts {
	full := path
	switch {
	case home != "" && (path == "~" || strings.HasPrefix(path, "~/")):
		full = filepath.Join(home, path[1:])
	case path != "" && !filepath.IsAbs(path):
		full = root + string(os.PathSeparator) + path
	}
	p := facts.Look(full)
	p.Path = path
	return p
}

func writeJSON(out io.Writer, v policy.Verdict) error {
	answer := struct {
		Decision policy.Decision `json:"decision"`
		Reason   string          `json:"reason"`
		Rule     string          `json:"rule"`
		Covers   string          `json:"covers,omitempty"`
		Lasts    string          `json:"lasts,omitempty"`
		Shown    []string        `json:"shown"`
	}{v.Decision, v.Reason, v.Rule, v.Key, "", v.Lines()}
	if v.Key != "" {
		answer.Lasts = v.Lasts.String()
	}
	text := json.NewEncoder(out)
	text.SetEscapeHTML(false)
	return text.Encode(answer)
}

func writeText(out io.Writer, v policy.Verdict) {
	_, _ = fmt.Fprintf(out, "decision  %s\n", v.Decision)
	for _, line := range []struct{ name, text string }{{"reason", v.Reason}, {"rule", v.Rule}, {"covers", strings.ReplaceAll(v.Key, "\n", "; ")}} {
		if line.text != "" {
			_, _ = fmt.Fprintf(out, "%-9s %s\n", line.name, line.text)
		}
	}
	for _, line := range v.Lines() {
		_, _ = fmt.Fprintf(out, "%-9s %s\n", "shown", line)
	}
}
