package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"kimi-acp/cmd/kimi-acp/wirecmd"
	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
	"kimi-acp/internal/proc"
	"kimi-acp/internal/stdio"
	"kimi-acp/internal/trust"
	"kimi-acp/soul"
	"kimi-acp/soul/hook"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/catalog"
	"kimi-acp/soul/session"
	"kimi-acp/soul/skill"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wireserver"
)

// runWire serves the Wire, or shows recordings of it.
func runWire(args []string) int {
	if !wirecmd.Serves(args) {
		return serveWire(args)
	}
	store, _, ok := keptSessions("wire")
	if !ok {
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return wirecmd.Run(ctx, args, wirecmd.Options{Store: store, Out: os.Stdout, Err: os.Stderr, Screen: screenOf(os.Stdout)})
}

// serveWire serves one session to a client of the Wire.
func serveWire(args []string) int {
	f, code, ok := parseWireFlags(args)
	if !ok {
		return code
	}
	fail := func(code int, err error) int {
		fmt.Fprintln(os.Stderr, "kimi-acp wire:", err)
		return code
	}
	cfg, warnings := config.Load(os.Getenv, f.settings)
	if cfg.ShareDir == "" {
		return fail(1, errors.New("there is no folder for sessions; set KIMI_SHARE_DIR"))
	}
	secrets := obs.NewRedactor()
	for _, secret := range cfg.Secrets() {
		secrets.Add(secret)
	}
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "kimi-acp wire:", w)
	}
	if f.mcp {
		fmt.Fprintln(os.Stderr, "kimi-acp wire: MCP servers are not supported yet; the session does without them")
	}
	own := ownAgent{}
	var err error
	if own.file, err = readAgent(f.agentFile, func(w string) { fmt.Fprintln(os.Stderr, "kimi-acp wire:", w) }); err != nil {
		return fail(2, err)
	}
	in, out, err := stdio.Claim()
	if err != nil {
		return fail(1, fmt.Errorf("take over stdin and stdout: %w", err))
	}
	log := obs.Open(obs.Options{Dir: cfg.LogDir(), Debug: cfg.Debug, Secrets: secrets})
	defer func() { _ = log.Close() }() // the session is over, and nothing of it depends on its log
	store := session.NewStore(cfg.ShareDir)
	kept, err := openWireSession(store, f)
	if err != nil {
		return fail(2, err)
	}
	if f.plan {
		if err := kept.UpdateState(func(st *session.State) { st.PlanMode = true }); err != nil {
			log.Warn("plan mode was not kept", "error", err)
		}
	}
	provider, done, err := wireModel(cfg, catalog.Options{Logger: log.Logger})
	if err != nil {
		fmt.Fprintln(os.Stderr, "kimi-acp wire:", err) // prompts say so, too
	}
	defer done()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runner := proc.NewRunner(proc.Options{Supervisor: supervisor(), Environ: proc.Scrub(os.Environ())})
	defer runner.Close()
	roots := wireRoots(f, kept)
	skills := wireSkills(cfg, f.skillsDirs, roots, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	own.at = agentPlace{roots: roots, shell: runner.Shell(), skills: func() []skill.Skill { return skills }, began: time.Now()}
	types := own.types()
	tools, mailbox := agentTools(f.agent, own, types)
	retry := retryPolicy(cfg)
	if f.maxRetries > 0 {
		retry.Attempts = f.maxRetries
	}
	maxSteps := f.maxSteps
	if maxSteps == 0 {
		maxSteps = cfg.Loop.MaxStepsPerTurn
	}
	ralph := cfg.Loop.MaxRalphIterations
	if f.maxRalph != nil {
		ralph = *f.maxRalph
	}
	hooks := newHooks(func() config.Config { return cfg }, runner, hookPlace{session: kept.ID(), roots: roots, trusted: trustedIn(cfg, roots)}, log.Logger)
	defer endHooks(hooks)
	hooks.Tell(soul.HookSessionStart, beganAs(kept), map[string]any{"source": beganAs(kept)})
	err = wireserver.Serve(ctx, in, out, wireserver.Options{
		Kept: kept, Roots: roots, Provider: provider, Runner: runner, Guard: wireGuard(cfg, roots),
		System: own.system(wireSystem(ctx, roots, runner.Shell())),
		Tools:  tools, Agents: types, Mailbox: mailbox, Skills: skills, Yolo: f.yolo, AFK: f.afk,
		MaxSteps: maxSteps, Ralph: ralph, Retry: retry, Compact: compaction(cfg), SkipReviews: cfg.NoPlanReview, Hooks: hooks.Calls, Logger: log.Logger,
	})
	if err != nil && ctx.Err() == nil {
		log.Info("the connection ended", "error", err)
	}
	return closeWireSession(store, kept, f.workDir, log)
}

// openWireSession opens the session that the flags name, or makes it.
func openWireSession(store *session.Store, f wireFlags) (*session.Session, error) {
	id := f.session
	if f.goOn {
		last, err := store.Last(f.workDir)
		if err != nil {
			return nil, fmt.Errorf("--continue: no session of %s to go on with (%w)", f.workDir, err)
		}
		id = last
	}
	if id != "" {
		kept, err := store.Open(f.workDir, id)
		if !errors.Is(err, session.ErrNotFound) {
			return kept, err
		}
	}
	return store.Create(f.workDir, id)
}

// closeWireSession keeps the session as the one to go on with, before anything is said.
// One in which nothing was said goes.
func closeWireSession(store *session.Store, kept *session.Session, workDir string, log *obs.Log) int {
	id, empty := kept.ID(), kept.Empty()
	if !empty {
		if err := store.SetLast(workDir, id); err != nil {
			log.Warn("the last session was not noted", "error", err)
		}
	}
	err := kept.Close()
	if empty {
		err = errors.Join(err, store.Delete(id))
	}
	if err != nil {
		log.Warn("the session was not closed well", "error", err)
	}
	return 0
}

// wireModel opens the model that is set, nil when there is none. Done is never nil.
func wireModel(cfg config.Config, o catalog.Options) (p llm.Provider, done func(), err error) {
	nothing := func() {}
	m, err := chosenModel(cfg, "")
	if err != nil {
		return nil, nothing, err
	}
	p, done, err = openModel(cfg, m, "", o)
	if err != nil {
		return nil, nothing, err
	}
	return kimiAbilities{p, m}, done, nil
}

// wireGuard judges as elsewhere, but without the ready rules of what needs no question:
// like kimi-cli, every command is asked for. Nobody is asked to trust the folder, since
// no client of the Wire knows such a question.
func wireGuard(cfg config.Config, roots []string) *tool.Guard {
	g := guardFor(cfg, func() config.Policy {
		said := cfg.Policy
		said.Sets = []string{}
		return said
	}, false)(roots)
	g.Gate = nil
	return g
}

// kimiAbilities is a model that takes what its settings say that it takes, and nothing
// else: kimi-cli refuses a prompt by that, before it is sent. Of a model that variables
// describe nobody has said anything.
type kimiAbilities struct {
	llm.Provider
	settings config.Model
}

// Model tells what is known of the model.
func (k kimiAbilities) Model() llm.Model {
	m := k.Provider.Model()
	if k.settings.Provider.Name != config.EnvironmentProvider {
		m.ImageInput = slices.Contains(k.settings.Capabilities, config.ImageIn)
		m.VideoInput = slices.Contains(k.settings.Capabilities, config.VideoIn)
	}
	return m
}

// Circuit is the provider's; see llm.Guarded.
func (k kimiAbilities) Circuit() *llm.Circuit {
	if g, ok := k.Provider.(llm.Guarded); ok {
		return g.Circuit()
	}
	return nil
}

// Reconnect is the provider's; see llm.Reconnecter.
func (k kimiAbilities) Reconnect() {
	if r, ok := k.Provider.(llm.Reconnecter); ok {
		r.Reconnect()
	}
}

// wireRoots are the folders of a session: those of the flags and those that were added
// to it, as far as they are there.
func wireRoots(f wireFlags, kept *session.Session) []string {
	roots := []string{f.workDir}
	for _, dir := range slices.Concat(f.addDirs, kept.State().AdditionalDirs) {
		abs, err := kimiFolder(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "kimi-acp wire:", err)
			continue
		}
		if !slices.Contains(roots, abs) {
			roots = append(roots, abs)
		}
	}
	return roots
}

// wireSystem is the system prompt of a new session.
func wireSystem(ctx context.Context, roots []string, shell string) string {
	s := soul.Surroundings{Roots: roots, OS: runtime.GOOS, Shell: shell}
	if disk, err := fileop.OpenDisk(roots...); err == nil {
		s.Instructions = contextprovider.Instructions(ctx, disk, roots)
		_ = disk.Close() // only read
	}
	return soul.SystemPrompt(s)
}

// wireSkills gives the skills of the folders that flags name, or else of those that
// count elsewhere.
func wireSkills(cfg config.Config, named, roots []string, log *slog.Logger) []skill.Skill {
	if len(named) > 0 {
		return loadSkills(named, log)
	}
	return loadSkills(skillFolders(cfg.Skills, skillHome{home: userHome(), project: roots[0], trusted: trustedIn(cfg, roots)}), log)
}

// trustedIn tells whether the folders of a session are trusted.
func trustedIn(cfg config.Config, roots []string) func() bool {
	return trust.NewGate(trustStore(cfg, userHome()), roots, false).Trusted
}

// beganAs is how a session begins, in the word that hooks read.
func beganAs(kept *session.Session) string {
	if kept.Empty() {
		return "startup"
	}
	return "resume"
}

// endHooks tells the hooks of a session's end, and waits a moment for those that run.
func endHooks(h *hook.Hooks) {
	h.Close()
	h.Leave(soul.HookSessionEnd, "exit", map[string]any{"reason": "exit"})
}

// The agents that come with kimi-cli.
const (
	agentDefault = "default"
	agentOkabe   = "okabe" // it can go back in its turn
)

// agentTools are the tools of one of those agents, or of an agent's file if there is one,
// with the mailbox of its SendDMail, if it has that. Types are those of the agents that it
// can start.
func agentTools(name string, own ownAgent, types []tool.AgentType) ([]tool.Tool, *tool.Mailbox) {
	box := &tool.Mailbox{}
	all := append(tool.Builtin(), tool.NewSendDMail(box, false))
	if len(types) > 0 {
		all = append(all, tool.NewAgent(types), tool.NewRunPlan(types))
	}
	has := own.has
	switch {
	case own.file != nil:
	case name == agentOkabe:
		has = func(name string) bool { return name != "Think" }
	default:
		has = func(name string) bool { return name != tool.SendDMailName }
	}
	all = slices.DeleteFunc(all, func(t tool.Tool) bool { return !has(t.Spec().Name) })
	if !has(tool.SendDMailName) {
		box = nil
	}
	return all, box
}
