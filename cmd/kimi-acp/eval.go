package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"kimi-acp/cmd/kimi-acp/eval"
	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
	"kimi-acp/internal/proc"
	"kimi-acp/internal/screen"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/catalog"
	"kimi-acp/soul/llm/scripted"
	"kimi-acp/soul/tool"
)

const evalHelp = `Usage: kimi-acp eval [flags]

Has a model do small tasks, each in a scratch folder, and checks what came of them.
Nothing is asked for: the model's commands run with your rights, with a scratch
folder as home. Tokens are paid for as for any use of the model.

The model ` + config.TypeScripted + ` plays each task's own script, which does it right:
it tries out everything but a model, without a key and without a network.

Flags:
`

const evalExamples = `
Examples:
  kimi-acp eval
  kimi-acp eval --model kimi-k2-turbo-preview --filter '^edit-'
  kimi-acp eval --model ` + config.TypeScripted + `

Exit codes: 0 all passed, 1 some did not, 2 wrong flags or no model, 130 cancelled.
`

// runEval has a model do the built-in tasks.
func runEval(args []string) int {
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	name := flags.String("model", "", "the `model` to try: the id of a configured one, or a name that the server of\nthe default model knows")
	filter := flags.String("filter", "", "only the tasks whose names match this regular `expression`")
	asJSON := flags.Bool("json", false, "write one JSON object a line: a task's score each, and the sums at the end")
	columns := flags.Int("width", 0, "columns to lay out for (default: the terminal's, else 80)")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), evalHelp)
		flags.PrintDefaults()
		fmt.Fprint(flags.Output(), evalExamples)
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	fail := func(code int, err error) int {
		fmt.Fprintln(os.Stderr, "kimi-acp eval:", err)
		return code
	}
	if flags.NArg() > 0 {
		return fail(2, fmt.Errorf("unexpected argument %q", flags.Arg(0)))
	}
	tasks, err := pickTasks(*filter)
	if err != nil {
		return fail(2, err)
	}
	cfg, _ := config.Load(os.Getenv, config.Flags{})
	secrets := obs.NewRedactor()
	for _, secret := range cfg.Secrets() {
		secrets.Add(secret)
	}
	log := obs.Open(obs.Options{Dir: cfg.LogDir(), Debug: cfg.Debug, Secrets: secrets})
	defer func() { _ = log.Close() }() // the scores do not depend on the log
	provider, done, err := evalProvider(cfg, *name, log.Logger)
	if err != nil {
		return fail(2, err)
	}
	defer done()

	defer outliveReaders()() // the scratch folder is to be removed all the same
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runner := proc.NewRunner(proc.Options{Supervisor: supervisor(), Environ: proc.Scrub(os.Environ())})
	defer runner.Close()
	guard := guardFor(cfg, nil, true) // the folders are our own
	o := eval.Options{
		Provider: provider, Runner: runner, Shell: runner.Shell(), Retry: retryPolicy(cfg), Logger: log.Logger,
		Guard: func(dir string) *tool.Guard { return guard([]string{dir}) },
	}
	passed, err := eval.Run(ctx, tasks, o, evalOutput(*asJSON, *columns, tasks))
	switch {
	case ctx.Err() != nil:
		return fail(130, errors.New("cancelled"))
	case err != nil:
		return fail(1, err)
	case passed < len(tasks):
		return 1
	}
	return 0
}

func pickTasks(filter string) ([]eval.Task, error) {
	re, err := regexp.Compile(filter)
	if err != nil {
		return nil, fmt.Errorf("--filter: %w", err)
	}
	all, err := eval.Tasks()
	if err != nil {
		return nil, err
	}
	var tasks []eval.Task
	for _, t := range all {
		if re.MatchString(t.Name) {
			tasks = append(tasks, t)
		}
	}
	if len(tasks) == 0 {
		return nil, fmt.Errorf("--filter: none of the %d tasks matches", len(all))
	}
	return tasks, nil
}

// evalProvider makes a model for each task: the scripted one begins each task's
// script anew, any other is the same for all. The caller calls done at the end.
func evalProvider(cfg config.Config, name string, log *slog.Logger) (f func(eval.Task) (llm.Provider, error), done func(), err error) {
	if name == "" {
		name = cfg.DefaultModel
	}
	if name == config.TypeScripted {
		return func(t eval.Task) (llm.Provider, error) {
			return scripted.New(t.Script, llm.Model{Name: config.TypeScripted, ContextSize: config.DefaultContextSize}), nil
		}, func() {}, nil
	}
	m, err := chosenModel(cfg, name)
	if err != nil {
		return nil, nil, err
	}
	p, done, err := openModel(cfg, m, "", catalog.Options{Logger: log})
	return func(eval.Task) (llm.Provider, error) { return p, nil }, done, err
}

func evalOutput(asJSON bool, columns int, tasks []eval.Task) eval.Output {
	if asJSON {
		return eval.JSON(os.Stdout)
	}
	return eval.NewTable(screen.ForFile(os.Stdout, columns, os.Getenv), tasks)
}
