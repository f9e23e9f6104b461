package tool_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/config"
	"kimi-acp/internal/permit"
	"kimi-acp/internal/policy"
	"kimi-acp/internal/trust"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// granted is a session with rules of every scope, in a trusted folder.
func granted(t *testing.T, p *person) (*tool.Executor, *ran, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deny, err := policy.ParseRule("deny shell git push")
	if err != nil {
		t.Fatal(err)
	}
	kept, store := t.TempDir(), trust.NewStore(t.TempDir(), "")
	if _, err := store.Set(dir, trust.Trusted); err != nil {
		t.Fatal(err)
	}
	rules := permit.New(permit.Sources{
		User:    func() config.Policy { return config.Policy{Rules: []policy.Rule{deny}} },
		Project: permit.ProjectOf(kept, dir),
	})
	r := &ran{}
	return tool.NewExecutor(tool.Options{Asker: p, Runner: r, Cwd: dir, Guard: &tool.Guard{
		Engine: rules.Engine, Rules: rules, Gate: trust.NewGate(store, []string{dir}, false),
		Context: policy.Context{Roots: []string{dir}},
	}}), r, dir
}

func TestPermissions(t *testing.T) {
	p := &person{answer: wire.ApprovalApproveForSession}
	e, _, dir := granted(t, p)
	for _, command := range []string{"go test ./a", "mkdir x"} {
		run(e, command)
	}
	shows := func(want string) {
		t.Helper()
		if got := e.Permissions().List(); got != strings.ReplaceAll(want, "DIR", dir) {
			t.Fatalf("shows\n%s\nwant\n%s", got, want)
		}
	}
	says := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("says %q, want %q", got, want)
		}
	}
	shows(`1. In this session, allowed: commands that begin with go test
2. In this session, allowed: the command mkdir x
3. Everywhere: ` + "`deny shell git push`" + ` (settings)
4. Trusted to run its own code: ` + "`DIR`" + `

Take one back with ` + "`/permissions remove N`, keep an answer of this session for the project with `/permissions keep N`.")
	says(e.Permissions().Keep(1), "Kept for this project: `allow shell go test`")
	says(e.Permissions().Keep(2), "cannot be kept")
	says(e.Permissions().Remove(1), "Taken back: In this session, allowed: commands that begin with go test")
	says(e.Permissions().Remove(0), "no number 0")
	says(e.Permissions().Keep(9), "no number 9")
	shows(`1. In this session, allowed: the command mkdir x
2. In this project: ` + "`allow shell go test`" + `
3. Everywhere: ` + "`deny shell git push`" + ` (settings)
4. Trusted to run its own code: ` + "`DIR`" + `

Take one back with ` + "`/permissions remove N`.")

	before := len(p.asked)
	run(e, "go test ./b")
	if len(p.asked) != before {
		t.Error("what was kept for the project is asked for")
	}
	says(e.Permissions().Remove(3), "in your settings")
	says(e.Permissions().Remove(2), "Taken back")
	says(e.Permissions().Remove(1), "Taken back")
	run(e, "mkdir x")
	run(e, "go test ./b")
	if len(p.asked) != before+2 {
		t.Errorf("asked %d times for what was taken back, want 2", len(p.asked)-before)
	}
	says(e.Permissions().Remove(4), "Trusted to run its own code")
	shows(`1. In this session, allowed: the command mkdir x
2. In this session, allowed: commands that begin with go test
3. Everywhere: ` + "`deny shell git push`" + ` (settings)

This workspace is not trusted: commands that could run its code are asked for, and rules that allow commands wait.
Take one back with ` + "`/permissions remove N`, keep an answer of this session for the project with `/permissions keep N`.")
}

// A refusal for the session is listed, and taken back as well.
func TestPermissionsRefused(t *testing.T) {
	p := &refuser{}
	e := tool.NewExecutor(tool.Options{Asker: p, Runner: &ran{}, Cwd: "/w", Guard: &tool.Guard{Engine: rules, Context: policy.Context{Roots: []string{"/w"}}}})
	p.executor = e
	run(e, "go test")
	run(e, "go test")
	if p.asked != 1 || !strings.HasPrefix(e.Permissions().List(), "1. In this session, refused: commands that begin with go test\n") {
		t.Errorf("asked %d times; %s", p.asked, e.Permissions().List())
	}
	e.Permissions().Remove(1)
	run(e, "go test")
	if p.asked != 2 {
		t.Errorf("asked %d times, want 2", p.asked)
	}
}

// refuser rejects everything for the session.
type refuser struct {
	executor *tool.Executor
	asked    int
}

func (r *refuser) Approve(_ context.Context, req wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	r.asked++
	r.executor.RejectForSession(req.ID)
	return wire.ApprovalResponse{RequestID: req.ID, Response: wire.ApprovalReject}, nil
}

func (r *refuser) ResolveApproval(string, wire.Approval, string) bool { return true }

// Without rules there is nothing to show, and broken ones say so.
func TestPermissionsOfNothing(t *testing.T) {
	e := tool.NewExecutor(tool.Options{})
	if got := e.Permissions().List(); got != "Nothing was granted or refused yet." {
		t.Errorf("%q", got)
	}
	dir := t.TempDir()
	project := permit.ProjectOf(t.TempDir(), dir)
	if err := project.Add("allow shell x"); err != nil {
		t.Fatal(err)
	}
	broken := permit.New(permit.Sources{User: func() config.Policy { return config.Policy{Broken: "acp.toml:3: no"} }, Project: project})
	p := &person{answer: wire.ApprovalReject}
	e = tool.NewExecutor(tool.Options{Asker: p, Runner: &ran{}, Cwd: dir, Guard: &tool.Guard{Engine: broken.Engine, Rules: broken, Context: policy.Context{Roots: []string{dir}}}})
	run(e, "ls")
	if got := e.Permissions().List(); len(p.asked) != 1 || !strings.Contains(p.asked[0].Description, "acp.toml:3: no") || !strings.Contains(got, "so everything is asked for: acp.toml:3: no") {
		t.Errorf("asked for %v, says %q", p.asked, got)
	}
	if _, err := os.Stat(filepath.Join(dir, ".kimi")); err == nil {
		t.Error("something was written into the project")
	}
}

// What was allowed of files is a rule like what was allowed of commands: it holds for
// every tool, is listed, kept and taken back.
func TestPermissionsOfFiles(t *testing.T) {
	g := newGrounds(t, wire.ApprovalApproveForSession)
	e := g.executor()
	use := func(asked int, name, arguments string) {
		t.Helper()
		before := len(g.person.asked)
		v := e.CallTool(t.Context(), wire.ToolCallRequest{ID: "1", Name: name, Arguments: &arguments})
		if got := len(g.person.asked) - before; got != asked {
			t.Errorf("%s %s asked %d times, want %d: %s", name, arguments, got, asked, v.Message)
		}
	}
	use(1, "WriteFile", `{"path":"new","content":"x\n"}`)
	use(0, "StrReplaceFile", `{"path":"plain","edit":{"old":"plain","new":"other"}}`)
	use(0, "ApplyPatch", `{"patch":"*** Begin Patch\n*** Add File: more\n+x\n*** End Patch\n"}`)
	use(1, "WriteFile", `{"path":"Makefile","content":"x:\n"}`)
	use(1, "ApplyPatch", `{"patch":"*** Begin Patch\n*** Delete File: more\n*** End Patch\n"}`)
	use(0, "ApplyPatch", `{"patch":"*** Begin Patch\n*** Delete File: new\n*** End Patch\n"}`)
	use(1, "ReadFile", `{"path":"`+filepath.ToSlash(g.outside)+`/file"}`)
	use(0, "ReadFile", `{"path":"link"}`)
	want := []string{"1. In this session, allowed: edits in this workspace", "2. In this session, allowed: changing Makefile", "3. In this session, allowed: deletions in this workspace", "4. In this session, allowed: reading " + g.outside + "/file"}
	list := e.Permissions().List()
	for _, line := range want {
		if !strings.Contains(strings.ReplaceAll(list, g.root+"/", ""), line) {
			t.Errorf("the list lacks %q:\n%s", line, list)
		}
	}
	e.Permissions().Remove(1)
	use(1, "WriteFile", `{"path":"new","content":"y\n"}`)

	// An answer about a deletion allows no edit.
	e = g.executor()
	use(1, "ApplyPatch", `{"patch":"*** Begin Patch\n*** Delete File: new\n*** End Patch\n"}`)
	use(1, "WriteFile", `{"path":"new","content":"z\n"}`)
}
