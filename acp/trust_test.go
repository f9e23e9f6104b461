package acp_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/policy"
	"kimi-acp/internal/trust"
	"kimi-acp/soul/tool"
)

// repository is a folder under git, and how its sessions are guarded.
func repository(t *testing.T) (dir string, kept *trust.Store, guard func([]string) *tool.Guard) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("git is not here: %v\n%s", err, out)
	}
	kept = trust.NewStore(t.TempDir(), "")
	engine := sync.OnceValues(func() (*policy.Engine, error) { return policy.New(policy.Options{}) })
	return dir, kept, func(roots []string) *tool.Guard {
		return &tool.Guard{Engine: engine, Gate: trust.NewGate(kept, roots, false), Context: policy.Context{Roots: roots}}
	}
}

// Whether a workspace is trusted is asked when it first makes a difference, and once.
func TestTrustIsAskedOnce(t *testing.T) {
	for _, tt := range []struct {
		answer string
		// what is asked for in a session with three commands, two of which need trust, and
		// in the next session
		first, second []string
		kept          trust.Answer
	}{
		{"Trust it", []string{"trust"}, nil, trust.Trusted},
		{"Not now", []string{"trust", "`git status`", "`git log -1`"}, []string{"trust", "`git status`", "`git log -1`"}, trust.Undecided},
		{"Skip the question", []string{"trust", "`git status`", "`git log -1`"}, []string{"trust", "`git status`", "`git log -1`"}, trust.Undecided},
		{"Never ask here", []string{"trust", "`git status`", "`git log -1`"}, []string{"`git status`", "`git log -1`"}, trust.Never},
	} {
		t.Run(tt.answer, func(t *testing.T) {
			dir, kept, guard := repository(t)
			script := []string{shell("a", "ls"), shell("b", "git status"), shell("c", "git log -1"), "text: done"}
			e := stage{scripts: append(script, script...), options: acp.Options{Guard: guard}}.serve(t)
			var asked []string
			e.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
				if !strings.HasPrefix(p.Title, "Do you trust "+dir+"?") {
					asked = append(asked, p.Title)
					return acptest.Choose("allow_once")(ctx, p)
				}
				asked = append(asked, "trust")
				if p.Options[0].Name != "Not now" {
					t.Errorf("the first answer is %q, which those give who always take the first", p.Options[0].Name)
				}
				for _, o := range p.Options {
					if o.Name == tt.answer {
						return acptest.Answer{OptionID: o.OptionID}
					}
				}
				return acptest.Answer{}
			}
			e.Initialize(both)
			for _, want := range [][]string{tt.first, tt.second} {
				asked = nil
				turn := e.NewSession(dir).Prompt(acptest.Text("go"))
				if got := turn.Wait(); got != "end_turn" {
					t.Errorf("ended with %s", got)
				}
				if strings.Join(asked, ", ") != strings.Join(want, ", ") {
					t.Errorf("asked for %q, want %q", asked, want)
				}
				for i, title := range []string{"`ls`", "`git status`", "`git log -1`"} {
					if c := turn.Calls()[i]; c.Title != title || c.Kind != "execute" {
						t.Errorf("call %d ended as %q (%s)", i, c.Title, c.Kind)
					}
				}
			}
			if got, err := kept.Of(dir); got != tt.kept || err != nil {
				t.Errorf("kept: %q, want %q (%v)", got, tt.kept, err)
			}
		})
	}
}

// Where the editor has forms, the question is one; whoever dismisses it is not asked
// again, and the command is.
func TestTrustIsAskedAsForm(t *testing.T) {
	for answer, cards := range map[string]int{
		`{"action":"accept","content":{"q1":"Trust it"}}`:              0,
		`{"action":"accept","content":{"q1_other":"Trust it, maybe"}}`: 2,
		`{"action":"cancel"}`: 2,
	} {
		t.Run(answer, func(t *testing.T) {
			dir, _, guard := repository(t)
			e := stage{scripts: []string{shell("b", "git status"), shell("c", "git log -1"), "text: done"}, options: acp.Options{Guard: guard}}.serve(t)
			forms, permissions := 0, 0
			e.Handle("elicitation/create", func(context.Context, json.RawMessage) (any, error) {
				forms++
				return json.RawMessage(answer), nil
			})
			e.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
				permissions++
				return acptest.Choose("allow_once")(ctx, p)
			}
			e.Initialize(acptest.Capabilities{ElicitationForm: true})
			e.NewSession(dir).Prompt(acptest.Text("go")).Wait()
			if forms != 1 || permissions != cards {
				t.Errorf("%d forms and %d permissions, want 1 and %d", forms, permissions, cards)
			}
		})
	}
}

// A turn that is cancelled over the question leaves it open.
func TestCancelWhileTrustIsAsked(t *testing.T) {
	dir, kept, guard := repository(t)
	e := stage{scripts: []string{shell("b", "git status")}, options: acp.Options{Guard: guard}}.serve(t)
	open := make(chan struct{})
	e.OnPermission = func(context.Context, acptest.Permission) acptest.Answer {
		close(open)
		return acptest.Answer{Silent: true}
	}
	e.Initialize(both)
	s := e.NewSession(dir)
	turn := s.Prompt(acptest.Text("go"))
	<-open
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
	if got, err := kept.Of(dir); got != trust.Undecided || err != nil {
		t.Errorf("kept: %q (%v)", got, err)
	}
}

// What was granted is shown by a command, and taken back by its number.
func TestPermissionsCommand(t *testing.T) {
	dir, kept, guard := repository(t)
	if _, err := kept.Set(dir, trust.Trusted); err != nil {
		t.Fatal(err)
	}
	e := stage{scripts: []string{
		shell("a", "mkdir -p x") + shell("b", "git status"), "text: one",
		shell("c", "mkdir -p x"), "text: two",
		shell("d", "mkdir -p x"), "text: three",
	}, options: acp.Options{Guard: guard}}.serve(t)
	var asked []string
	e.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
		asked = append(asked, p.Title)
		return acptest.Choose("allow_always")(ctx, p)
	}
	e.Initialize(both)
	s := e.NewSession(dir)
	for _, tt := range []struct {
		prompt string
		asked  int // so far
		says   string
	}{
		{"/permissions", 0, "1. Trusted to run its own code: `" + dir + "`\n\nTake one back with `/permissions remove N`."},
		{"go", 1, "one"},
		{"/permissions", 1, "1. In this session, allowed: the command mkdir -p x\n2. Trusted"},
		{"go", 1, "two"},
		{"/permissions remove 1", 1, "Taken back: In this session, allowed: the command mkdir -p x"},
		{"go", 2, "three"},
		{"/permissions drop 1", 2, "`/permissions remove N` takes"},
		{"/permissions remove x", 2, `"x" is no number`},
		{"/permissions keep 1", 2, "This cannot be kept"},
		{"/permissions remove 2", 2, "Taken back: Trusted"},
		{"/permissions", 2, "This workspace is not trusted"},
	} {
		turn := s.Prompt(acptest.Text(tt.prompt))
		if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), tt.says) || len(asked) != tt.asked {
			t.Errorf("%s: %s, says %q, want %q; asked %q, want %d", tt.prompt, got, turn.Text(), tt.says, asked, tt.asked)
		}
	}
	if got, err := kept.Of(dir); got != trust.Undecided || err != nil {
		t.Errorf("trust is %q (%v)", got, err)
	}
}
