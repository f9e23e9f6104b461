package permit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kimi-acp/internal/config"
	"kimi-acp/internal/policy"
)

func rule(t *testing.T, line string) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule(line)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func kept(t *testing.T, p *Project) string {
	t.Helper()
	rules, err := p.Rules()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range rules {
		lines = append(lines, r.String())
	}
	return strings.Join(lines, "; ")
}

// Rules of a project are kept for where it is, and outside of it.
func TestProject(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	p := ProjectOf(dir, work)
	if got := kept(t, p); got != "" {
		t.Fatalf("at first %q", got)
	}
	for _, lines := range []string{"allow shell npm test\nallow shell cargo test", "allow shell npm test"} {
		if err := p.Add(lines); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(work, link); err != nil {
		t.Skip("links cannot be made here:", err)
	}
	if got := kept(t, ProjectOf(dir, link)); got != "allow shell npm test; allow shell cargo test" {
		t.Errorf("behind a link: %q", got)
	}
	if got := kept(t, ProjectOf(dir, t.TempDir())); got != "" {
		t.Errorf("of another project: %q", got)
	}
	if names, err := os.ReadDir(work); err != nil || len(names) > 0 {
		t.Errorf("in the project: %v, %v", names, err)
	}
	for _, want := range []bool{true, false} {
		if removed, err := p.Remove("allow shell npm test"); removed != want || err != nil {
			t.Errorf("removed: %v, want %v (%v)", removed, want, err)
		}
	}
	if got := kept(t, p); got != "allow shell cargo test" {
		t.Errorf("left: %q", got)
	}
}

// What a person has written into the file by hand stays, but for the rule removed and
// the lines that say more of it.
func TestProjectByHand(t *testing.T) {
	p := ProjectOf(t.TempDir(), t.TempDir())
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		t.Fatal(err)
	}
	const before = "# mine\ndeny shell git push\n  because never\n  match git push -f\n\n# more\nallow shell make test"
	if err := os.WriteFile(p.path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Remove("deny shell git push"); err != nil {
		t.Fatal(err)
	}
	if err := p.Add("allow shell go test"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.path)
	if want := "# mine\n\n# more\nallow shell make test\nallow shell go test\n"; err != nil || string(text) != want {
		t.Errorf("%q, want %q (%v)", text, want, err)
	}
}

func TestProjectRefuses(t *testing.T) {
	p := ProjectOf(t.TempDir(), t.TempDir())
	for _, line := range []string{"allow shell bash", "nonsense", "allow shell x\n  match y"} {
		if err := p.Add(line); err == nil {
			t.Errorf("%q is kept", line)
		}
	}
	if got := kept(t, p); got != "" {
		t.Errorf("kept %q", got)
	}
	if err := ProjectOf("", t.TempDir()).Add("allow shell x"); !errors.Is(err, errNoPlace) {
		t.Error(err)
	}
}

func TestProjectAtOnce(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	var all sync.WaitGroup
	for _, name := range strings.Fields("a b c d e f g h") {
		all.Go(func() {
			if err := ProjectOf(dir, work).Add("allow shell " + name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := kept(t, ProjectOf(dir, work)); strings.Count(got, "allow") != 8 {
		t.Errorf("kept %q", got)
	}
}

// Each scope holds as it should, follows its source, and what tightens outweighs.
func TestRules(t *testing.T) {
	said := config.Policy{}
	var files []File
	p := ProjectOf(t.TempDir(), t.TempDir())
	r := New(Sources{User: func() config.Policy { return said }, Project: p, Repository: func() ([]File, error) { return files, nil }})
	decide := func(command string) policy.Decision {
		t.Helper()
		e, err := r.Engine()
		if err != nil {
			t.Fatal(err)
		}
		return e.Shell(command, policy.Context{Roots: []string{"/w"}, Trusted: true}).Decision
	}
	steps := []struct {
		name    string
		change  func() error
		command string
		want    policy.Decision
	}{
		{"nothing but looking", func() error { return nil }, "go test", policy.Ask},
		{"a ready set", func() error { said.Sets = []string{"inspect", "build"}; return nil }, "go test", policy.Allow},
		{"no longer", func() error { said.Sets = nil; return nil }, "go test", policy.Ask},
		{"a rule of the project", func() error { return p.Add("allow shell go test") }, "go test", policy.Allow},
		{"a repository cannot allow", func() error {
			files = []File{{"/w/.kimi/policy.rules", "allow shell cargo test\nask shell go test"}}
			return nil
		}, "cargo test", policy.Ask},
		{"but ask", func() error { return nil }, "go test", policy.AskOnce},
		{"the user denies", func() error { said.Rules = []policy.Rule{rule(t, "deny shell go")}; return nil }, "go test", policy.Deny},
	}
	for _, s := range steps {
		if err := s.change(); err != nil {
			t.Fatal(err)
		}
		if got := decide(s.command); got != s.want {
			t.Errorf("%s: %s, want %s", s.name, got, s.want)
		}
	}
	before, err1 := r.Engine()
	after, err2 := r.Engine()
	if before != after || err1 != nil || err2 != nil {
		t.Error("rules that have not changed are put together anew", err1, err2)
	}
}

// A rule that cannot be read, wherever it stands, lets nothing be decided.
func TestBrokenRules(t *testing.T) {
	for name, tt := range map[string]struct {
		sources func(t *testing.T) Sources
		want    string
	}{
		"settings": {func(*testing.T) Sources {
			return Sources{User: func() config.Policy { return config.Policy{Broken: "acp.toml:3: no"} }}
		}, "acp.toml:3"},
		"project": {func(t *testing.T) Sources {
			p := ProjectOf(t.TempDir(), t.TempDir())
			if err := errors.Join(os.MkdirAll(filepath.Dir(p.path), 0o700), os.WriteFile(p.path, []byte("\ndeny nonsense x"), 0o600)); err != nil {
				t.Fatal(err)
			}
			return Sources{Project: p}
		}, ".rules: line 2"},
		"repository": {func(*testing.T) Sources {
			return Sources{Repository: func() ([]File, error) { return []File{{"/w/.kimi/policy.rules", "deny"}}, nil }}
		}, "/w/.kimi/policy.rules: line 1"},
		"a repository's link out": {func(*testing.T) Sources {
			return Sources{Repository: func() ([]File, error) { return nil, errors.New("leads out") }}
		}, "leads out"},
		"an example": {func(*testing.T) Sources {
			return Sources{Repository: func() ([]File, error) { return []File{{"rules", "deny shell x\n  match y"}}, nil }}
		}, "does not decide its example"},
	} {
		t.Run(name, func(t *testing.T) {
			if e, err := New(tt.sources(t)).Engine(); e != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v; want %q", e, err, tt.want)
			}
		})
	}
}
