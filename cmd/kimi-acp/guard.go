package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"kimi-acp/fileop/facts"
	"kimi-acp/internal/config"
	"kimi-acp/internal/policy"
	"kimi-acp/soul/tool"
)

// guardFor makes the guards of sessions. Their rules are read once, when the first
// action is judged. No workspace counts as trusted to run its own code yet.
func guardFor(cfg config.Config) func(roots []string) *tool.Guard {
	engine := sync.OnceValues(func() (*policy.Engine, error) { return policy.New(policy.Options{}) })
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then ~ is not understood, and asked for
	}
	own := ownFiles(cfg.ShareDir, home)
	return func(roots []string) *tool.Guard {
		named := slices.Clone(roots)
		for _, root := range roots {
			if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
				named = append(named, real)
			}
		}
		return &tool.Guard{Engine: engine, Context: policy.Context{
			Roots:   named,
			Home:    home,
			Own:     own,
			Windows: runtime.GOOS == "windows",
			Look:    facts.Look,
		}}
	}
}
