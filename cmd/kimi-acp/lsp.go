package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"kimi-acp/editors/companion"
	"kimi-acp/editors/state"
	"kimi-acp/fileop/facts"
	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
	"kimi-acp/internal/policy"
	"kimi-acp/internal/stdio"
)

// runLSP serves an editor as a language server, or stands in front of another one.
func runLSP(args []string) int {
	flags := flag.NewFlagSet("lsp", flag.ContinueOnError)
	var wrap, debug bool
	flags.BoolVar(&wrap, "wrap", false, "stand in front of the language server whose `command` follows, and only listen")
	flags.BoolVar(&debug, "debug", false, "log the details, as KIMI_DEBUG=1 does")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), `Usage: kimi-acp lsp [flags]
       kimi-acp lsp --wrap COMMAND [ARGUMENT...]

A language server that an editor starts beside its others, so that the agent knows
cursor, selection, unsaved text and diagnostics. See docs/editors.md for each
editor's settings.

`)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if wrap != (flags.NArg() > 0) {
		fmt.Fprintln(os.Stderr, "kimi-acp lsp: --wrap takes the command of a language server, and nothing else takes one")
		return 2
	}
	// From here on stdout belongs to the protocol.
	in, out, err := stdio.Claim()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kimi-acp: cannot take over stdin and stdout:", err)
		return 1
	}
	// An editor that ends takes its terminal along, which the companion must not die of
	// before it has removed its state.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cfg, _ := config.Load(os.Getenv, config.Flags{Debug: debug})
	log := obs.Open(obs.Options{Dir: cfg.LogDir(), Debug: cfg.Debug, Stderr: os.Stderr})
	defer func() {
		if err := log.Close(); err != nil {
			log.Warn("the end of the log may be missing", "error", err) // on stderr
		}
	}()
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	o := companion.Options{
		Version:   currentVersion(),
		Folder:    state.Folder(cfg.ShareDir),
		Dir:       startedIn(home),
		Sensitive: sensitive(cfg, home),
		Logger:    log.Logger,
	}
	if wrap {
		return runWrapped(ctx, flags.Args(), in, out, o)
	}
	if err := companion.Serve(ctx, in, out, o); err != nil {
		log.Info("the connection ended", "error", err)
	}
	return 0
}

// startedIn is the workspace of an editor that names none: the folder that it was
// started in, unless that holds more than a project.
func startedIn(home string) string {
	dir, err := os.Getwd()
	if err != nil || state.Inside(home, dir) || filepath.Dir(dir) == dir {
		return ""
	}
	return dir
}

// sensitive tells which files are a name only: those that the agent would ask for
// before it reads them.
func sensitive(cfg config.Config, home string) func(roots []string, path string) bool {
	engine, err := policy.New(policy.Options{Sets: []string{}})
	if err != nil {
		return func([]string, string) bool { return true }
	}
	own := ownFiles(cfg.ShareDir, home)
	return func(roots []string, path string) bool {
		named := append([]string(nil), roots...)
		for _, root := range roots {
			if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
				named = append(named, real)
			}
		}
		c := policy.Context{Roots: named, Home: home, Own: own, Windows: runtime.GOOS == "windows"}
		return engine.Read(facts.Look(path), c).Decision != policy.Allow
	}
}
