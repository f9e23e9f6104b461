package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/config"
)

func TestSkillFolders(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	inside := filepath.Join(project, "deep", "er")
	for _, dir := range []string{inside, filepath.Join(project, ".git"), filepath.Join(home, ".agents", "skills"), filepath.Join(home, ".claude", "skills")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	extra := []string{"~/more", "own", filepath.Join(home, "abs"), "~other"}
	for name, c := range map[string]struct {
		cfg     config.Skills
		trusted bool
		want    string
	}{
		"trusted":     {config.Skills{Extra: extra}, true, "P/.kimi/skills P/.claude/skills P/.codex/skills P/.agents/skills H/.kimi/skills H/.claude/skills H/.codex/skills H/.agents/skills H/more P/own H/abs P/~other"},
		"not trusted": {config.Skills{Extra: extra}, false, "H/.kimi/skills H/.claude/skills H/.codex/skills H/.agents/skills H/more H/abs"},
		"first only":  {config.Skills{FirstOnly: true}, true, "P/.agents/skills H/.claude/skills H/.agents/skills"},
	} {
		got := strings.Join(skillFolders(c.cfg, skillHome{home: home, project: inside, trusted: func() bool { return c.trusted }}), " ")
		got = strings.NewReplacer(project, "P", home, "H", `\`, "/").Replace(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLoadSkills(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(first, "both.md"):           "of the first",
		filepath.Join(second, "both.md"):          "of the second",
		filepath.Join(second, "skill-creator.md"): "instead of what comes with the program",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, s := range loadSkills([]string{filepath.Join(first, "none"), first, second}, slog.New(slog.DiscardHandler)) {
		got = append(got, s.Name+": "+s.Description)
	}
	if want := "both: of the first\nkimi-cli-help: "; !strings.HasPrefix(strings.Join(got, "\n"), want) || got[2] != "skill-creator: instead of what comes with the program" || len(got) != 3 {
		t.Errorf("the skills are %q", got)
	}
}
