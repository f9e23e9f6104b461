//go:build clients

package clienttest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"kimi-acp/internal/acptest"
)

// TestEditors drives real editors by their keys and looks at what the agent would
// see.
func TestEditors(t *testing.T) {
	agent := acptest.Build(t)
	gopls := installGopls(t)
	packages := unpack(t, "neovim", "hx", "patchelf")
	t.Run("neovim", func(t *testing.T) { testNeovim(t, agent, gopls, packages) })
	t.Run("helix", func(t *testing.T) { testHelix(t, agent, gopls, packages) })
}

func testNeovim(t *testing.T, agent, gopls string, packages debian) {
	d := goScene(t, agent)
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
	nvim, err := packages.patched(t, filepath.Join("usr", "bin", "nvim"))
	if err != nil {
		t.Fatal(err)
	}
	// A second Neovim presses the keys of the first: an Escape is one there, whatever
	// comes behind it.
	socket := d.path("../home/nvim")
	share := filepath.Join(string(packages), "usr", "share", "nvim")
	start := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, nvim, args...)
		cmd.Dir, cmd.Env = d.dir, append(d.env, "VIMRUNTIME="+filepath.Join(share, "runtime"), "VIM="+share)
		return cmd
	}
	press := func(keys string) {
		if out, err := start("--server", socket, "--remote-send", keys).CombinedOutput(); err != nil {
			t.Fatalf("press %s: %v\n%s", keys, err, out)
		}
	}
	x := inTerminal(t, start("--listen", socket, "-u", d.path("../home/init.lua"), "a.go"))

	d.await(t, "the file", nil, d.at(1, 1))
	press("3G23|")
	t.Logf("cursor seen after %v", d.await(t, "the cursor", nil, d.at(3, 23)))
	press("16|ve")
	t.Logf("selection seen after %v", d.await(t, "the selection", nil, d.selected))
	press("<Esc>23|soops<Esc>")
	t.Logf("unsaved text seen after %v", d.await(t, "the unsaved text", nil, d.broken))
	t.Logf("diagnostics seen after %v", d.await(t, "the diagnostics", nil, d.reported))
	press(":lua vim.lsp.buf.code_action({ apply = true, filter = function(a) return a.title == 'Ask Kimi about this' end })<CR>")
	d.awaitPrompt(t, `"kind":"ask"`)
	press("<CR><Esc>3G16|ve")
	d.checkPrompt(t, agent, "By an action of the editor the user asks about a.go, line 3 column ", d.now(t, "everything", nil, d.whole))
	x.picture("neovim")
	press("<Esc>")
	x.press(":qa!\r") // by the keyboard, as nobody answers a Neovim that presses the last key
	x.leave(ctx)
	d.untouched(t)
	d.checkGone(t)
	checkNoneLeft(t, agent)
}

func testHelix(t *testing.T, agent, gopls string, packages debian) {
	d := goScene(t, agent)
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
	t.Logf("selection seen after %v", d.await(t, "the selection", actions, d.selected))
	x.press(";2lcoops")
	t.Logf("unsaved text seen after %v", d.await(t, "the unsaved text", nil, d.broken))
	d.await(t, "the cursor where was typed", nil, d.at(3, 27))
	if !x.pressUntil("\x1b", "NOR") {
		t.Error("Helix stays in insert mode")
	}
	x.press("h") // onto what is wrong
	t.Logf("diagnostics seen after %v", d.await(t, "the diagnostics", actions, d.reported))
	x.press("gh15le")
	d.checkPrompt(t, agent, "", d.now(t, "everything", actions, d.whole))
	x.picture("helix")
	x.press(":q!\r")
	x.leave(ctx)
	d.untouched(t)
	d.checkGone(t)
	checkNoneLeft(t, agent)
}
