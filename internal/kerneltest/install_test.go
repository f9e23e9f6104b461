//go:build kernels

package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	kimiVersion = "1.49.0"
	installTime = 9 * time.Minute
)

// installKimi gives the path of kimi-cli's program, and skips the test with a banner
// when it cannot be had. What was installed once is used again.
func installKimi(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("KIMI_KERNELS_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "kimi-acp", "kernels")
	}
	dir = filepath.Join(dir, "kimi-cli-"+kimiVersion)
	program := filepath.Join(dir, "bin", "kimi")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := installInto(t.Context(), dir); err != nil {
		rule := strings.Repeat("!", 78)
		fmt.Fprintf(os.Stderr, "\n%s\n!! NOT TESTED: %s\n!! kimi-cli %s could not be installed:\n!!   %v\n%s\n\n", rule, t.Name(), kimiVersion, err, rule)
		t.Skipf("kimi-cli %s could not be installed: %v", kimiVersion, err)
	}
	return program
}

// installInto makes a virtual environment, which cannot be moved, and takes it away
// again when that fails.
func installInto(ctx context.Context, dir string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	python, err := findPython(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	for _, args := range [][]string{
		{python, "-m", "venv", "--clear", dir},
		{filepath.Join(dir, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "kimi-cli==" + kimiVersion},
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// findPython finds a Python that kimi-cli works with; with some releases of 3.12 it
// does not even start.
func findPython(ctx context.Context) (string, error) {
	candidates := []string{os.Getenv("KIMI_KERNEL_PYTHON"), "python3.13", "python3.14", "python3"}
	if home, err := os.UserHomeDir(); err == nil {
		found, _ := filepath.Glob(filepath.Join(home, ".pyenv", "versions", "3.1[3-9].*", "bin", "python3")) // the pattern is right
		candidates = append(candidates, found...)
	}
	for _, name := range candidates {
		if name == "" {
			continue
		}
		if exec.CommandContext(ctx, name, "-c", "import sys, venv; sys.exit(sys.version_info < (3, 13))").Run() == nil {
			return name, nil
		}
	}
	return "", errors.New("there is no Python 3.13 or newer; KIMI_KERNEL_PYTHON may name one")
}
