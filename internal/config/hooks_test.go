package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHooks(t *testing.T) {
	dir := t.TempDir()
	const theirs = "[[hooks]]\nevent = \"Stop\"\ncommand = \"check\"\n"
	for name, c := range map[string]struct {
		text     string
		want     []Hook
		warnings []string
	}{
		"those of both files": {
			"[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"^Shell$\"\ncommand = \"./guard\"\ntimeout = 5\nfail_closed = true\n",
			[]Hook{{"Stop", "check", "", 30 * time.Second, false}, {"PreToolUse", "./guard", "^Shell$", 5 * time.Second, true}},
			nil,
		},
		"wrong ones": {
			"[[hooks]]\nevent = \"Begin\"\ncommand = \"x\"\n[[hooks]]\nevent = \"Stop\"\ntimeout = 601\n[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\nmatcher = \"(\"\n" +
				"[[hooks]]\nevent = \"Stop\"\ncommand = \"y\"\nmatcher = \"(\"\nfail_closed = true\nkind = 1\n",
			[]Hook{{"Stop", "check", "", 30 * time.Second, false}, {"Stop", "y", "", 30 * time.Second, true}},
			[]string{
				"hooks[0].event is none of PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit, Stop, StopFailure, SessionStart, SessionEnd, SubagentStart, SubagentStop, PreCompact, PostCompact, Notification; the hook is left out",
				"hooks[1].timeout is not a whole number between 1 and 600; 30 is used",
				"hooks[1].command is missing; the hook is left out",
				"hooks[2].matcher is no regular expression; the hook is left out",
				"hooks[3].matcher is no regular expression; the hook is run for everything, since it fails closed",
				"unknown key hooks[3].kind; it is not used",
			},
		},
		"no list": {"hooks = 1\n", []Hook{{"Stop", "check", "", 30 * time.Second, false}}, []string{"hooks is not a list of tables; it is not used"}},
	} {
		for file, text := range map[string]string{"config.toml": theirs, "acp.toml": c.text} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cfg, warnings := Load(func(name string) string { return map[string]string{"KIMI_SHARE_DIR": dir}[name] }, Flags{})
		if diff := cmp.Diff(c.want, cfg.Hooks); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var said []string
		for _, w := range warnings {
			if w.File == filepath.Join(dir, "acp.toml") {
				said = append(said, w.What)
			}
		}
		if diff := cmp.Diff(c.warnings, said); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
