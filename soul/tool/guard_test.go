package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"kimi-acp/internal/policy"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// person answers approvals and remembers them.
type person struct {
	answer wire.Approval

	mu    sync.Mutex
	asked []wire.ApprovalRequest
}

func (p *person) Approve(_ context.Context, r wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r)
	return wire.ApprovalResponse{RequestID: r.ID, Response: p.answer}, nil
}

func (p *person) ResolveApproval(string, wire.Approval, string) bool { return false }

// ran is a runner that runs nothing and remembers what it was given.
type ran struct{ commands []string }

func (r *ran) Run(_ context.Context, c proc.Command) (proc.Outcome, error) {
	r.commands = append(r.commands, c.Shell)
	return proc.Outcome{}, nil
}

var rules = sync.OnceValues(func() (*policy.Engine, error) { return policy.New(policy.Options{}) })

func TestGuard(t *testing.T) {
	broken := func() (*policy.Engine, error) { return nil, errors.New("line 3") }
	for _, c := range []struct {
		name    string
		mode    tool.Mode
		engine  func() (*policy.Engine, error)
		command string
		asked   bool
		lasting bool // a lasting answer is offered
		runs    bool
		says    string // in the request or, when nothing is asked, in the result
	}{
		{"inspection", tool.ModeDefault, rules, "ls -la | head -3", false, false, true, ""},
		{"a change", tool.ModeDefault, rules, "touch x", true, true, true, "Run command `touch x`"},
		{"a program of its own", tool.ModeDefault, rules, "sh -c 'ls'", true, false, true, ""},
		{"what is fetched and run", tool.ModeDefault, rules, "curl x | sh", true, false, true, "Asked for because"},
		{"hidden characters", tool.ModeDefault, rules, "touch a\u202eb", true, false, true, `touch a\u202eb`},
		{"accept-edits asks for commands", tool.ModeAcceptEdits, rules, "make", true, false, true, ""},
		{"yolo asks for nothing", tool.ModeYolo, rules, "make", false, false, true, ""},
		{"what yolo does not lift", tool.ModeYolo, rules, "cat /home/me/.kimi/acp.toml", false, false, false, "not allowed here"},
		{"what nobody can allow", tool.ModeDefault, rules, "cat /home/me/.kimi/acp.toml", false, false, false, "not allowed here"},
		{"plan", tool.ModePlan, rules, "make", false, false, false, "plan mode"},
		{"rules that cannot be used", tool.ModeDefault, broken, "ls", true, false, true, "the rules cannot be used: line 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, r := &person{answer: wire.ApprovalApprove}, &ran{}
			e := tool.NewExecutor(tool.Options{
				Asker: p, Runner: r, Cwd: "/w",
				Guard: &tool.Guard{Engine: c.engine, Context: policy.Context{Roots: []string{"/w"}, Home: "/home/me", Own: []string{"/home/me/.kimi/acp.toml"}}},
			})
			if err := e.SetMode(c.mode); err != nil {
				t.Fatal(err)
			}
			result := run(e, c.command)
			if (len(p.asked) > 0) != c.asked || (len(r.commands) > 0) != c.runs {
				t.Fatalf("asked %v, ran %v; want %v, %v: %s", p.asked, r.commands, c.asked, c.runs, result.Message)
			}
			said := result.Message
			if c.asked {
				said = p.asked[0].Description
				if lasting := p.asked[0].Scope != ""; lasting != c.lasting {
					t.Errorf("a lasting answer is offered: %v (%q)", lasting, p.asked[0].Scope)
				}
			}
			if !strings.Contains(strings.ToLower(said), strings.ToLower(c.says)) {
				t.Errorf("said %q, want %q", said, c.says)
			}
			if c.runs && r.commands[0] != c.command {
				t.Errorf("ran %q, not what was asked for", r.commands[0])
			}
		})
	}
}

// An answer for the session covers what the rules say that it covers, and no more.
func TestGuardLastingAnswer(t *testing.T) {
	p, r := &person{answer: wire.ApprovalApproveForSession}, &ran{}
	e := tool.NewExecutor(tool.Options{Asker: p, Runner: r, Cwd: "/w", Guard: &tool.Guard{Engine: rules, Context: policy.Context{Roots: []string{"/w"}}}})
	for _, command := range []string{"go test ./a", "go test ./b", "go generate ./..."} {
		run(e, command)
	}
	if len(r.commands) != 3 || len(p.asked) != 2 {
		t.Errorf("ran %q and asked %d times, want 2", r.commands, len(p.asked))
	}
}

func run(e *tool.Executor, command string) wire.ToolReturnValue {
	raw, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	args := string(raw)
	return e.CallTool(context.Background(), wire.ToolCallRequest{ID: "1", Name: "Shell", Arguments: &args})
}

// What was allowed in parts is allowed together.
func TestGuardAnswersAddUp(t *testing.T) {
	p, r := &person{answer: wire.ApprovalApproveForSession}, &ran{}
	e := tool.NewExecutor(tool.Options{Asker: p, Runner: r, Cwd: "/w", Guard: &tool.Guard{Engine: rules, Context: policy.Context{Roots: []string{"/w"}}}})
	for _, command := range []string{"go test ./a", "cargo test", "go test ./b && cargo test && ls", "go test ./a; cargo build"} {
		run(e, command)
	}
	if len(r.commands) != 4 || len(p.asked) != 3 {
		t.Fatalf("ran %q and asked %d times, want 3", r.commands, len(p.asked))
	}
	if got := p.asked[2].Scope; got != "commands that begin with cargo build" {
		t.Errorf("at last asked for %q", got)
	}
}
