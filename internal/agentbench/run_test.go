package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRunRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string // in the error
	}{
		{"no agent", []string{"-alone", "-agent", filepath.Join(t.TempDir(), "none")}, "look at the agent"},
		{"an argument", []string{"-alone", "more"}, "no arguments"},
		{"no repetition", []string{"-alone", "-repetitions", "0"}, "at least 1"},
		{"no delta", []string{"-alone", "-deltas", "0"}, "at least 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := run(t.Context(), test.args)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one with %q", err, test.want)
			}
		})
	}
	if err := run(t.Context(), []string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h gives %v", err)
	}
}

// A page must not be lost to an agent that cannot be measured.
func TestRunKeepsThePageOnFailure(t *testing.T) {
	dir := t.TempDir()
	page, program := filepath.Join(dir, "page.md"), filepath.Join(dir, "program")
	for path, content := range map[string]string{page: "before", program: "no program"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), []string{"-alone", "-agent", program, "-page", page}); err == nil {
		t.Error("a file that is no program was measured")
	}
	if data, err := os.ReadFile(page); err != nil || string(data) != "before" {
		t.Errorf("the page holds %q, %v", data, err)
	}
}

func TestCompareTakesTurns(t *testing.T) {
	one, two := pretender(t, decent), pretender(t, decent)
	one.title, two.title = "one", "two"
	one.sleep, two.sleep = toolCall{}, toolCall{}
	results, err := compare(t.Context(), []candidate{one, two}, little(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, title := range []string{"one", "two"} {
		if results[i].title != title || len(results[i].samples) != 2 {
			t.Errorf("result %d is %q with %d samples", i, results[i].title, len(results[i].samples))
		}
	}
}

// An interrupt ends the run and the agents in it.
func TestMeasureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, err := measure(ctx, pretender(t, decent), little()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

func TestInstalledPeerIsFound(t *testing.T) {
	cache := t.TempDir()
	bin := filepath.Join(cache, "codex-acp-"+codexVersion, "node_modules", "@zed-industries", "codex-acp-linux-x64", "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "codex-acp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := codex(t.Context(), cache)
	if err != nil || c.program != filepath.Join(bin, "codex-acp") {
		t.Errorf("found %q, %v", c.program, err)
	}
	set := c.settings("http://model/v1", "/home")
	if config := set.files[filepath.Join(".codex", "config.toml")]; !strings.Contains(config, `base_url = "http://model/v1"`) {
		t.Errorf("the settings are %q", config)
	}
}

func TestPeerWithoutNpm(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := codex(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "npm") {
		t.Errorf("the error is %v, want one about npm", err)
	}
}

func TestPermissionPrefersOnce(t *testing.T) {
	for options, want := range map[string]string{
		`[{"optionId":"a","kind":"allow_always"},{"optionId":"b","kind":"allow_once"}]`:  `{"outcome":{"optionId":"b","outcome":"selected"}}`,
		`[{"optionId":"a","kind":"reject_once"},{"optionId":"b","kind":"allow_always"}]`: `{"outcome":{"optionId":"b","outcome":"selected"}}`,
		`[{"optionId":"a","kind":"reject_once"}]`:                                        `{"outcome":{"outcome":"cancelled"}}`,
	} {
		got, err := allow([]byte(`{"options":` + options + `}`))
		answer, _ := got.(map[string]any)
		if err != nil || object(answer) != want {
			t.Errorf("%s: %v, %v; want %s", options, got, err, want)
		}
	}
}

func TestEditorKeepsToItsFolder(t *testing.T) {
	dir := t.TempDir()
	e := newEditor(filepath.Join(dir, "project"))
	outside := filepath.Join(dir, "outside")
	if _, err := e.write([]byte(object(map[string]any{"path": outside, "content": "x"}))); err == nil {
		t.Error("a file outside was written")
	}
	if _, err := e.read([]byte(object(map[string]any{"path": filepath.Join(e.folder, "..", "outside")}))); err == nil {
		t.Error("a file outside was read")
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("the file is there")
	}
}
