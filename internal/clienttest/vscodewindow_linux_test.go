//go:build clients

package clienttest

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// TestVSCodeExtension runs the extension in node, with a stand-in for VS Code's API.
func TestVSCodeExtension(t *testing.T) {
	agent := acptest.Build(t)
	node := filepath.Join(install(t, readPackages(t), "node"), "node", "bin", "node")
	d := goScene(t, agent)
	extension, err := filepath.Abs("../../editors/vscode")
	if err != nil {
		t.Fatal(err)
	}
	window, err := filepath.Abs("testdata/vscode_window.js")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, window, extension, agent, d.dir)
	cmd.Dir, cmd.Env = d.dir, d.env
	var errors strings.Builder
	cmd.Stderr = &errors
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(output)
	step := func(name string) {
		t.Helper()
		if name != "activated" {
			fmt.Fprintln(input, name)
		}
		if !said.Scan() || !strings.HasPrefix(said.Text(), name) {
			t.Fatalf("%s: %q\n%s", name, said.Text(), errors.String())
		}
	}
	step("activated")
	d.await(t, "the file", nil, func(s seen) bool { return d.at(1, 1)(s) && s.Editor.Name == "a window" })
	step("select")
	t.Logf("selection seen after %v", d.await(t, "the selection", nil, func(s seen) bool { return d.selected(s) && d.at(3, 22)(s) }))
	step("type")
	t.Logf("unsaved text seen after %v", d.await(t, "the unsaved text", nil, func(s seen) bool { return d.broken(s) && d.at(3, 27)(s) }))
	step("diagnose")
	t.Logf("diagnostics seen after %v", d.await(t, "the diagnostics", nil, d.reported))
	step("fix")
	d.awaitPrompt(t, `"kind":"fix"`)
	step("select")
	d.checkPrompt(t, agent, "By an action of the editor the user asks to mend what is reported at a.go, line 3 column 23", d.now(t, "everything", nil, d.whole))
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the window: %v\n%s", err, errors.String())
	}
	d.checkGone(t)
	checkNoneLeft(t, agent)
}
