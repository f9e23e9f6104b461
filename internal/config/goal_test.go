package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGoalSkillsAndSmallModel(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "acp.toml")
	const model = "[providers.e]\ntype = \"_echo\"\n[models.m]\nprovider = \"e\"\n"
	type said struct {
		Goal     Goal
		Skills   Skills
		Small    string
		Agents   string
		File     string
		Warnings []string
	}
	for name, c := range map[string]struct {
		text string
		want said
	}{
		"nothing": {"", said{Goal: Goal{Rounds: 20}}},
		"all": {
			"small_model = \"m\"\nsubagent_model = \"m\"\nagent_file = \"~/a.yaml\"\nmerge_all_available_skills = false\nextra_skill_dirs = [\"~/x\"]\n[goal]\nrounds = 3\ntokens = 1000\n" + model,
			said{Goal{3, 1000}, Skills{true, []string{"~/x"}}, "m", "m", "~/a.yaml", nil},
		},
		"wrong": {
			"small_model = \"n\"\nsubagent_model = \"n\"\n[goal]\nrounds = 0\nsteps = 1\n" + model,
			said{Goal: Goal{Rounds: 20}, Warnings: []string{
				"goal.rounds is not a whole number between 1 and 1000; 20 is used", "unknown key goal.steps; it is not used",
				`there is no usable model "n" for small tasks; the session's own does them`,
				`there is no usable model "n" for the agents of a session; they have the session's own`,
			}},
		},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, warnings := Load(func(name string) string { return map[string]string{"KIMI_SHARE_DIR": dir}[name] }, Flags{})
		got := said{Goal: cfg.Goal, Skills: cfg.Skills, Small: cfg.Small, Agents: cfg.Agents, File: cfg.AgentFile}
		for _, w := range warnings {
			if w.File == file {
				got.Warnings = append(got.Warnings, w.What)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
