package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAgentFile(t *testing.T) {
	a, err := parseAgentFile("version: 1\n# mine\nagent:\n  name: 'x y'\n  extend: default\n  exclude_tools:\n    - \"kimi_cli.tools.shell:Shell\"\n    - Grep # slow\n  tools:\n  - a.b:ReadFile\n  - a.b:Shell\n")
	if err != nil {
		t.Fatal(err)
	}
	want := AgentFile{Name: "x y", Tools: []string{"ReadFile", "Shell"}, Exclude: []string{"Shell", "Grep"}}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	for name, has := range map[string]bool{"ReadFile": true, "Shell": false, "WriteFile": false, "Grep": false} {
		if a.Has(name) != has {
			t.Errorf("%s: %v", name, !has)
		}
	}
	if !(AgentFile{}).Has("Shell") {
		t.Error("the default agent has no Shell")
	}
}

func TestParseAgentFileRefuses(t *testing.T) {
	for _, text := range []string{
		"version: 2", "agent:\n  system_prompt_path: x", "agent:\n  extend: other", "- item", "agent:\n  name", "name: x",
		"agent:\n  exclude_tools: [Shell]", "agent:\nname: x",
	} {
		if a, err := parseAgentFile(text); err == nil {
			t.Errorf("%q: read as %+v", text, a)
		}
	}
}

func FuzzParseAgentFile(f *testing.F) {
	f.Add("version: 1\nagent:\n  exclude_tools:\n    - a:B")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = parseAgentFile(text) })
}
