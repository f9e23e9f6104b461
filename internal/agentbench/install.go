package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// installTime bounds the installation of the peer.
const installTime = 5 * time.Minute

// codex gives the peer. It is installed from npm into a folder beneath cache
// once, and found there from then on.
func codex(ctx context.Context, cache string) (candidate, error) {
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return candidate{}, fmt.Errorf("find a folder for the peer: %w", err)
		}
		cache = filepath.Join(user, "kimi-acp", "bench")
	}
	dir, err := filepath.Abs(filepath.Join(cache, "codex-acp-"+codexVersion))
	if err != nil {
		return candidate{}, fmt.Errorf("find a folder for the peer: %w", err)
	}
	if program, err := codexProgram(dir); err == nil {
		return codexAt(program), nil
	}
	if err := install(ctx, dir); err != nil {
		return candidate{}, err
	}
	program, err := codexProgram(dir)
	if err != nil {
		return candidate{}, err
	}
	return codexAt(program), nil
}

// codexProgram finds the peer's own program in what npm installed. The package
// that carries it is named for the platform; the one that was asked for only
// holds a script that starts it.
func codexProgram(dir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", codexPackage+"-*", "bin", "codex-acp*"))
	if err != nil || len(found) == 0 {
		return "", errors.New("npm has no codex-acp for this platform")
	}
	return found[0], nil
}

func install(ctx context.Context, dir string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("look for npm: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for the peer: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	// Without a lock file, which would keep the name of the registry that served.
	cmd := exec.CommandContext(ctx, npm, "install", "--prefix", dir, "--no-package-lock", "--no-audit", "--no-fund",
		"--no-update-notifier", "--ignore-scripts", "--loglevel=error", codexPackage+"@"+codexVersion)
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// banner says on w what nobody should overlook.
func banner(w io.Writer, title string, why error) {
	rule := strings.Repeat("!", 72)
	_, _ = fmt.Fprintf(w, "\n%s\n!! %s\n!!   %s\n%s\n\n", rule, title, strings.ReplaceAll(why.Error(), "\n", "\n!!   "), rule)
}
