package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a home folder with files, and an environment.
type house struct {
	dir string
	env map[string]string
}

// newHouse writes files, by paths within the home folder.
func newHouse(t *testing.T, files map[string]string, env map[string]string) house {
	t.Helper()
	h := house{dir: t.TempDir(), env: map[string]string{}}
	h.env[homeVariable()] = h.dir
	for k, v := range env {
		h.env[k] = v
	}
	for name, text := range files {
		h.write(t, name, text)
	}
	return h
}

func (h house) path(name string) string { return filepath.Join(h.dir, filepath.FromSlash(name)) }

func (h house) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (h house) getenv(name string) string { return h.env[name] }

func (h house) load(flags Flags) (Config, []string) {
	c, warnings := Load(h.getenv, flags)
	return c, h.sentences(warnings)
}

// sentences gives warnings with paths as within the home folder.
func (h house) sentences(warnings []Warning) []string {
	var all []string
	for _, w := range warnings {
		text := strings.ReplaceAll(w.String(), h.dir+string(filepath.Separator), "~/")
		all = append(all, filepath.ToSlash(text))
	}
	return all
}

// models writes models one a line, with their keys in the open.
func models(c Config) []string {
	var all []string
	for _, m := range c.Models {
		p := m.Provider
		line := fmt.Sprintf("%s = %s %q, %d, %s; %s %s %s key=%s", m.ID, m.Name, m.DisplayName, m.ContextSize,
			strings.Join(m.Capabilities, "+"), p.Name, p.Type, p.BaseURL, p.APIKey.Reveal())
		for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
			line += " " + name + "=" + p.Headers[name]
		}
		if p.Scripts != "" {
			line += " scripts=" + p.Scripts
		}
		if p.ReasoningKey != defaultReasoningKey {
			line += " reasoning=" + p.ReasoningKey
		}
		all = append(all, line)
	}
	return all
}

func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
