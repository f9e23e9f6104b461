//go:build clients

package clienttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// browser is a headless Chromium and what drives it.
type browser struct {
	node       string // the program
	playwright string // the node_modules that hold it
	chromium   string // the program
}

// installBrowser gives a browser, and skips the test with a banner when it cannot be
// had.
func installBrowser(t *testing.T) browser {
	t.Helper()
	list := readPackages(t)
	b := browser{
		node:       filepath.Join(install(t, list, "node"), "node", "bin", "node"),
		playwright: install(t, list, "playwright-core"),
	}
	packages := unpack(t, "chromium-headless-shell", "fonts-dejavu-core", "patchelf")
	program, err := packages.patched(t, filepath.Join("usr", "lib", "chromium", "chromium-headless-shell"))
	if err != nil {
		t.Fatal(err)
	}
	libraries := packages.libraries()
	for _, l := range packages.libraries() {
		libraries = append(libraries, filepath.Join(l, "pulseaudio"))
	}
	// Some of its libraries look for theirs where they would be installed, unless the
	// environment says better. Node, which is not of the packages, must not hear of it.
	b.chromium = filepath.Join(t.TempDir(), "chromium")
	writeFile(t, b.chromium, fmt.Sprintf("#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s \"$@\"\n", strings.Join(libraries, ":"), program))
	if err := os.Chmod(b.chromium, 0o755); err != nil {
		t.Fatal(err)
	}
	return b
}

// pictures is the folder in which what editors showed is kept.
func pictures(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(shelf.Dir(t), "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// picture keeps a picture of what a terminal shows, drawn by the terminal of VS Code.
func (b browser) picture(t *testing.T, vscode, name string, shown []byte) {
	t.Helper()
	file := filepath.Join(pictures(t), name+".png")
	xterm := filepath.Join(vscode, "node_modules", "@xterm", "xterm")
	cmd := exec.CommandContext(t.Context(), b.node, filepath.Join("testdata", "terminal_picture.mjs"), b.playwright, b.chromium, xterm, file)
	cmd.Stdin = strings.NewReader(string(shown))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("draw what the terminal shows: %v\n%s", err, out)
	}
	t.Logf("kept %s", file)
}
