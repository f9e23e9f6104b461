package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLanguageServers(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "acp.toml")
	for _, c := range []struct {
		name, text string
		want       []LanguageServer
		warnings   []string
	}{
		{"nothing", "", nil, nil},
		{
			"several, in their order", "[lsp.zls]\ncommand = [\"zls\", \"-x\"]\nfiletypes = [\"zig\", \".ZON\"]\nroot_markers = [\"build.zig\"]\n[lsp.gopls]\nenabled = false\n",
			[]LanguageServer{{Name: "zls", Command: []string{"zls", "-x"}, Filetypes: []string{".zig", ".zon"}, RootMarkers: []string{"build.zig"}}, {Name: "gopls", Off: true}},
			nil,
		},
		{"a bad type", "[lsp.zls]\ncommand = [\"zls\"]\nfiletypes = [\"*.zig\", \"zig\"]\n", []LanguageServer{{Name: "zls", Command: []string{"zls"}, Filetypes: []string{".zig"}}}, []string{`lsp.zls.filetypes has an element that is no extension such as "go"; that one is not used`}},
		{"an unknown key", "[lsp.gopls]\ncommands = [\"x\"]\n", []LanguageServer{{Name: "gopls"}}, []string{"unknown key lsp.gopls.commands; it is not used"}},
		{"no program", "[lsp.gopls]\ncommand = [\"\"]\n", nil, []string{"lsp.gopls.command does not begin with a program; the language server is left out"}},
		{"no name", "[lsp.\"A b\"]\ncommand = [\"x\"]\n", nil, []string{`lsp."A b" is no name of small letters, digits and - with at most 30 characters; the language server is left out`}},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, warnings := Load(func(name string) string { return map[string]string{"KIMI_SHARE_DIR": dir}[name] }, Flags{})
		if diff := cmp.Diff(c.want, got.LanguageServers); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		var said []string
		for _, w := range warnings {
			if w.File == file {
				said = append(said, w.What)
			}
		}
		if diff := cmp.Diff(c.warnings, said); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
