package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"kimi-acp/cmd/kimi-acp/run"
	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
	"kimi-acp/internal/proc"
	"kimi-acp/internal/screen"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

const runHelp = `Usage: kimi-acp run [flags] PROMPT

Does one turn without an editor, in the current folder. The answer goes to stdout
as it comes, everything else to stderr. Changes and commands are asked for at the
terminal; where there is none, whatever would be asked is rejected.

Without PROMPT, or with "-", the prompt is read from stdin.

Flags:
`

const runExamples = `
Examples:
  kimi-acp run "why does TestParse fail?"
  kimi-acp run --mode accept-edits "rename Foo to Bar in this package"
  git diff | kimi-acp run --quiet - > review.txt
  kimi-acp run --json --yes "update the changelog" | jq -r 'select(.type=="result").text'

Exit codes:
    0  the model had nothing more to do
    1  failed: the provider refused, or the program could not go on
    2  wrong flags, or no model is set up
    3  the provider's filter refused
    4  the answer's length, or the number of steps, was used up
    5  something was rejected because nobody was there to answer
   75  the provider failed in a way that may pass; try again later
  130  cancelled
`

// runFlags are the flags of run.
type runFlags struct {
	dir, mode, model, thinking string
	yes, quiet, json           bool
	maxSteps                   int
	prompt                     string
}

// runRun does one turn without an editor.
func runRun(args []string) int {
	f, code, ok := parseRunFlags(args)
	if !ok {
		return code
	}
	fail := func(exit run.ExitCode, err error) int {
		fmt.Fprintln(os.Stderr, "kimi-acp run:", err)
		if f.json {
			if err := run.NewLines(os.Stdout, nil).End(run.Result{}, exit, err); err != nil {
				return int(run.ExitFailed)
			}
		}
		return int(exit)
	}
	mode, err := run.ParseMode(f.mode)
	if err != nil {
		return fail(run.ExitUsage, err)
	}
	if f.yes {
		mode = tool.ModeYolo
	}
	dir, err := workingFolder(f.dir)
	if err != nil {
		return fail(run.ExitUsage, err)
	}
	interactive := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
	if f.prompt == "" || f.prompt == "-" {
		if f.prompt, err = readPrompt(os.Stdin); err != nil {
			return fail(run.ExitUsage, err)
		}
	}

	cfg, warnings := config.Load(os.Getenv, config.Flags{})
	secrets := obs.NewRedactor()
	for _, secret := range cfg.Secrets() {
		secrets.Add(secret)
	}
	log := obs.Open(obs.Options{Dir: cfg.LogDir(), Debug: cfg.Debug, Secrets: secrets})
	defer func() { _ = log.Close() }() // the turn is over, and nothing of it depends on its log
	for _, w := range warnings {
		log.Warn(w.String())
		if !f.quiet {
			fmt.Fprintln(os.Stderr, "kimi-acp run:", w)
		}
	}
	provider, missing := chosenProvider(cfg, f.model, f.thinking)
	if missing != "" {
		return fail(run.ExitUsage, errors.New(missing))
	}

	// A reader that leaves early must not end us in the middle of a write: the turn
	// is cancelled instead. A second Ctrl-C ends the program at once.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	runner := proc.NewRunner(proc.Options{Supervisor: supervisor(), Environ: proc.Scrub(os.Environ())})
	defer runner.Close()
	o := run.Options{
		Dir: dir, Prompt: f.prompt, Provider: provider, Runner: runner, Shell: runner.Shell(),
		Mode: mode, MaxSteps: f.maxSteps, Retry: retryPolicy(cfg), Logger: log.Logger,
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = cfg.Loop.MaxStepsPerTurn
	}
	out := newRunOutput(f, dir, cancel)
	o.Views = out.views
	if interactive {
		o.Person = run.NewTerminal(os.Stdin, out.screen, out.shown)
	}
	result, err := run.Turn(ctx, o)
	if cause := context.Cause(ctx); err == nil && errors.Is(cause, errReaderGone) {
		err = cause
	}
	if err != nil {
		return fail(run.ExitFailed, err)
	}
	return out.end(result)
}

func parseRunFlags(args []string) (f runFlags, code int, ok bool) {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&f.dir, "dir", ".", "the `folder` to work in")
	flags.StringVar(&f.mode, "mode", string(tool.ModeDefault), "default: ask for changes and commands; accept-edits: ask for\ncommands; plan: change and run nothing; yolo: ask for nothing")
	flags.BoolVar(&f.yes, "yes", false, "the same as --mode yolo")
	flags.StringVar(&f.model, "model", "", "the `model` to use: the id of a configured one, or a name that the server of\nthe default model knows")
	flags.StringVar(&f.thinking, "thinking", "", "how much the model thinks: a `level` that it offers, such as off, on or high")
	flags.IntVar(&f.maxSteps, "max-steps", 0, "end the turn after `N` model calls")
	flags.BoolVar(&f.json, "json", false, "write one JSON object a line to stdout: the messages of the Wire,\nand at the end {\"type\":\"result\",…}")
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on stderr but questions and errors")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), runHelp)
		flags.PrintDefaults()
		fmt.Fprint(flags.Output(), runExamples)
	}
	words, err := parseAmong(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return f, 0, false
	case err != nil:
		return f, int(run.ExitUsage), false
	case f.maxSteps < 0:
		fmt.Fprintln(os.Stderr, "kimi-acp run: --max-steps must not be negative")
		return f, int(run.ExitUsage), false
	}
	f.prompt = strings.Join(words, " ")
	return f, 0, true
}

// parseAmong parses flags that may stand before, between and behind other words;
// behind "--" there are only words.
func parseAmong(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if len(rest) == 0 {
			return words, nil
		}
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			return append(words, rest...), nil
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}

// workingFolder makes the folder to work in absolute, and checks it.
func workingFolder(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the folder to work in: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("--dir: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("--dir: %s is not a folder", abs)
	}
	return abs, nil
}

// maxPrompt bounds a prompt that is read, in bytes.
const maxPrompt = 4 << 20

func readPrompt(in *os.File) (string, error) {
	if term.IsTerminal(int(in.Fd())) {
		return "", errors.New("there is no prompt: give it as an argument, or pipe it in (see kimi-acp run --help)")
	}
	data, err := io.ReadAll(io.LimitReader(in, maxPrompt+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the prompt: %w", err)
	case len(data) > maxPrompt:
		return "", fmt.Errorf("the prompt has more than %d MiB", maxPrompt>>20)
	case !utf8.Valid(data):
		return "", errors.New("the prompt is not UTF-8 text")
	case strings.TrimSpace(string(data)) == "":
		return "", errors.New("there is no prompt: stdin was empty")
	}
	return string(data), nil
}

var errReaderGone = errors.New("the reader of the output has gone")

// runOutput is where a turn is shown.
type runOutput struct {
	screen *screen.Screen
	views  []run.View
	shown  func(wire.ApprovalRequest) // shows what is asked for; nil: a view does
	end    func(run.Result) int
}

func newRunOutput(f runFlags, dir string, cancel context.CancelCauseFunc) runOutput {
	gone := func(err error) { cancel(fmt.Errorf("%w: %w", errReaderGone, err)) }
	s := screen.ForFile(os.Stderr, 0, os.Getenv)
	out := runOutput{screen: s, shown: func(r wire.ApprovalRequest) { run.ShowRequest(s, r, dir) }}
	told := func(r run.Result) int {
		s.End()
		if r.Err != nil {
			fmt.Fprintln(os.Stderr, strings.TrimSpace(fmt.Sprintf("kimi-acp run: %v. %s", r.Err, run.Advice(r.Err))))
		}
		return int(run.Exit(r))
	}
	if f.json {
		lines := run.NewLines(os.Stdout, gone)
		out.views = []run.View{{Stream: wire.Merged, View: lines}}
		out.end = func(r run.Result) int {
			code := told(r)
			if err := lines.End(r, run.ExitCode(code), nil); err != nil {
				return int(run.ExitFailed)
			}
			return code
		}
		return out
	}
	answer := run.NewAnswer(os.Stdout, gone)
	if f.quiet {
		out.views = []run.View{{Stream: wire.Raw, View: answer}}
		out.end = told
		return out
	}
	show := run.NewShow(answer, s, dir)
	out.views, out.shown = []run.View{{Stream: wire.Raw, View: show}}, nil
	out.end = func(r run.Result) int {
		show.End(r)
		return told(r)
	}
	return out
}
