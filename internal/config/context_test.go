package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContext(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "acp.toml")
	for _, c := range []struct {
		name, text string
		want       Context
		warnings   []string
	}{
		{"nothing", "", Context{}, nil},
		{
			"all", "[context]\ngit = \"off\"\ntree = \"on\"\neditor = \"auto\"\nbudget = 900\n[context.programs.tickets]\ncommand = [\"tickets\", \"--json\"]\n",
			Context{
				Parts:  map[string]string{"git": "off", "tree": "on", "editor": "auto"},
				Budget: 900, Programs: []ContextProgram{{"tickets", []string{"tickets", "--json"}}},
			},
			nil,
		},
		{"no use", "[context]\ngit = \"maybe\"\n", Context{}, []string{"context.git is none of off, on, auto; it is not used"}},
		{"no such part", "[context]\nweather = \"on\"\n", Context{}, []string{"unknown key context.weather; it is not used"}},
		{"too small", "[context]\nbudget = 1\n", Context{}, []string{"context.budget is not a whole number between 200 and 100000; 0 is used"}},
		{"no command", "[context.programs.x]\n", Context{}, []string{"context.programs.x has no command, a list of the program and its arguments; it is left out"}},
		{"no name", "[context.programs.\"A b\"]\ncommand = [\"x\"]\n", Context{}, []string{"context.programs.\"A b\" is no name of small letters, digits and - with at most 30 characters; the program is left out"}},
		{"a part's name", "[context.programs.git]\ncommand = [\"x\"]\n", Context{}, []string{"context.programs.git is the name of a part of the context; the program is left out"}},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, warnings := Load(func(name string) string { return map[string]string{"KIMI_SHARE_DIR": dir}[name] }, Flags{})
		if diff := cmp.Diff(c.want, got.Context); diff != "" {
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
