package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/acp"
	"kimi-acp/contextprovider"
	"kimi-acp/contextprovider/git"
	"kimi-acp/contextprovider/lsp"
	"kimi-acp/fileop"
	"kimi-acp/internal/config"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

func TestLanguageServers(t *testing.T) {
	got := languageServers([]config.LanguageServer{
		{Name: "zls", Command: []string{"zls"}, Filetypes: []string{".zig"}, RootMarkers: []string{"build.zig"}},
		{Name: "gopls", Command: []string{"/opt/gopls", "serve"}},
		{Name: "clangd", Off: true},
		{Name: "nothing"},
	})
	var names []string
	for _, s := range got {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"zls", "gopls", "typescript-language-server", "pyright", "rust-analyzer"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(lsp.Server{Name: "zls", Command: []string{"zls"}, Extensions: []string{".zig"}, Markers: []string{"build.zig"}}, got[0]); diff != "" {
		t.Error(diff)
	}
	if got[1].Command[0] != "/opt/gopls" || !slices.Contains(got[1].Extensions, ".go") {
		t.Errorf("%+v", got[1])
	}
}

// findGopls gives a gopls of this machine: of PATH, or the one that the tests with real
// clients keep.
func findGopls(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("gopls"); err == nil {
		return path
	}
	cache := os.Getenv("KIMI_CLIENTS_DIR")
	if cache == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			cache = filepath.Join(dir, "kimi-acp", "clients")
		}
	}
	found, _ := filepath.Glob(filepath.Join(cache, "gopls-*", "gopls"))
	if len(found) == 0 {
		t.Skip("SKIPPED: there is no gopls in PATH, and none that `make test-clients` keeps")
	}
	return found[len(found)-1]
}

// TestRunAsksGopls: a single turn asks the language server, where the folder is trusted.
func TestRunAsksGopls(t *testing.T) {
	gopls := findGopls(t)
	for _, c := range []struct{ flag, want string }{
		{"--trust", "var four = Double(2)"},
		{"--quiet", "not trusted"},
	} {
		t.Run(c.flag, func(t *testing.T) {
			call := `tool_call: {"id":"d","name":"CodeIntelligence","arguments":"{\"operation\":\"references\",\"path\":\"a.go\",\"symbol\":\"Double\"}"}`
			cmd := command(t, playing(t, call, "text: there"), "run", "--json", c.flag, "where is it?")
			for name, text := range map[string]string{
				"go.mod":            "module example.org/m\n\ngo 1.24\n",
				"a.go":              "package m\n\nfunc Double(n int) int { return 2 * n }\n",
				"b.go":              "package m\n\nvar four = Double(2)\n",
				"../share/acp.toml": fmt.Sprintf("[lsp.gopls]\ncommand = [%q]\n", gopls),
			} {
				path := filepath.Join(cmd.Dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := finish(t, cmd)
			if got.exit != 0 || !strings.Contains(got.stdout, c.want) {
				t.Errorf("exit %d\n%s\n%s", got.exit, got.stdout, got.stderr)
			}
		})
	}
}

// TestCodeWithGopls has the parts of the program work together as in a session: an edit
// that breaks the code tells so in its result, the symbol that a prompt names is in its
// context, the model can ask, and a rename goes through the Operator.
func TestCodeWithGopls(t *testing.T) {
	gopls := findGopls(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.24\n",
		"a.go":   "package m\n\n// Double gives twice n.\nfunc Double(n int) int {\n\treturn 2 * n\n}\n",
		"b.go":   "package m\n\nfunc quadruple(n int) int { return Double(Double(n)) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := fileop.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	files := fileop.New(fileop.Options{Disk: disk, Roots: []string{dir}})
	spec := acp.MomentSpec{Roots: []string{dir}, Files: files, Disk: disk, Readable: func(string) bool { return true }, Trusted: func() bool { return true }}
	cfg := config.Config{LanguageServers: []config.LanguageServer{{Name: "gopls", Command: []string{gopls}}}}
	quiet := slog.New(slog.DiscardHandler)
	code := codeOf(quiet, proc.NewRunner(proc.Options{}), func() config.Config { return cfg })(spec)
	t.Cleanup(code.Close)
	spec.Code = code.Providers
	moment, err := contextprovider.NewMoment(momentOptions(spec, cfg, git.NewWatches(10), nil, quiet))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(moment.Close)
	if !code.Renames {
		t.Fatal("gopls is there, and nothing is said to rename anything")
	}
	executor := tool.NewExecutor(tool.Options{
		Operator: files, Checker: code.Checker, Cwd: dir,
		Tools: append(tool.Builtin(), tool.NewCodeIntelligence(code.Ask), tool.NewRenameSymbol(code.Ask)),
	})
	if err := executor.SetMode(tool.ModeYolo); err != nil {
		t.Fatal(err)
	}
	call := func(name string, args map[string]any) wire.ToolReturnValue {
		t.Helper()
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		v := executor.CallTool(context.Background(), wire.ToolCallRequest{ID: name, Name: name, Arguments: &text})
		if v.IsError {
			t.Fatalf("%s: %s", name, v.Message)
		}
		t.Logf("%s: %s\n%s", name, v.Message, v.Output.Text)
		return v
	}
	says := func(text string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}

	v := call("CodeIntelligence", map[string]any{"operation": "references", "path": "a.go", "symbol": "Double"})
	says(v.Output.Text, "b.go\n  3| func quadruple(n int) int { return Double(Double(n)) }\n")
	if strings.Count(v.Output.Text, "quadruple") != 1 {
		t.Errorf("a line is quoted twice: %s", v.Output.Text)
	}

	replace := func(old, with string) wire.ToolReturnValue {
		return call("StrReplaceFile", map[string]any{"path": "a.go", "edit": map[string]any{"old": old, "new": with}})
	}
	// On a machine that is busy gopls may take longer than an edit waits; then again.
	for v = replace("2 * n", "2 * m"); v.Output.Text == "" && t.Context().Err() == nil; v = replace("2 * n", "2 * m") {
		replace("2 * m", "2 * n")
	}
	says(v.Output.Text, "New problems in a.go:\n5:13: error (compiler UndeclaredName): undefined: m\n")
	v = replace("2 * m", "n + n")
	if v.Output.Text != "" {
		t.Errorf("an edit that mends says %q", v.Output.Text)
	}

	// What uses a function that is gone is told too.
	for v = replace("func Double", "func Triple"); v.Output.Text == "" && t.Context().Err() == nil; v = replace("func Double", "func Triple") {
		replace("func Triple", "func Double")
	}
	says(v.Output.Text, "Reported in other files since the edit:\nb.go:3:36: error (compiler UndeclaredName): undefined: Double\n")
	replace("func Triple", "func Double")

	part := ""
	for !strings.Contains(part, "2 references") && t.Context().Err() == nil {
		// A machine that is busy may be slower than a prompt waits: then the next one tells.
		part = moment.Part(t.Context(), "Why is `Double` so slow?", nil, nil)
	}
	says(part, "<symbols>\n", "Double: a.go:4, 2 references\n", "func Double(n int) int\n", "Double gives twice n.\n")

	call("RenameSymbol", map[string]any{"path": "b.go", "symbol": "Double", "new_name": "Twice"})
	data, err := os.ReadFile(filepath.Join(dir, "b.go"))
	if err != nil || !strings.Contains(string(data), "return Twice(Twice(n))") {
		t.Errorf("%s %v", data, err)
	}
	v = call("CodeIntelligence", map[string]any{"operation": "diagnostics", "path": "b.go"})
	if strings.Contains(v.Output.Text, ": error") {
		t.Errorf("after the rename: %s", v.Output.Text)
	}
}
