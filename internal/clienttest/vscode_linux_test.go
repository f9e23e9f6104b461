//go:build clients

package clienttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/foreigntest"
)

// codeServer is where VS Code lies in the package code-server. Of the package nothing
// but that is used: it is VS Code's own server that the test starts.
const codeServer = "node_modules/code-server/lib/vscode"

// installVSCode gives the folder of VS Code, and skips the test with a banner when it
// cannot be had.
func installVSCode(t *testing.T) string {
	t.Helper()
	modules := install(t, readPackages(t), "code-server", codeServer, codeServer+"/extensions")
	return filepath.Join(filepath.Dir(modules), codeServer)
}

// TestVSCode runs the extension in VS Code, at whose window a browser sits. What is
// broken is reported by VS Code's own TypeScript.
func TestVSCode(t *testing.T) {
	agent := acptest.Build(t)
	b := installBrowser(t)
	vscode := installVSCode(t)
	d := newScene(t, agent, scene{
		file: "a.ts", language: "typescript",
		saved: "export {}\n\nlet f = ()=> { return 1 }\n", unsaved: "export {}\n\nlet f = ()=> { return oops }\n",
		problem: "Cannot find name 'oops'.",
	}, nil)
	v := d.openVSCode(t, b, vscode, agent)

	v.do("open a.ts")
	t.Logf("the file seen after %v", d.await(t, "the file", nil, d.at(1, 1)))
	v.do("goto 3:23")
	t.Logf("cursor seen after %v", d.await(t, "the cursor", nil, d.at(3, 23)))
	v.do("keys Delete")
	v.do("type oops")
	t.Logf("unsaved text seen after %v", d.await(t, "the unsaved text", nil, func(s seen) bool { return d.broken(s) && d.at(3, 27)(s) }))
	t.Logf("diagnostics seen after %v", d.await(t, "the diagnostics", nil, d.reported))
	v.do("keys ArrowLeft")
	d.await(t, "the cursor on what is broken", nil, d.at(3, 26))
	v.do("actions Fix with Kimi")
	v.do("picture " + filepath.Join(pictures(t), "vscode-actions.png"))
	v.do("click Fix with Kimi")
	d.awaitPrompt(t, `"kind":"fix"`)
	v.do("goto 3:16")
	for range "return" {
		v.do("keys Shift+ArrowRight")
	}
	t.Logf("selection seen after %v", d.await(t, "the selection", nil, d.selected))
	v.do("picture " + filepath.Join(pictures(t), "vscode.png"))
	d.checkPrompt(t, agent, "By an action of the editor the user asks to mend what is reported at a.ts, line 3 column 26", d.now(t, "everything", nil, d.whole))
	v.leave()
	d.untouched(t)
	d.checkGone(t)
	checkNoneLeft(t, agent)
}

// vscode is a window of VS Code.
type vscode struct {
	t     *testing.T
	cmd   *exec.Cmd
	input io.WriteCloser
	said  *bufio.Scanner
	log   string // the file that holds what else is said
}

// openVSCode opens the scene's folder with our extension installed.
func (d scene) openVSCode(t *testing.T, b browser, program, agent string) *vscode {
	t.Helper()
	data := filepath.Join(filepath.Dir(d.dir), "vscode")
	if err := os.CopyFS(filepath.Join(data, "extensions", "kimi-acp.kimi-acp-0.1.0"), os.DirFS("../../editors/vscode")); err != nil {
		t.Fatal(err)
	}
	for folder, settings := range map[string]map[string]any{
		"Machine": {"kimiAcp.command": agent},
		"User": {
			"files.autoSave": "off", "editor.quickSuggestions": false, "editor.minimap.enabled": false, "editor.scrollBeyondLastLine": false,
			"workbench.startupEditor": "none", "chat.disableAIFeatures": true, "workbench.secondarySideBar.defaultVisibility": "hidden",
		},
	} {
		text, err := json.Marshal(settings)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(data, "data", folder), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(data, "data", folder, "settings.json"), string(text))
	}
	log, err := os.Create(filepath.Join(data, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	v := &vscode{t: t, log: log.Name(), cmd: exec.Command(b.node, filepath.Join("testdata", "vscode_browser.mjs"),
		b.playwright, b.chromium, program, data, d.dir)}
	v.cmd.Env = append(d.env, "EXTENSIONS_GALLERY={}")
	v.cmd.Stderr = log
	v.cmd.WaitDelay = leaveTime
	input, err := v.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.input = input
	output, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The window ends with its input, and takes the server and the browser along.
	t.Cleanup(func() {
		if t.Failed() {
			fmt.Fprintln(input, "picture "+filepath.Join(pictures(t), "vscode-failed.png"))
			v.said.Scan()
		}
		input.Close()
		v.cmd.Wait()
	})
	v.said = bufio.NewScanner(output)
	v.heard("open VS Code")
	return v
}

// do has something done at the window, see testdata/vscode_browser.mjs.
func (v *vscode) do(what string) {
	v.t.Helper()
	fmt.Fprintln(v.input, what)
	v.heard(what)
}

func (v *vscode) heard(what string) {
	v.t.Helper()
	if !v.said.Scan() || v.said.Text() != "ok" {
		v.t.Fatalf("%s: %s\n%s", what, v.said.Text(), v.logged())
	}
}

// leave closes the window.
func (v *vscode) leave() {
	v.t.Helper()
	v.input.Close()
	if err := v.cmd.Wait(); err != nil {
		v.t.Errorf("VS Code: %v\n%s", err, v.logged())
	}
}

func (v *vscode) logged() string {
	text, err := os.ReadFile(v.log)
	if err != nil {
		return err.Error()
	}
	return foreigntest.Tail(string(text), 4096)
}
