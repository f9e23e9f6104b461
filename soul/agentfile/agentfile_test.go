package agentfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/tool"
)

// scene writes the files of a scene of testdata into a folder, and gives what it wants.
func scene(t *testing.T, file, dir string) (want string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(text), "\n-- ")[1:] {
		name, content, _ := strings.Cut(part, " --\n")
		if content += "\n"; name == "want" {
			return strings.TrimRight(content, "\n")
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("%s wants nothing", file)
	return ""
}

// shown words an agent as the scenes want it.
func shown(a Agent, warnings []string) string {
	var s strings.Builder
	for _, w := range warnings {
		fmt.Fprintf(&s, "warning: %s\n", w)
	}
	value := func(name string) string { return "<" + name + ">" }
	fmt.Fprintf(&s, "name: %s\ntools: %s\n", a.Name, strings.Join(a.Tools.names(), " "))
	if a.Role != "" {
		fmt.Fprintf(&s, "role: %s\n", a.Role)
	}
	if a.Prompt != nil {
		fmt.Fprintf(&s, "prompt: %s\n", strings.ReplaceAll(a.Prompt.Render(value), "\n", "\n  "))
	}
	for _, t := range a.Types([]tool.AgentType{{Name: "usual", When: "of the program"}}, value) {
		fmt.Fprintf(&s, "type %s: %s\n", t.Name, t.When)
		if t.Tools != nil {
			fmt.Fprintf(&s, "  tools: %s\n", strings.Join(t.Tools, " "))
		}
		if t.Model != "" {
			fmt.Fprintf(&s, "  model: %s\n", t.Model)
		}
		if t.ReadOnly {
			s.WriteString("  read-only\n")
		}
		if t.Role != "" {
			fmt.Fprintf(&s, "  role: %s\n", t.Role)
		}
		if t.System != "" {
			fmt.Fprintf(&s, "  system: %s\n", strings.ReplaceAll(t.System, "\n", "\n  "))
		}
	}
	return strings.TrimRight(s.String(), "\n")
}

func TestLoad(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no scenes: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			dir := t.TempDir()
			want := scene(t, file, dir)
			a, warnings, err := Load(filepath.Join(dir, "agent.yaml"))
			got := shown(a, warnings)
			if err != nil {
				got = "error: " + err.Error()
			}
			want = strings.ReplaceAll(want, "DIR"+string(filepath.Separator), dir+string(filepath.Separator))
			got = strings.ReplaceAll(got, dir+string(filepath.Separator), "")
			want = strings.ReplaceAll(want, dir+string(filepath.Separator), "")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadOfNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Load(filepath.Join(dir, "x.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, _, err := Load(dir); err == nil {
		t.Error("a folder is read")
	}
}

// Files that extend one another are bounded also where they make no circle.
func TestExtendIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range maxExtends + 1 {
		text := fmt.Sprintf("agent:\n  extend: %d.yaml\n", i+1)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := Load(filepath.Join(dir, "0.yaml")); err == nil || !strings.Contains(err.Error(), "more than 16 files extend") {
		t.Errorf("%d files: %v", maxExtends+1, err)
	}
}

// An agent never has a tool of ours that does what it may not do by kimi-cli's.
func TestOwnToolsFollowTheOthers(t *testing.T) {
	for name, like := range ours() {
		for _, l := range like {
			if (Tools{without: []string{l}}).Has(name) {
				t.Errorf("%s is there without %s", name, l)
			}
			if (Tools{named: []string{l}}).Has(name) != (len(like) == 1) {
				t.Errorf("%s with %s alone", name, l)
			}
		}
	}
}

// All tools of the program can be named in a file.
func TestToolNames(t *testing.T) {
	types := []tool.AgentType{{Name: "coder"}}
	all := append(tool.Builtin(), tool.NewAgent(types), tool.NewRunPlan(types), tool.NewSendDMail(&tool.Mailbox{}, false), tool.NewEditorContext(nil))
	for _, of := range append(all, tool.CodeTools(nil, true)...) {
		name := of.Spec().Name
		if got, known := toolName("kimi_cli.tools.x:" + name); !known || got != name {
			t.Errorf("%s is taken for %q, known %v", name, got, known)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("version: 1\nagent:\n  extend: default\n  name: x\n  tools: [Shell]\n  subagents:\n    y:\n      path: z\n", "a ${KIMI_OS} ${b}")
	f.Fuzz(func(t *testing.T, text, prompt string) {
		s, warnings, err := parse("f", text)
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("the error %q does not say where", err)
		}
		if err == nil && s.line == 0 || len(warnings) > maxTools {
			t.Errorf("%q is read as %+v", text, s)
		}
		p, err := parsePrompt("p", prompt, map[string]string{"b": "c"})
		if err == nil {
			p.Render(strings.ToLower)
		}
	})
}
