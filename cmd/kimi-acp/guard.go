package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"kimi-acp/fileop"
	"kimi-acp/fileop/facts"
	"kimi-acp/internal/config"
	"kimi-acp/internal/permit"
	"kimi-acp/internal/policy"
	"kimi-acp/internal/trust"
	"kimi-acp/soul/tool"
)

// guardFor makes the guards of sessions. Said gives what the settings say now of what
// may be done; nil: nothing. Trusting says that the user trusts the workspace for this
// run.
func guardFor(cfg config.Config, said func() config.Policy, trusting bool) func(roots []string) *tool.Guard {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then ~ is not understood, and asked for
	}
	own := ownFiles(cfg.ShareDir, home)
	trusted := trustStore(cfg, home)
	return func(roots []string) *tool.Guard {
		rules := rulesOf(cfg, said, roots)
		return &tool.Guard{
			Engine: rules.Engine,
			Rules:  rules,
			Gate:   trust.NewGate(trusted, roots, trusting),
			Context: policy.Context{
				Roots:   withRealNames(roots),
				Home:    home,
				Own:     own,
				Windows: runtime.GOOS == "windows",
				Look:    facts.Look,
			},
		}
	}
}

// rulesOf are the rules that hold in a workspace.
func rulesOf(cfg config.Config, said func() config.Policy, roots []string) *permit.Rules {
	return permit.New(permit.Sources{
		User:       said,
		Project:    permit.ProjectOf(keptDir(cfg), roots[0]),
		Repository: func() ([]permit.File, error) { return repositoryRules(roots) },
	})
}

// policyOf gives what settings say that are read once.
func policyOf(cfg config.Config) func() config.Policy {
	return func() config.Policy { return cfg.Policy }
}

// maxRepositoryRules bounds a repository's file of rules, in bytes.
const maxRepositoryRules = 64 << 10

// repositoryRules reads the rules that came with each root. They can only tighten, so
// the workspace need not be trusted for that.
func repositoryRules(roots []string) (files []permit.File, err error) {
	for _, root := range roots {
		path := filepath.Join(root, filepath.FromSlash(permit.RepositoryFile))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		text, err := readBelow(root, path)
		switch {
		case err != nil:
			return nil, err
		case len(text) > maxRepositoryRules:
			return nil, fmt.Errorf("%s has more than %d KiB", path, maxRepositoryRules>>10)
		}
		files = append(files, permit.File{Path: path, Text: string(text)})
	}
	return files, nil
}

// readBelow reads a file of a workspace, which must not be behind a link that leads out
// of it.
func readBelow(root, path string) ([]byte, error) {
	disk, err := fileop.OpenDisk(root)
	if err != nil {
		return nil, err
	}
	text, err := disk.Read(context.Background(), path)
	return text, errors.Join(err, disk.Close())
}

// withRealNames gives folders under each name that they have.
func withRealNames(roots []string) []string {
	named := slices.Clone(roots)
	for _, root := range roots {
		if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
			named = append(named, real)
		}
	}
	return named
}
