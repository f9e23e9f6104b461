package kernel_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"kimi-acp/soul/kernel"
)

func TestParseChoice(t *testing.T) {
	tests := []struct {
		text string
		kind kernel.Kind
		want string // the words, or the error
	}{
		{"", kernel.Builtin, "[]"},
		{" builtin ", kernel.Builtin, "[]"},
		{"python", kernel.Python, "[]"},
		{"rust", kernel.Rust, "[]"},
		{"auto", kernel.Auto, "[]"},
		{"uvx kimi --wire", kernel.Custom, `["uvx" "kimi" "--wire"]`},
		{`"/opt/my kernel/run" 'a "b"' ""`, kernel.Custom, `["/opt/my kernel/run" "a \"b\"" ""]`},
		{`"open`, kernel.Builtin, `the kernel "\"open" is no command line: a quote or a backslash at its end is open`},
		{`""`, kernel.Builtin, `the kernel "\"\"" is no command line: it names no program`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			c, err := kernel.ParseChoice(tt.text)
			got := fmt.Sprintf("%q", c.Command)
			if err != nil {
				got = err.Error()
			}
			if c.Kind != tt.kind || got != tt.want {
				t.Errorf("got %v %s, want %v %s", c.Kind, got, tt.kind, tt.want)
			}
		})
	}
	if runtime.GOOS == "windows" {
		return
	}
	if c, err := kernel.ParseChoice(`a\ b c`); err != nil || !slices.Equal(c.Command, []string{"a b", "c"}) {
		t.Errorf("%q, %v", c.Command, err)
	}
}

func FuzzParseChoice(f *testing.F) {
	f.Add(`a "b c" 'd'`)
	f.Add("\\")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := kernel.ParseChoice(text)
		if err == nil && c.Kind == kernel.Custom && (len(c.Command) == 0 || c.Command[0] == "") {
			t.Errorf("%q names no program", text)
		}
	})
}

func TestFind(t *testing.T) {
	beside := t.TempDir()
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	program := func(name string) string {
		path := filepath.Join(beside, name+suffix)
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rust, named := program("kimi-agent"), program("mine")
	path := func(has ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(has, name) {
				return "/path/" + name, nil
			}
			return "", exec.ErrNotFound
		}
	}
	custom := kernel.Choice{Kind: kernel.Custom, Command: []string{"tool", "--wire"}}
	tests := []struct {
		name   string
		choice kernel.Choice
		places kernel.Places
		want   string
	}{
		{"named", kernel.Choice{Kind: kernel.Python}, kernel.Places{Named: named, Path: path("kimi")}, named},
		{"named, and not there", kernel.Choice{Kind: kernel.Python}, kernel.Places{Named: named + "x", Path: path("kimi")}, ""},
		{"named, and the other", kernel.Choice{Kind: kernel.Python}, kernel.Places{Named: rust, Path: path("kimi")}, ""},
		{"auto, and named", kernel.Choice{Kind: kernel.Auto}, kernel.Places{Named: rust, Path: path("kimi")}, rust},
		{"beside", kernel.Choice{Kind: kernel.Rust}, kernel.Places{Beside: beside, Path: path("kimi-agent")}, rust},
		{"in PATH", kernel.Choice{Kind: kernel.Python}, kernel.Places{Beside: beside, Path: path("kimi-cli")}, "/path/kimi-cli"},
		{"auto, Python first", kernel.Choice{Kind: kernel.Auto}, kernel.Places{Beside: beside, Path: path("kimi")}, "/path/kimi"},
		{"auto, Rust then", kernel.Choice{Kind: kernel.Auto}, kernel.Places{Beside: beside, Path: path()}, rust},
		{"auto, nothing", kernel.Choice{Kind: kernel.Auto}, kernel.Places{Path: path()}, ""},
		{"a command line", custom, kernel.Places{Path: path("tool")}, "/path/tool"},
		{"a command line of nothing", custom, kernel.Places{Path: path()}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := tt.places.Find(tt.choice)
			got := ""
			if err == nil {
				got = p.Args[0]
			}
			if got != tt.want || (err != nil) != errors.Is(err, kernel.ErrNoProgram) {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
