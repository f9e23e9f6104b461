package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"kimi-acp/acp"
	"kimi-acp/contextprovider"
	"kimi-acp/internal/config"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/obs"
	"kimi-acp/internal/proc"
	"kimi-acp/internal/stdio"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/subagent"
)

// runACP serves an editor over stdin and stdout.
func runACP(args []string) int {
	flags := flag.NewFlagSet("acp", flag.ContinueOnError)
	var settings config.Flags
	var agentFile string
	flags.StringVar(&settings.Model, "model", "", "the `ID` of the model that sessions begin with")
	flags.StringVar(&settings.ConfigFile, "config", "", "read this `FILE` instead of the usual ones")
	flags.StringVar(&settings.Kernel, "kernel", "", "run sessions in this `KERNEL`: builtin, python, rust, auto, or a command line")
	flags.StringVar(&agentFile, "agent-file", "", "have sessions be the agent of this `FILE` of kimi-cli's")
	flags.BoolVar(&settings.Yolo, "yolo", false, "begin sessions in the mode that asks nothing")
	flags.BoolVar(&settings.Debug, "debug", false, "log the details, as KIMI_DEBUG=1 does")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Usage: kimi-acp [acp] [flags]\n\nServes an editor: speaks the Agent Client Protocol over stdin and stdout until\nstdin ends. See the README for each editor's settings.\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "kimi-acp acp: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	named := ""
	if agentFile != "" {
		abs, err := filepath.Abs(agentFile)
		if err == nil {
			_, err = readAgent(abs, func(string) {}) // said where a session has it
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "kimi-acp acp:", err)
			return 2
		}
		named = abs
	}
	// From here on stdout belongs to the protocol.
	in, out, err := stdio.Claim()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kimi-acp: cannot take over stdin and stdout:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// What the settings feed is made from the first settings.
	var m *models
	made := make(chan struct{})
	source := config.Watch(ctx, os.Getenv, settings, func(cfg config.Config, warnings []config.Warning) {
		<-made
		m.use(cfg, warnings)
	})
	defer source.Close()
	cfg, warnings := source.Current()
	secrets := obs.NewRedactor()
	log := obs.Open(obs.Options{Dir: cfg.LogDir(), Debug: cfg.Debug, Stderr: os.Stderr, Secrets: secrets})
	defer func() {
		if err := log.Close(); err != nil {
			log.Warn("the end of the log may be missing", "error", err) // on stderr
		}
	}()
	m = newModels(log, secrets)
	defer m.close()
	m.use(cfg, warnings)
	close(made)

	watching := supervisor()
	sessions := sessionsIn(cfg)
	now := func() config.Config {
		cfg, _ := m.now()
		return cfg
	}
	kernels := kernels{config: settings.ConfigFile, model: settings.Model, sessions: sessions, settings: now, supervisor: watching, log: log.Logger}
	runner := proc.NewRunner(proc.Options{Supervisor: watching, Environ: proc.Scrub(os.Environ())})
	defer runner.Close()
	err = acp.Serve(ctx, in, out, acp.Options{
		Version:  currentVersion(),
		Settings: m.settings,
		Catalog:  m,
		Kernels:  func() acp.Kernels { return kernels.offered(now().Kernel) },
		Sessions: sessions,
		Agents:   agentsOf(named, now, runner.Shell(), log.Logger),
		Runner:   runner,
		Shell:    runner.Shell(),
		Guard:    guardFor(cfg, m.policy, false),
		Moment:   momentOf(log.Logger, runner, now),
		Unsaved:  unsavedOf(cfg),
		Code:     codeOf(log.Logger, runner, now),
		Hooks:    hooksOf(log.Logger, runner, now),
		Events:   eventLog(log),
		Watch:    wireTrace(cfg, log),
		Logger:   log.Logger,
		NewSoul: func(s acp.SoulSpec) (soul.Soul, error) {
			cfg, _ := m.now()
			system := func() string { return systemPrompt(s, runner.Shell()) }
			return kernels.soul(chosenKernel(cfg.Kernel, s.Kernel), s, system, func() *soul.Builtin {
				if len(s.MCP) > 0 {
					log.Warn("the built-in kernel does not support MCP servers yet; the session does without them", "servers", len(s.MCP))
				}
				m.warm()
				return builtinSoul(s, cfg, system, m, log.Logger)
			})
		},
	}, jsonrpc.Options{Logger: log.Logger})
	if err != nil && ctx.Err() == nil {
		log.Info("the connection ended", "error", err)
	}
	return 0
}

// builtinSoul is the soul of a session that runs in this program.
func builtinSoul(s acp.SoulSpec, cfg config.Config, system func() string, m *models, log *slog.Logger) *soul.Builtin {
	models := m.roles()
	var made *soul.Builtin
	s.Executor.UseAgents(subagent.New(subagent.Options{
		Wire:     s.Wire,
		Executor: s.Executor,
		Types:    s.Agents.Types,
		Model:    func() llm.Provider { return made.Model() },
		Choose:   func(id string) (llm.Provider, error) { return m.Provider(id, "") },
		Usual:    models.agents,
		Fallback: models.fallback,
		System:   system,
		WorkDir:  s.Roots[0],
		Dir:      agentsBeside(s.OwnDir),
		Tasks:    s.Tasks,
		Hooks:    s.Hooks,
		Small:    models.small,
		Retry:    retryPolicy(cfg),
		Compact:  compaction(cfg),
		Logger:   log,

		SkipReviews: cfg.NoPlanReview,
	}))
	made = soul.New(soul.Config{
		SessionID:   s.SessionID,
		Provider:    s.Provider,
		Fallback:    models.fallback,
		Wire:        s.Wire,
		Tools:       s.Executor.Specs(),
		System:      system(),
		Renew:       system,
		Controls:    s.Controls,
		Edits:       s.Edits,
		Tasks:       s.Tasks,
		Moment:      s.Moment,
		Permissions: s.Permissions,
		MaxSteps:    cfg.Loop.MaxStepsPerTurn,
		Ralph:       cfg.Loop.MaxRalphIterations,
		Small:       models.small,
		Goal:        soul.GoalBudget{Rounds: cfg.Goal.Rounds, Tokens: cfg.Goal.Tokens},
		Retry:       retryPolicy(cfg),
		Compact:     compaction(cfg),
		Logger:      log,
		Session:     s.Session,
		Files:       s.Files,
		Hooks:       s.Hooks,
		Skills:      skillsOf(cfg.Skills, skillHome{home: userHome(), project: s.Roots[0], trusted: s.Trusted}, log),
		Mailbox:     s.Mailbox,
	})
	return made
}

// agentsBeside is where a session's agents are kept: in a folder beside it, nowhere while
// it is kept nowhere.
func agentsBeside(own func() string) func() string {
	return func() string {
		if dir := own(); dir != "" {
			return filepath.Join(dir, "agents")
		}
		return ""
	}
}

// systemPrompt is what the built-in soul of a session tells its model first.
func systemPrompt(s acp.SoulSpec, shell string) string {
	usual := soul.SystemPrompt(soul.Surroundings{
		Roots:        s.Roots,
		OS:           runtime.GOOS,
		Shell:        shell,
		Instructions: contextprovider.Instructions(context.Background(), s.Disk, s.Roots),
	})
	if s.Agents.System != nil {
		return s.Agents.System(usual)
	}
	return usual
}

// userHome is the user's folder, "" when it is not known.
func userHome() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// homeOrRoot is where programs of the user's run that are not to run in the workspace.
func homeOrRoot() string {
	if home := userHome(); home != "" {
		return home
	}
	return string(filepath.Separator)
}

// sessionsIn gives the sessions of the share dir; nil where there is none, and sessions
// end with the connection.
func sessionsIn(cfg config.Config) *session.Store {
	if cfg.ShareDir == "" {
		return nil
	}
	return session.NewStore(cfg.ShareDir)
}

func retryPolicy(cfg config.Config) soul.RetryPolicy {
	p := soul.DefaultRetry
	p.Attempts = cfg.Loop.MaxRetriesPerStep
	return p
}

// compaction has the settings' numbers.
func compaction(cfg config.Config) soul.Compaction {
	return soul.Compaction{Ratio: cfg.Loop.CompactionTriggerRatio, Reserve: cfg.Loop.ReservedContextSize}
}

// supervisor is the child of this program that ends commands when it is gone.
func supervisor() *proc.Supervisor {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return proc.NewSupervisor(self, superviseCommand)
}

// superviseCommand is the hidden subcommand of the supervisor's child.
const superviseCommand = "supervise"

func runSupervise([]string) int { return proc.SuperviseMain(os.Stdin) }
