package main

import (
	"log/slog"
	"os"

	"kimi-acp/acp"
	"kimi-acp/internal/config"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/hook"
	"kimi-acp/soul/wire"
)

// hooksOf makes the hooks of sessions. Settings gives the settings now.
func hooksOf(log *slog.Logger, runner hook.Runner, settings func() config.Config) func(acp.HookSpec) acp.Hooks {
	return func(s acp.HookSpec) acp.Hooks {
		return newHooks(settings, runner, hookPlace{session: s.SessionID, roots: s.Roots, trusted: s.Trusted, send: s.Send}, log)
	}
}

// hookPlace is where hooks are for.
type hookPlace struct {
	session string
	roots   []string
	trusted func() bool
	send    func(wire.Event) // nil: nobody is told
}

func newHooks(settings func() config.Config, runner hook.Runner, at hookPlace, log *slog.Logger) *hook.Hooks {
	return hook.New(hook.Options{
		Hooks: func() []hook.Hook { return hooksIn(settings()) }, Runner: runner, SessionID: at.session, Roots: at.roots,
		Home: homeOrRoot(), Environ: proc.Scrub(os.Environ()), Trusted: at.trusted, Send: at.send, Logger: log,
	})
}

// hooksIn are the hooks of settings.
func hooksIn(cfg config.Config) []hook.Hook {
	var all []hook.Hook
	for _, h := range cfg.Hooks {
		all = append(all, hook.Hook{Event: h.Event, Line: h.Command, Matcher: h.Matcher, Timeout: h.Timeout, FailClosed: h.FailClosed})
	}
	return all
}
