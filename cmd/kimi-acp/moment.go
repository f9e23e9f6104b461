package main

import (
	"context"
	"log/slog"
	"os"
	"slices"

	"kimi-acp/acp"
	"kimi-acp/contextprovider"
	"kimi-acp/contextprovider/git"
	"kimi-acp/editors/state"
	"kimi-acp/fileop"
	"kimi-acp/internal/config"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/llm"
)

// allWatches bounds the folders that all sessions watch together.
const allWatches = 12_000

// momentOf makes what is told to the model of a session's surroundings. settings gives
// the settings now.
func momentOf(log *slog.Logger, runner *proc.Runner, settings func() config.Config) func(acp.MomentSpec) (*contextprovider.Moment, error) {
	watches := git.NewWatches(allWatches)
	return func(s acp.MomentSpec) (*contextprovider.Moment, error) {
		return contextprovider.NewMoment(momentOptions(s, settings(), watches, runner, log))
	}
}

// momentOptions says what is told, and by whom it is known.
func momentOptions(s acp.MomentSpec, cfg config.Config, watches *git.Watches, runner *proc.Runner, log *slog.Logger) contextprovider.MomentOptions {
	use := func(part string) string { return cfg.Context.Parts[part] }
	o := contextprovider.MomentOptions{
		SessionID: s.SessionID,
		Roots:     s.Roots,
		Tokens:    llm.EstimateText,
		Readable:  s.Readable,
		Windows:   s.Files,
		Budget:    cfg.Context.Budget,
		Logger:    log,
	}
	for _, part := range contextprovider.Sections() {
		switch use(part) {
		case config.ContextOn:
			o.Always = append(o.Always, part)
		case config.ContextOff:
			o.Off = append(o.Off, part)
		}
	}
	if cfg.ShareDir != "" && use("editor") != config.ContextOff {
		companions := contextprovider.NewCompanions(state.Folder(cfg.ShareDir), s.Roots)
		o.Companion, o.Requests = companions.State, companions.Requests
	}
	add := func(part string, p contextprovider.Provider, priority, share int) {
		if use(part) != config.ContextOff {
			o.Providers = append(o.Providers, contextprovider.Registration{Provider: p, Priority: priority, Share: share})
		}
	}
	add("files", contextprovider.Files{Windows: s.Files, Readable: s.Readable, Disk: s.Disk.Read}, 90, 4)
	add("git", git.New(git.Options{Trusted: func(string) bool { return s.Trusted() }, Read: s.Disk.Read, Folders: foldersOf(s.Files), Watches: watches, Logger: log}), 50, 3)
	add("tree", contextprovider.Tree{Walker: s.Files, Always: slices.Contains(o.Always, "tree")}, 40, 1)
	for _, p := range s.Code {
		add(p.Name(), p, 60, 2)
	}
	for _, p := range cfg.Context.Programs {
		add("notes", contextprovider.Program{
			Label: p.Name, Args: p.Command, Environ: proc.Scrub(os.Environ()), Run: runner.Output, Trusted: s.Trusted, Home: homeOrRoot(),
		}, 10, 1)
	}
	return o
}

// unsavedOf knows what companions of editors tell of unsaved changes.
func unsavedOf(cfg config.Config) func(roots []string) fileop.Unsaved {
	if cfg.ShareDir == "" {
		return nil
	}
	return func(roots []string) fileop.Unsaved {
		return contextprovider.NewCompanions(state.Folder(cfg.ShareDir), roots)
	}
}

// maxWalked is how many files and folders are looked at to find the folders of a work
// tree.
const maxWalked = 400_000

// foldersOf lists the folders of a work tree that are not ignored.
func foldersOf(files *fileop.Operator) func(ctx context.Context, top string, n int) ([]string, bool) {
	return func(ctx context.Context, top string, n int) ([]string, bool) {
		all := []string{top}
		for e, err := range files.Walk(ctx, top, fileop.WalkOptions{MaxEntries: maxWalked}) {
			if err != nil {
				return nil, false
			}
			if !e.IsDir() {
				continue
			}
			if len(all) >= n {
				return nil, false
			}
			all = append(all, e.Path)
		}
		return all, ctx.Err() == nil
	}
}
