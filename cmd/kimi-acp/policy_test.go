//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/fileop/facts"
	"kimi-acp/internal/permit"
	"kimi-acp/internal/policy"
)

// The commands of a person go by the same rules and the same trust as sessions do.
func TestPolicyOfEveryScope(t *testing.T) {
	share, project := filepath.Join(t.TempDir(), "share"), t.TempDir()
	ask := func(args ...string) ran {
		t.Helper()
		cmd := command(t, []string{"KIMI_SHARE_DIR=" + share}, args...)
		cmd.Dir = project
		return finish(t, cmd)
	}
	decides := func(want string, args ...string) {
		t.Helper()
		got := ask(append([]string{"policy", "explain", "--json"}, args...)...)
		var v struct{ Decision, Reason, Rule string }
		if err := json.Unmarshal([]byte(got.stdout), &v); err != nil || got.exit != 0 || v.Reason == "" {
			t.Fatalf("%q: exit %d, %s%s (%v)", args, got.exit, got.stdout, got.stderr, err)
		}
		if said := strings.TrimSpace(v.Decision + " " + v.Rule); said != want {
			t.Errorf("%q: %s, want %s", args, said, want)
		}
	}
	decides("ask trust", "--shell", "git status")
	if got := ask("trust", "add"); got.exit != 0 {
		t.Fatal(got.stderr)
	}
	decides("allow allow shell git status", "--shell", "git status")
	decides("ask command", "--shell", "go test")
	put(t, filepath.Join(share, "acp.toml"), "[policy]\nsets = [\"inspect\", \"build\"]\nallow = [\"shell make fmt|lint\"]\ndeny = [\"shell git push\"]\n")
	put(t, filepath.Join(project, ".kimi", "policy.rules"), "ask shell go vet\nallow shell rm\n")
	decides("allow allow shell go test", "--shell", "go test")
	decides("ask trust", "--shell", "go test", "--untrusted")
	decides("ask command", "--shell", "go test", "--set", "inspect")
	decides("allow allow shell make fmt|lint", "--shell", "make lint")
	decides("deny deny shell git push", "--shell", "cd x && git push -f")
	decides("ask-once ask shell go vet", "--shell", "go vet ./...")
	decides("ask command", "--shell", "rm x")
	decides("deny mode plan", "--shell", "go test", "--mode", "plan")

	put(t, filepath.Join(share, "acp.toml"), "[policy]\ndeny = [\n  \"shel git push\",\n]\n")
	if got := ask("policy", "explain", "--shell", "ls"); got.exit != 2 || !strings.Contains(got.stderr, "acp.toml:3: policy.deny[1]") {
		t.Errorf("exit %d, %s%s", got.exit, got.stdout, got.stderr)
	}
	if err := os.Remove(filepath.Join(share, "acp.toml")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(project, ".kimi", "policy.rules"), "\nask\n")
	if got := ask("policy", "explain", "--shell", "ls"); got.exit != 2 || !strings.Contains(got.stderr, filepath.Join(project, ".kimi", "policy.rules")+": line 2") {
		t.Errorf("exit %d, %s%s", got.exit, got.stdout, got.stderr)
	}
}

// Without an editor nothing but looking is done where nobody answers, unless the folder is
// trusted for the run.
func TestRunTrust(t *testing.T) {
	for _, tt := range []struct {
		args    []string
		command string
		exit    int
	}{
		{nil, "ls", 0},
		{nil, "git --version", 5},
		{[]string{"--trust"}, "git --version", 0},
		{[]string{"--trust"}, "touch x", 5},
	} {
		cmd := command(t, playing(t, runs(t, tt.command), "text: done"), append(append([]string{"run"}, tt.args...), "go")...)
		if got := finish(t, cmd); got.exit != tt.exit {
			t.Errorf("%q, %s: exit %d, want %d\n%s", tt.args, tt.command, got.exit, tt.exit, got.stderr)
		}
	}
}

// A turn without an editor goes by the rules of every scope, as sessions do, whatever
// says them: the user's settings, what was kept for the project, the repository.
func TestRunGoesByTheRules(t *testing.T) {
	for name, tt := range map[string]struct {
		user, project, repository string
		command                   string
		exit                      int
	}{
		"nothing says so":          {command: "touch x", exit: 5},
		"the user allows":          {user: `allow = ["shell touch"]`, command: "touch x"},
		"the user denies":          {user: `deny = ["shell ls"]`, command: "ls", exit: 0},
		"kept for the project":     {project: "allow shell touch", command: "touch x"},
		"the repository asks":      {repository: "ask shell ls", command: "ls", exit: 5},
		"a repository cannot open": {repository: "allow shell touch", command: "touch x", exit: 5},
		"the stricter wins":        {user: `allow = ["shell touch"]`, repository: "ask shell touch", command: "touch x", exit: 5},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command(t, playing(t, runs(t, tt.command), "text: done"), "run", "--trust", "--json", "go")
			share := filepath.Join(filepath.Dir(cmd.Dir), "share")
			if tt.user != "" {
				put(t, filepath.Join(share, "acp.toml"), "[policy]\n"+tt.user+"\n")
			}
			if tt.repository != "" {
				put(t, filepath.Join(cmd.Dir, ".kimi", "policy.rules"), tt.repository+"\n")
			}
			if tt.project != "" {
				if err := permit.ProjectOf(filepath.Join(share, "acp"), cmd.Dir).Add(tt.project); err != nil {
					t.Fatal(err)
				}
			}
			got := finish(t, cmd)
			if got.exit != tt.exit {
				t.Errorf("exit %d, want %d\n%s", got.exit, tt.exit, got.stdout)
			}
			_, err := os.Stat(filepath.Join(cmd.Dir, "x"))
			if ran := err == nil; ran != (tt.exit == 0 && tt.command == "touch x") {
				t.Errorf("it ran: %v", ran)
			}
			if denied := strings.Contains(got.stdout, "not allowed here"); denied != strings.Contains(tt.user, "deny") {
				t.Errorf("it was denied: %v\n%s", denied, got.stdout)
			}
		})
	}
}

// Settings and keys are the program's own wherever they lie: many keep such files in a
// repository of theirs, and a link in their place.
func TestOwnFilesBehindLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, home := filepath.Join(dir, "dotfiles"), filepath.Join(dir, "home")
	put(t, filepath.Join(work, "whole", "acp.toml"), "")
	put(t, filepath.Join(work, "single", "config.toml"), "")
	put(t, filepath.Join(home, ".kimi-code", "other"), "")
	put(t, filepath.Join(work, "code.toml"), "")
	for link, target := range map[string]string{
		filepath.Join(dir, "share"):                      filepath.Join(work, "whole"),
		filepath.Join(work, "whole", "config.toml"):      filepath.Join(work, "single", "config.toml"),
		filepath.Join(home, ".kimi-code", "config.toml"): filepath.Join(work, "code.toml"),
		filepath.Join(work, "whole", "kimi.json"):        filepath.Join(work, "none"), // leads nowhere yet
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	engine, err := policy.New(policy.Options{Sets: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	c := policy.Context{Roots: []string{work}, Home: home, Own: ownFiles(filepath.Join(dir, "share"), home), Look: facts.Look}
	for _, path := range []string{"whole/acp.toml", "whole/config.toml", "whole/sessions/x", "single/config.toml", "code.toml", "none"} {
		path = filepath.Join(work, path)
		if v := engine.Read(facts.Look(path), c); v.Decision != policy.Deny {
			t.Errorf("to read %s: %s (%s)", path, v.Decision, v.Reason)
		}
	}
	if v := engine.Read(facts.Look(filepath.Join(work, "whole", "skills", "x")), c); v.Decision != policy.Allow {
		t.Errorf("to read what is not our own: %s (%s)", v.Decision, v.Reason)
	}
}
