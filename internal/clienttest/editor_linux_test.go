//go:build clients

package clienttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// editorTime bounds what is waited for in an editor; the first diagnostics of gopls
// are the slowest.
const editorTime = 30 * time.Second

// seen is what the agent would read about an editor.
type seen struct {
	Editor struct{ Name string }
	Active *struct {
		Path, Language string
		Cursor         *spot
		Selection      *struct {
			Start, End spot
			Text       string
		}
	}
	Documents []struct {
		Path  string
		Dirty bool
		Text  *string
	}
	Diagnostics []struct {
		Path  string
		Items []struct {
			Source, Severity, Message string
			Range                     struct{ Start, End spot }
		}
	}
}

type spot struct{ Line, Column, Byte int }

const brokenGo = "package x\n\nfunc f() int { return oops }\n"

func editorDesk(t *testing.T) desk {
	d := newDesk(t, map[string]string{
		"go.mod": "module example.org/x\n\ngo 1.24\n",
		"a.go":   "package x\n\nfunc f() int { return 1 }\n",
	}, "TERM=xterm-256color", "LANG=C.UTF-8", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "COLORTERM=truecolor")
	return d
}

func (d desk) states() string { return d.path("../home/share/acp/editors") }

// look gives what the editors on the desk tell.
func (d desk) look() (all []seen) {
	files, _ := filepath.Glob(filepath.Join(d.states(), "*.json"))
	for _, file := range files {
		var s seen
		if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &s) == nil {
			all = append(all, s)
		}
	}
	return all
}

// await waits until an editor tells what is wanted, and gives how long that took.
// meanwhile, if it is not nil, is done again and again.
func (d desk) await(t *testing.T, what string, meanwhile func(), good func(seen) bool) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		for _, s := range d.look() {
			if good(s) {
				return time.Since(began)
			}
		}
		if time.Since(began) > editorTime {
			data, _ := json.Marshal(d.look())
			t.Fatalf("%s was not seen within %v: %s", what, editorTime, data)
		}
		if meanwhile != nil {
			meanwhile()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// checkGone fails unless everything that the companion wrote goes with its editor. A lock
// alone may stay: editors kill servers that are still leaving, and who looks next
// removes it.
func (d desk) checkGone(t *testing.T) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		left, err := os.ReadDir(d.states())
		if err != nil {
			t.Fatal(err)
		}
		left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == ".lock" })
		if len(left) == 0 {
			return
		}
		if time.Since(began) > leaveTime {
			t.Fatalf("left behind: %v", left)
		}
	}
}

func (s seen) at(line, column int) bool {
	return s.Active != nil && filepath.Base(s.Active.Path) == "a.go" && s.Active.Cursor != nil &&
		s.Active.Cursor.Line == line && s.Active.Cursor.Column == column
}

func (s seen) selects(text string) bool {
	return s.Active != nil && s.Active.Selection != nil && s.Active.Selection.Text == text &&
		s.Active.Selection.Start == spot{3, 16, 15} && s.Active.Selection.End == spot{3, 22, 21}
}

func (s seen) unsaved() bool {
	return len(s.Documents) > 0 && s.Documents[0].Dirty && s.Documents[0].Text != nil && *s.Documents[0].Text == brokenGo
}

func (s seen) broken() bool {
	for _, d := range s.Diagnostics {
		for _, i := range d.Items {
			if filepath.Base(d.Path) == "a.go" && strings.Contains(i.Message, "undefined: oops") && i.Severity == "error" &&
				i.Range.Start == (spot{3, 23, 22}) && i.Range.End == (spot{3, 27, 26}) {
				return true
			}
		}
	}
	return false
}

// whole tells whether all that a prompt is to tell is there.
func (s seen) whole() bool { return s.selects("return") && s.unsaved() && s.broken() }

// TestEditors drives real editors by their keys and looks at what the agent would
// see.
func TestEditors(t *testing.T) {
	agent := buildAgent(t)
	gopls := installGopls(t)
	packages := unpack(t, "neovim", "hx")
	t.Run("neovim", func(t *testing.T) { testNeovim(t, agent, gopls, packages) })
	t.Run("helix", func(t *testing.T) { testHelix(t, agent, gopls, packages) })
}

func testNeovim(t *testing.T, agent, gopls string, packages debian) {
	d := editorDesk(t)
	d.commit(t, agent)
	addon, err := filepath.Abs("../../editors/neovim")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, d.path("../home/init.lua"), fmt.Sprintf(`
vim.opt.runtimepath:prepend(%q)
vim.opt.swapfile = false
require("kimi_acp").setup({ cmd = { %q, "lsp" } })
vim.api.nvim_create_autocmd("FileType", { pattern = "go", callback = function()
  vim.lsp.start({ name = "gopls", cmd = { %q }, root_dir = vim.fn.getcwd() })
end })
`, addon, agent, gopls))
	ctx, cancel := context.WithTimeout(t.Context(), 3*editorTime)
	defer cancel()
	// Its terminal would start the program again by the name of the loader, so the
	// keys come from another one.
	socket := d.path("../home/nvim")
	share := filepath.Join(string(packages), "usr", "share", "nvim")
	env := append(d.env, "VIMRUNTIME="+filepath.Join(share, "runtime"), "VIM="+share)
	cmd := packages.command(ctx, "nvim", "--headless", "--listen", socket, "-u", d.path("../home/init.lua"), "a.go")
	cmd.Dir, cmd.Env = d.dir, env
	press := func(keys string) {
		remote := packages.command(ctx, "nvim", "--server", socket, "--remote-send", keys)
		remote.Dir, remote.Env = d.dir, env
		if out, err := remote.CombinedOutput(); err != nil {
			t.Fatalf("press %s: %v\n%s", keys, err, out)
		}
	}
	x := inTerminal(t, cmd)

	d.await(t, "the file", nil, func(s seen) bool { return s.at(1, 1) && s.Active.Language == "go" })
	press("3G23|")
	t.Logf("cursor seen after %v", d.await(t, "the cursor", nil, func(s seen) bool { return s.at(3, 23) }))
	press("16|ve")
	t.Logf("selection seen after %v", d.await(t, "the selection", nil, func(s seen) bool { return s.selects("return") }))
	press("<Esc>23|soops<Esc>")
	t.Logf("unsaved text seen after %v", d.await(t, "the unsaved text", nil, seen.unsaved))
	t.Logf("diagnostics seen after %v", d.await(t, "the diagnostics", nil, seen.broken))
	press(":lua vim.lsp.buf.code_action({ apply = true, filter = function(a) return a.title == 'Ask Kimi about this' end })<CR>")
	d.awaitPrompt(t, `"kind":"ask"`)
	press("<CR><Esc>3G16|ve")
	d.checkPrompt(t, agent, "By an action of the editor the user asks about a.go, line 3 column ", d.now(t, "everything", nil, seen.whole))
	press("<Esc>:qa!<CR>")
	x.leave(ctx)
	d.checkFiles(t, map[string]string{"go.mod": "module example.org/x\n\ngo 1.24\n", "a.go": "package x\n\nfunc f() int { return 1 }\n"})
	d.checkGone(t)
	checkNoneLeft(t, agent)
}

// awaitPrompt waits for a prompt that a code action queued.
func (d desk) awaitPrompt(t *testing.T, want string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(d.states(), "*.prompt"))
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), want) {
				return
			}
		}
		if time.Since(began) > leaveTime {
			t.Fatalf("no prompt with %s was queued: %v", want, files)
		}
	}
}

func testHelix(t *testing.T, agent, gopls string, packages debian) {
	d := editorDesk(t)
	d.commit(t, agent)
	config := d.path("../home/.config/helix")
	if err := os.MkdirAll(config, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(config, "languages.toml"), fmt.Sprintf(`
[language-server.kimi]
command = %q
args = ["lsp"]

[language-server.gopls]
command = %q

[[language]]
name = "go"
language-servers = ["gopls", "kimi"]
`, agent, gopls))
	writeFile(t, filepath.Join(config, "config.toml"), "[editor]\nauto-completion = false\n[editor.lsp]\nauto-signature-help = false\n")
	ctx, cancel := context.WithTimeout(t.Context(), 3*editorTime)
	defer cancel()
	cmd := packages.command(ctx, "hx", "a.go:3:16")
	cmd.Dir, cmd.Env = d.dir, append(d.env, "HELIX_RUNTIME="+filepath.Join(string(packages), "usr", "lib", "hx", "runtime"))
	x := inTerminal(t, cmd)

	d.await(t, "the file", nil, func(s seen) bool { return s.Active != nil && s.Active.Language == "go" })
	x.press("e")
	// Helix tells what is selected when it is asked for code actions.
	actions := func() {
		if x.pressUntil(" a", "Ask Kimi") {
			x.press("\x1b")
		}
		time.Sleep(500 * time.Millisecond) // a key too soon after Escape is one with Alt
	}
	t.Logf("selection seen after %v", d.await(t, "the selection", actions, func(s seen) bool { return s.selects("return") }))
	x.press(";2lcoops")
	t.Logf("unsaved text seen after %v", d.await(t, "the unsaved text", nil, seen.unsaved))
	d.await(t, "the cursor where was typed", nil, func(s seen) bool { return s.at(3, 27) })
	if !x.pressUntil("\x1b", "NOR") {
		t.Error("Helix stays in insert mode")
	}
	x.press("h") // onto what is wrong
	t.Logf("diagnostics seen after %v", d.await(t, "the diagnostics", actions, seen.broken))
	x.press("gh15le")
	d.checkPrompt(t, agent, "", d.now(t, "everything", actions, seen.whole))
	x.press(":q!\r")
	x.leave(ctx)
	d.checkFiles(t, map[string]string{"go.mod": "module example.org/x\n\ngo 1.24\n", "a.go": "package x\n\nfunc f() int { return 1 }\n"})
	d.checkGone(t)
	checkNoneLeft(t, agent)
}
