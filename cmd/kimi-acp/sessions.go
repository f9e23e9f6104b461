package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"kimi-acp/cmd/kimi-acp/sessionscmd"
	"kimi-acp/internal/config"
	"kimi-acp/internal/screen"
	"kimi-acp/soul/session"
)

// runSessions looks after the sessions on disk.
func runSessions(args []string) int {
	store, dir, ok := keptSessions("sessions")
	if !ok {
		return 1
	}
	home, _ := os.UserHomeDir() // paths are shown whole without it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return sessionscmd.Run(ctx, args, sessionscmd.Options{
		Store: store, Dir: dir, Home: home,
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Answers: term.IsTerminal(int(os.Stdin.Fd())),
		Screen:  screenOf(os.Stdout),
		Now:     time.Now,
	})
}

// keptSessions gives the sessions of the user, and the current folder. What keeps
// them from being found is told.
func keptSessions(command string) (store *session.Store, dir string, ok bool) {
	cfg, _ := config.Load(os.Getenv, config.Flags{})
	dir, err := os.Getwd()
	if err == nil && cfg.ShareDir == "" {
		err = fmt.Errorf("there is no folder with sessions; set KIMI_SHARE_DIR")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "kimi-acp %s: %v\n", command, err)
		return nil, "", false
	}
	return session.NewStore(cfg.ShareDir), dir, true
}

// screenOf makes Screens on a file.
func screenOf(f *os.File) func(columns int) *screen.Screen {
	return func(columns int) *screen.Screen { return screen.ForFile(f, columns, os.Getenv) }
}
