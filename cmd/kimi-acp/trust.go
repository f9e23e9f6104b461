package main

import (
	"os"
	"path/filepath"

	"kimi-acp/cmd/kimi-acp/trustcmd"
	"kimi-acp/internal/config"
	"kimi-acp/internal/trust"
)

// runTrust shows and changes which folders are trusted.
func runTrust(args []string) int {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	cfg, _ := config.Load(os.Getenv, config.Flags{})
	return trustcmd.Run(args, trustcmd.Options{Out: os.Stdout, Err: os.Stderr, Store: trustStore(cfg, home)})
}

// trustStore is where it is kept which folders are trusted.
func trustStore(cfg config.Config, home string) *trust.Store {
	return trust.NewStore(keptDir(cfg), home)
}

// keptDir is the folder of what the user has granted, empty if nothing is kept.
func keptDir(cfg config.Config) string {
	if cfg.ShareDir == "" {
		return ""
	}
	return filepath.Join(cfg.ShareDir, "acp")
}
