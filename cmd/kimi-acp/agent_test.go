package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
	"kimi-acp/soul/skill"
)

const leadFile = `version: 1
agent:
  name: lead
  extend: default
  exclude_tools: [Glob]
  subagents:
    reviewer: {path: reviewer.yaml, description: Looks for mistakes.}
`

const reviewerFile = `version: 1
agent:
  name: reviewer
  extend: default
  system_prompt_args: {ROLE_ADDITIONAL: You review.}
  exclude_tools: [Shell, WriteFile]
`

// An agent of a file is offered to the model, runs with its own part and tools, and has no
// tool that the one who started it does not have.
func TestAgentFileInAnEditor(t *testing.T) {
	model := modeltest.New(t)
	dir, share := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "lead.yaml"), leadFile)
	put(t, filepath.Join(dir, "reviewer.yaml"), reviewerFile)
	env := []string{"KIMI_BASE_URL=" + model.URL(), "KIMI_API_KEY=of-no-use", "KIMI_MODEL_NAME=served", "KIMI_SHARE_DIR=" + share}
	for _, how := range []string{"flag", "settings"} {
		args := []string{"--agent-file", filepath.Join(dir, "lead.yaml")}
		if how == "settings" {
			args = nil
			put(t, filepath.Join(share, "acp.toml"), "agent_file = '"+filepath.Join(dir, "lead.yaml")+"'\n")
		}
		t.Run(how, func(t *testing.T) {
			before := len(model.Requests())
			model.Push(
				modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "a", "Agent", `{"description":"look","prompt":"Look at it.","subagent_type":"reviewer"}`)}},
				modeltest.Reply{Parts: []modeltest.Part{modeltest.Text(strings.Repeat("Nothing is wrong. ", 20))}},
				modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("done")}},
			)
			c := start(t, env, args...)
			c.Initialize(acptest.Capabilities{})
			turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
			if got := turn.Wait(); got != "end_turn" || turn.Text() != "done" {
				t.Fatalf("ended with %s, said %q", got, turn.Text())
			}
			c.Close()
			asked := model.Requests()[before:]
			main, reviewer := string(asked[0].Body), string(asked[1].Body)
			for _, c := range []struct {
				in, text string
				has      bool
			}{
				{main, "- reviewer: Looks for mistakes.", true},
				{main, "- explore:", false},
				{main, `"name":"Shell"`, true},
				{main, `"name":"Glob"`, false},
				{reviewer, "You review.", true},
				{reviewer, "Look at it.", true},
				{reviewer, `"name":"ReadFile"`, true},
				{reviewer, `"name":"Shell"`, false},
				{reviewer, `"name":"WriteFile"`, false},
				{reviewer, `"name":"ApplyPatch"`, false},
				{reviewer, `"name":"Glob"`, false},
				{reviewer, `"name":"Agent"`, false},
			} {
				if strings.Contains(c.in, c.text) != c.has {
					t.Errorf("%q: %v is expected in\n%.3000s", c.text, c.has, c.in)
				}
			}
		})
	}
}

// A file that cannot be read ends no editor's connection, but no session begins without it.
func TestBadAgentFile(t *testing.T) {
	share := t.TempDir()
	file := filepath.Join(t.TempDir(), "a.yaml")
	put(t, file, "version: 1\nagent:\n  name: [x]\n")
	put(t, filepath.Join(share, "acp.toml"), "agent_file = '"+file+"'\n")
	c := start(t, append(playing(t, "text: hi"), "KIMI_SHARE_DIR="+share))
	c.Initialize(acptest.Capabilities{})
	e := c.Request("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}}).Fails(-32603)
	if !strings.Contains(e.Message, file+":3: name has to be a text") {
		t.Errorf("said %q", e.Message)
	}
}

func TestConfiguredAgent(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, ".git", "HEAD"), "")
	within := filepath.Join(root, ".kimi", "agent.yaml")
	put(t, within, leadFile)
	link := filepath.Join(elsewhere, "link.yaml")
	if err := os.Symlink(within, link); err != nil {
		t.Skip("no links here:", err)
	}
	sub := filepath.Join(root, "sub")
	put(t, filepath.Join(sub, "x"), "")
	for _, c := range []struct {
		path, untrusted, trusted string
	}{
		{"", "", ""},
		{filepath.Join(elsewhere, "a.yaml"), filepath.Join(elsewhere, "a.yaml"), filepath.Join(elsewhere, "a.yaml")},
		{".kimi/agent.yaml", "", within},
		{".kimi/other.yaml", "", ""},
		{within, "", within},
		{link, "", link},
	} {
		for _, trusted := range []bool{false, true} {
			want := c.untrusted
			if trusted {
				want = c.trusted
			}
			s := acp.AgentsSpec{Roots: []string{sub}, Trusted: func() bool { return trusted }}
			if got := configuredAgent(c.path, s, slog.New(slog.DiscardHandler)); got != want {
				t.Errorf("%s, trusted %v: %q", c.path, trusted, got)
			}
		}
	}
}

func TestAgentPlace(t *testing.T) {
	root, more := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "AGENTS.md"), "Be brief.")
	put(t, filepath.Join(root, "b", "c"), "")
	put(t, filepath.Join(root, ".gitignore"), "d\n")
	put(t, filepath.Join(root, "d"), "")
	p := agentPlace{roots: []string{root, more}, shell: "sh", skills: func() []skill.Skill { return []skill.Skill{{Name: "n", Description: "d"}} }}
	for name, want := range map[string]string{
		"KIMI_NOW": "0001-01-01T00:00:00Z", "KIMI_WORK_DIR": root, "KIMI_WORK_DIR_LS": "b/\n  c\n.gitignore\nAGENTS.md", "KIMI_SHELL": "sh",
		"KIMI_AGENTS_MD": "<!-- From: " + filepath.Join(root, "AGENTS.md") + " -->\nBe brief.", "KIMI_SKILLS": "- n\n  - Description: d",
		"KIMI_ADDITIONAL_DIRS_INFO": more + "\n```\n(empty directory)\n```\n",
	} {
		if got := p.value(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
}
