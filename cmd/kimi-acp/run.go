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
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"kimi-acp/cmd/kimi-acp/run"
	"kimi-acp/internal/cmdline"
	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
	"kimi-acp/internal/proc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm/catalog"
	"kimi-acp/soul/tool"
)

const runHelp = `Usage: kimi-acp run [flags] PROMPT

Does one turn without an editor, in the current folder. The answer goes to stdout
as it comes, everything else to stderr. Changes and commands are asked for at the
terminal; where there is none, whatever would be asked is rejected.

Without PROMPT the prompt is read from stdin, and a "-" in it stands for stdin.

Flags:
`

const runExamples = `
Examples:
  kimi-acp run "why does TestParse fail?"
  kimi-acp run --mode accept-edits "rename Foo to Bar in this package"
  git diff | kimi-acp run --quiet "review this diff:" - > review.txt
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
	yes, trust, quiet, json    bool
	maxSteps                   int
	words                      []string // the prompt, "-" for stdin
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
	dir, err := workingFolder(f.dir)
	if err != nil {
		return fail(run.ExitUsage, err)
	}
	interactive := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
	prompt, err := promptOf(f.words, os.Stdin)
	if err != nil {
		return fail(run.ExitUsage, err)
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
	mode, err := modeOf(f, cfg)
	if err != nil {
		return fail(run.ExitUsage, err)
	}
	m, err := chosenModel(cfg, f.model)
	if err != nil {
		return fail(run.ExitUsage, err)
	}
	provider, done, err := openModel(cfg, m, f.thinking, catalog.Options{Logger: log.Logger})
	if err != nil {
		return fail(run.ExitUsage, err)
	}
	defer done()
	others, closeOthers := openRoles(cfg, log.Logger)
	defer closeOthers()

	// A reader that leaves early must not end us in the middle of a write: the turn
	// is cancelled instead. A second Ctrl-C ends the program at once.
	defer outliveReaders()()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	runner := proc.NewRunner(proc.Options{Supervisor: supervisor(), Environ: proc.Scrub(os.Environ())})
	defer runner.Close()
	guard := guardFor(cfg, policyOf(cfg), f.trust)([]string{dir})
	hooks := newHooks(func() config.Config { return cfg }, runner, hookPlace{session: "run", roots: []string{dir}, trusted: guard.Trusted}, log.Logger)
	defer endHooks(hooks)
	hooks.Tell(soul.HookSessionStart, "startup", map[string]any{"source": "startup"})
	o := run.Options{
		Dir: dir, Prompt: prompt, Provider: provider, Fallback: others.fallback, Small: others.small, Runner: runner, Shell: runner.Shell(),
		Guard: guard, Hooks: hooks, Skills: skillsOf(cfg.Skills, skillHome{home: userHome(), project: dir, trusted: guard.Trusted}, log.Logger),
		Code: codeOfRun(log.Logger, runner, guard, dir, cfg),
		Mode: mode, MaxSteps: f.maxSteps, Ralph: cfg.Loop.MaxRalphIterations,
		Goal: soul.GoalBudget{Rounds: cfg.Goal.Rounds, Tokens: cfg.Goal.Tokens}, Retry: retryPolicy(cfg), Compact: compaction(cfg), SkipReviews: cfg.NoPlanReview, Logger: log.Logger,
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
	flags.StringVar(&f.mode, "mode", "", "default: ask for changes and commands; accept-edits: ask for\ncommands; plan: change and run nothing; yolo: ask for nothing\n(default_mode of the settings, else default)")
	flags.BoolVar(&f.yes, "yes", false, "the same as --mode yolo")
	flags.BoolVar(&f.trust, "trust", false, "trust the folder to run code of its own, in this run\n(see kimi-acp trust for what lasts)")
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
	var err error
	f.words, err = cmdline.Parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return f, 0, false
	case err != nil:
		return f, int(run.ExitUsage), false
	case f.maxSteps < 0:
		fmt.Fprintln(os.Stderr, "kimi-acp run: --max-steps must not be negative")
		return f, int(run.ExitUsage), false
	}
	return f, 0, true
}

// modeOf is the mode of the flags, else that of the settings.
func modeOf(f runFlags, cfg config.Config) (tool.Mode, error) {
	switch {
	case f.yes && f.mode != "" && f.mode != string(tool.ModeYolo):
		return "", fmt.Errorf("--yes and --mode %s contradict each other", f.mode)
	case f.yes:
		return tool.ModeYolo, nil
	case f.mode != "":
		return run.ParseMode(f.mode)
	}
	return tool.Mode(cfg.DefaultMode), nil
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

// promptOf puts the prompt together; what stands for stdin is on lines of its own.
func promptOf(words []string, stdin *os.File) (string, error) {
	if len(words) == 0 {
		if term.IsTerminal(int(stdin.Fd())) {
			return "", errors.New("there is no prompt: give it as an argument, or pipe it in (see kimi-acp run --help)")
		}
		return readPrompt(stdin)
	}
	i := slices.Index(words, "-")
	if i < 0 {
		return strings.Join(words, " "), nil
	}
	text, err := readPrompt(stdin)
	before, behind := strings.Join(words[:i], " "), strings.Join(words[i+1:], " ")
	return strings.Trim(before+"\n"+text+"\n"+behind, "\n"), err
}

func readPrompt(in io.Reader) (string, error) {
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
