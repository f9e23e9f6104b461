package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"kimi-acp/cmd/kimi-acp/doctor"
	"kimi-acp/internal/config"
	"kimi-acp/internal/proc"
	"kimi-acp/internal/screen"
	"kimi-acp/soul/llm/catalog"
	"kimi-acp/soul/llm/openai"
)

const doctorHelp = `Usage: kimi-acp doctor [flags]

Finds out what keeps the agent from working: settings, key, the model's server, the
model itself, this machine. Each fault comes with the line that mends it. The model
is asked twice, and stopped after a few words.

Flags:
`

const doctorExamples = `
Examples:
  kimi-acp doctor
  kimi-acp doctor --offline        ask no server
  kimi-acp doctor --model kimi-k2  look at another model than the default

Exit codes: 0 all is in order, 1 there are faults, 2 wrong flags.
`

// runDoctor looks at everything that the agent needs.
func runDoctor(args []string) int {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "write the report as one JSON object")
	offline := flags.Bool("offline", false, "ask no server")
	name := flags.String("model", "", "the `model` to look at: the id of a configured one, or a name that the server\nof the default model knows")
	columns := flags.Int("width", 0, "columns to lay out for (default: the terminal's, else 80)")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), doctorHelp)
		flags.PrintDefaults()
		fmt.Fprint(flags.Output(), doctorExamples)
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "kimi-acp doctor: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runner := proc.NewRunner(proc.Options{Supervisor: supervisor(), Environ: proc.Scrub(os.Environ())})
	defer runner.Close()

	setup, done := doctorSetup(*name, *offline)
	defer done()
	setup.Runner = runner
	report := doctor.Examine(ctx, setup)
	if *asJSON {
		if err := report.WriteJSON(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "kimi-acp doctor:", err)
			return 1
		}
	} else {
		report.Show(screen.ForFile(os.Stdout, *columns, os.Getenv))
	}
	switch {
	case ctx.Err() != nil:
		return 130
	case report.Faults() > 0:
		return 1
	}
	return 0
}

// doctorSetup says what is set up, and makes what the doctor tries out. The caller
// calls done at the end.
func doctorSetup(name string, offline bool) (s doctor.Setup, done func()) {
	cfg, warnings := config.Load(os.Getenv, config.Flags{})
	s = doctor.Setup{
		Version:  fmt.Sprintf("kimi-acp %s, %s/%s, %s", currentVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version()),
		Self:     "kimi-acp",
		Sources:  doctorSources(cfg),
		Offline:  offline,
		ShareDir: cfg.ShareDir,
		LogFile:  filepath.Join(cfg.LogDir(), "kimi-acp.log"),
		LookPath: exec.LookPath,
	}
	if self, err := os.Executable(); err == nil {
		s.Self = self
	}
	s.Supervisor = func(ctx context.Context) error { return tryChild(ctx, s.Self) }
	for _, w := range warnings {
		s.Warnings = append(s.Warnings, doctorWarning(w))
	}
	done, err := doctorTries(&s, cfg, name)
	if err != nil {
		s.Missing, done = err.Error(), func() {}
	}
	return s, done
}

// doctorTries makes the model to try out, reached as the agent reaches it.
func doctorTries(s *doctor.Setup, cfg config.Config, name string) (done func(), err error) {
	m, err := chosenModel(cfg, name)
	if err != nil {
		return nil, err
	}
	s.Model = doctorModel(m, name)
	transport, err := openai.NewTransport(openai.TransportOptions{CAFiles: certificateFiles()})
	if err != nil {
		return nil, err
	}
	clock := &doctor.Clock{Next: transport}
	p, done, err := openModel(cfg, m, "", catalog.Options{HTTPClient: &http.Client{Transport: clock}})
	if err != nil {
		return nil, err
	}
	if server, ok := p.(doctor.Server); ok {
		s.Server, s.Clock = server, clock
	}
	return done, nil
}

// doctorSources names the files that settings are read from and that are there.
func doctorSources(cfg config.Config) string {
	var paths, found []string
	if dir := os.Getenv("KIMI_CODE_HOME"); dir != "" {
		paths = append(paths, filepath.Join(dir, "config.toml"))
	} else if home, err := os.UserHomeDir(); err == nil {
		paths = append(paths, filepath.Join(home, ".kimi-code", "config.toml"))
	}
	if cfg.ShareDir != "" {
		for _, name := range []string{"config.toml", "config.json", "acp.toml"} {
			paths = append(paths, filepath.Join(cfg.ShareDir, name))
		}
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return strings.Join(append(found, "the environment"), ", ")
}

func doctorWarning(w config.Warning) doctor.Warning {
	where := w.Name
	if w.File != "" {
		where = w.File
		if w.Line > 0 {
			where += fmt.Sprintf(":%d", w.Line)
		}
	}
	return doctor.Warning{Where: where, What: w.What}
}

func doctorModel(m config.Model, name string) doctor.Model {
	out := doctor.Model{
		Name: m.Name, ContextSize: m.ContextSize, Images: slices.Contains(m.Capabilities, config.ImageIn),
		Local: local(m), HasKey: m.Provider.APIKey != "",
	}
	if out.Name == "" {
		out.Name = m.ID
	}
	if u, err := url.Parse(m.Provider.BaseURL); err == nil {
		out.Address = u.Redacted()
	}
	family := "KIMI"
	out.NameSetting = "KIMI_MODEL_NAME"
	if m.Provider.Type == config.TypeOpenAI {
		family, out.NameSetting = "OPENAI", "OPENAI_MODEL"
	}
	out.KeySetting, out.AddressSetting = family+"_API_KEY", family+"_BASE_URL"
	switch {
	case m.Provider.Name != config.EnvironmentProvider:
		table := "[providers." + m.Provider.Name + "]"
		out.Why = "from " + table + " of the settings file"
		out.NameSetting = "default_model in the settings file"
		out.KeySetting, out.AddressSetting = "api_key in "+table, "base_url in "+table
	default:
		out.Why = "from " + out.NameSetting
	}
	if name != "" {
		out.Why = "from --model"
	}
	return out
}

// tryChild starts this program as the child that ends commands, and lets go of it at
// once, whereupon it must end.
func tryChild(ctx context.Context, self string) error {
	child := exec.CommandContext(ctx, self, superviseCommand)
	child.Stdin = strings.NewReader("")
	if out, err := child.CombinedOutput(); err != nil {
		return fmt.Errorf("%w %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
