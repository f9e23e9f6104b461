//go:build kernels

package kerneltest

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"kimi-acp/internal/foreigntest"
)

const (
	kimiVersion = "1.49.0"
	installTime = 9 * time.Minute

	agentVersion = "f9186cd" // a commit; the Rust kernel has no releases
	agentSource  = "https://github.com/MoonshotAI/kimi-agent-rs"
	buildTime    = 60 * time.Minute
)

// shelf is where kernels are kept between runs.
var shelf = foreigntest.Shelf{Variable: "KIMI_KERNELS_DIR", Name: "kernels"}

// installKimi gives the path of kimi-cli's program, and skips the test when it cannot be
// had.
func installKimi(t *testing.T) string {
	t.Helper()
	program := foreigntest.Program{Name: "kimi-cli " + kimiVersion, Folder: "kimi-cli-" + kimiVersion, Limit: installTime}
	dir := shelf.Install(t, program, func(ctx context.Context, dir string) error {
		python, err := findPython(ctx)
		if err != nil {
			return err
		}
		if err := foreigntest.Run(ctx, dir, nil, python, "-m", "venv", dir); err != nil {
			return err
		}
		return foreigntest.Run(ctx, dir, nil, filepath.Join(dir, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "kimi-cli=="+kimiVersion)
	})
	return filepath.Join(dir, "bin", "kimi")
}

// installAgent gives the path of the Rust kernel, built with cargo, and skips the test
// when it cannot be had. KIMI_AGENT_SOURCE may name another repository to fetch it from.
// The sources stay: the program reads files of theirs.
func installAgent(t *testing.T) string {
	t.Helper()
	program := foreigntest.Program{Name: "the Rust kernel " + agentVersion, Folder: "kimi-agent-" + agentVersion, Limit: buildTime}
	dir := shelf.Install(t, program, func(ctx context.Context, dir string) error {
		cargo, err := findCargo()
		if err != nil {
			return err
		}
		source, target := filepath.Join(dir, "src"), filepath.Join(dir, "target")
		for _, argv := range [][]string{
			{"git", "clone", "--quiet", cmp.Or(os.Getenv("KIMI_AGENT_SOURCE"), agentSource), source},
			{"git", "-C", source, "checkout", "--quiet", agentVersion},
			{cargo, "install", "--quiet", "--debug", "--locked", "--root", dir, "--path", filepath.Join(source, "kimi-agent")},
		} {
			if err := foreigntest.Run(ctx, dir, []string{"CARGO_TARGET_DIR=" + target, "CARGO_PROFILE_DEV_DEBUG=0"}, argv...); err != nil {
				return err
			}
		}
		return os.RemoveAll(target)
	})
	return filepath.Join(dir, "bin", "kimi-agent")
}

// findCargo finds the build tool also where it is not in PATH.
func findCargo() (string, error) {
	if path, err := exec.LookPath("cargo"); err == nil {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return exec.LookPath(filepath.Join(home, ".cargo", "bin", "cargo"))
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
