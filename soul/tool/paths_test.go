package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kimi-acp/fileop"
	"kimi-acp/fileop/facts"
	"kimi-acp/internal/policy"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// grounds is a workspace on disk beside a home and other files.
type grounds struct {
	t                   *testing.T
	root, home, outside string
	person              *person
	disk                *fileop.Disk
}

func newGrounds(t *testing.T, answer wire.Approval) *grounds {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &grounds{t: t, root: filepath.Join(top, "ws"), home: filepath.Join(top, "home"), outside: filepath.Join(top, "other"), person: &person{answer: answer}}
	for path, text := range map[string]string{
		g.root + "/plain": "plain\n", g.root + "/Makefile": "all:\n", g.root + "/.env": "KEY=topsecret\n", g.root + "/sub/inner": "inner\n", g.root + "/.kimi/x": "ours\n",
		g.outside + "/file": "beyond\n", g.outside + "/.netrc": "topsecret\n", top + "/ws-evil/file": "beside\n",
		g.home + "/.aws/credentials": "topsecret\n", g.home + "/.ssh/id_rsa": "topsecret\n", g.home + "/.bashrc": "rc\n", g.home + "/.own": "topsecret\n",
	} {
		path = filepath.FromSlash(path)
		for _, err := range []error{os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, target := range map[string]string{
		"link": g.outside + "/file", "dirlink": g.outside, "dangling": g.home + "/.none", "loop": "loop", "netrc": g.outside + "/.netrc",
		"aws": g.home + "/.aws", "inside": "sub", "alias": ".env", "magic": "/proc/self/root", "fdlink": "/proc/self/fd", "hooks": ".git",
	} {
		if err := os.Symlink(target, filepath.Join(g.root, name)); err != nil {
			t.Skip("links cannot be made here:", err)
		}
	}
	if err := os.Link(g.outside+"/file", g.root+"/hard"); err != nil {
		t.Skip("hard links cannot be made here:", err)
	}
	if g.disk, err = fileop.OpenDisk(g.root); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.disk.Close() })
	return g
}

func (g *grounds) executor(rules ...string) *tool.Executor {
	g.t.Helper()
	return g.executorAsking(g.person, rules...)
}

func (g *grounds) executorAsking(asker tool.Asker, rules ...string) *tool.Executor {
	g.t.Helper()
	layer := policy.Layer{Scope: policy.User, Name: "test"}
	for _, text := range rules {
		r, err := policy.ParseRule(text)
		if err != nil {
			g.t.Fatal(err)
		}
		layer.Rules = append(layer.Rules, r)
	}
	return tool.NewExecutor(tool.Options{
		Operator: fileop.New(fileop.Options{Disk: g.disk, Roots: []string{g.root}}),
		Asker:    asker, Cwd: g.root, Images: true,
		Guard: &tool.Guard{
			Engine:  func() (*policy.Engine, error) { return policy.New(policy.Options{Layers: []policy.Layer{layer}}) },
			Context: policy.Context{Roots: []string{g.root}, Home: g.home, Own: []string{g.home + "/.own"}, Trusted: true, Look: facts.Look},
		},
	})
}

// do calls a tool on a path; ROOT, HOME and OUT in it stand for the folders.
func (g *grounds) do(e *tool.Executor, verb, path string) wire.ToolReturnValue {
	g.t.Helper()
	path = strings.NewReplacer("ROOT", g.root, "HOME", g.home, "OUT", g.outside).Replace(path)
	name, args := "ReadFile", map[string]any{"path": path}
	switch verb {
	case "write":
		name, args["content"] = "WriteFile", "new\n"
	case "edit":
		name, args["edit"] = "StrReplaceFile", map[string]any{"old": "\n", "new": " x\n"}
	case "picture":
		name = "ReadMediaFile"
	case "grep":
		name, args["pattern"], args["output_mode"] = "Grep", ".", "content"
	case "glob":
		name, args = "Glob", map[string]any{"pattern": "*", "directory": path}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		g.t.Fatal(err)
	}
	text := string(raw)
	return e.CallTool(g.t.Context(), wire.ToolCallRequest{ID: "1", Name: name, Arguments: &text})
}

// TestPaths holds each file tool to what the rules say of a path: what is done
// without asking, what is asked for and how it is named, and what is refused.
func TestPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix; TestWindowsPaths of internal/policy has the others")
	}
	for _, c := range []struct{ verb, path, asked, says string }{
		// Without asking.
		{"read", "plain", "", "Read 1 line"},
		{"read", "inside/../plain", "", "Read 1 line"},
		{"read", "inside/inner", "", "Read 1 line"},
		{"read", "hard", "", "Read 1 line"},
		{"glob", "sub", "", "Found 1 path"},
		{"grep", "sub", "", "Found 1 matching"},

		// Outside of the workspace: asked for, by where it leads.
		{"read", "ROOT/../other/file", "Read file `OUT/file`", "Read 1 line"},
		{"read", "OUT/file", "Read file `OUT/file`", "Read 1 line"},
		{"read", "../ws-evil/file", "Read file `ROOT-evil/file`", "Read 1 line"},
		{"read", "link", "`ROOT/link`, which leads to `OUT/file`", "Read 1 line"},
		{"read", "dirlink/file", "which leads to `OUT/file`", "Read 1 line"},
		{"picture", "OUT/file", "Read file `OUT/file`", "text file"},
		{"picture", "link", "which leads to `OUT/file`", "text file"},
		{"read", "OUT/none", "Read file `OUT/none`", "not exist"},
		// Searches end at the roots.
		{"grep", "OUT", "", "outside the workspace"},
		{"grep", "link", "", "outside the workspace"},
		{"glob", "dirlink", "", "outside the workspace"},

		// What usually holds secrets is asked for, by whatever name.
		{"read", ".env", "it usually holds secrets", "Read 1 line"},
		{"read", "alias", "it usually holds secrets", "Read 1 line"},
		{"read", "netrc", "it holds passwords", "Read 1 line"},
		{"grep", "alias", "it usually holds secrets", "Found 1 matching"},
		{"picture", "alias", "it usually holds secrets", "text file"},
		{"edit", ".env", "it usually holds secrets", "Edited"},

		// Refused.
		{"read", "HOME/.aws/credentials", "", "it holds keys"},
		{"read", "HOME/.aws//credentials", "", "it holds keys"},
		{"read", "HOME/.AWS/credentials", "", "it holds keys"},
		{"read", "aws/credentials", "", "it holds keys"},
		{"picture", "aws/credentials", "", "it holds keys"},
		{"grep", "HOME/.ssh", "", "it holds keys"},
		{"grep", "aws", "", "it holds keys"},
		{"glob", "HOME/.ssh", "", "it holds keys"},
		{"read", "HOME/.own", "", "belongs to kimi-acp"},
		{"read", "~/.aws/credentials", "", "~ is not expanded"},
		{"read", "loop", "", "too many links"},
		{"read", "plain/x", "", "a part of the path is a file"},
		{"read", "/proc/self/environ", "", "what a process holds"},
		{"read", "/proc/self/root/etc/passwd", "", "what a process holds"},
		{"read", "/proc/self/fd/0", "", "what a process holds"},
		{"read", "magic/etc/passwd", "", "what a process holds"},
		{"read", "magic", "", "what a process holds"},
		{"read", "fdlink/1", "", "what a process holds"},
		{"read", "/dev/zero", "", "device"},
		{"picture", "/dev/zero", "", "device"},
		{"grep", "/dev", "", "outside the workspace"},
		{"read", "a\x00b", "", "NUL"},

		// Writing.
		{"write", "plain", "Write file `ROOT/plain`", "Replaced"},
		{"write", "new/deep/file", "Write file `ROOT/new/deep/file`", "Made the file"},
		{"edit", "inside/inner", "Edit file `ROOT/inside/inner`", "Edited"},
		{"write", "hard", "the file has more than one name", "Replaced"},
		{"write", ".git/hooks/pre-commit", "git runs what stands there", "Made the file"},
		{"write", ".git/config", "git runs what stands there", "Made the file"},
		{"write", "sub/mod/.git/hooks/post-checkout", "git runs what stands there", "Made the file"},
		{"write", ".GIT/config", "git runs what stands there", "Made the file"},
		{"write", ".vscode/settings.json", "the editor acts on it", "Made the file"},
		{"write", ".cursor/mcp.json", "an agent acts on it", "Made the file"},
		{"write", "x.code-workspace", "the editor acts on it", "Made the file"},
		{"edit", ".kimi/x", "an agent acts on it", "Edited"},
		{"write", ".envrc", "direnv runs it", "Made the file"},
		{"write", ".bashrc", "your shell runs it", "Made the file"},
		{"write", "Makefile", "Write file `ROOT/Makefile`", "Replaced"},
		{"write", "a\u202eb.txt", "Write file `ROOT/a\\u202eb.txt`", "Made the file"},
		// Out of the workspace nothing is written, whatever anybody answers.
		{"write", "link", "", "outside the workspace"},
		{"edit", "dirlink/file", "", "outside the workspace"},
		{"write", "dirlink/new/file", "", "outside the workspace"},
		{"write", "dangling", "", "outside the workspace"},
		{"write", "OUT/new", "", "outside the workspace"},
		{"write", "ROOT/../ws-evil/new", "", "outside the workspace"},
		{"write", "HOME/.bashrc", "", "outside the workspace"},
		{"write", "magic/tmp/x", "", "outside the workspace"},
		// What means something else on Windows.
		{"write", "CON", "", "device on Windows"},
		{"write", "sub/aux.txt", "", "device on Windows"},
		{"write", "plain:stream", "", "a stream on Windows"},
		{"write", "end.", "", "Windows takes away"},
		{"write", `C:\x`, "", "is a path of Windows"},
		{"write", `\\?\C:\x`, "", "names a device"},
		{"write", `sub\x`, "", "backslash"},
	} {
		t.Run(c.verb+" "+strings.ReplaceAll(c.path, "\x00", "0"), func(t *testing.T) {
			if strings.Contains(c.says, "what a process holds") && runtime.GOOS != "linux" {
				t.Skip("only Linux has /proc")
			}
			g := newGrounds(t, wire.ApprovalApprove)
			v := g.do(g.executor(), c.verb, c.path)
			var asked []string
			for _, r := range g.person.asked {
				asked = append(asked, strings.NewReplacer(g.root, "ROOT", g.home, "HOME", g.outside, "OUT").Replace(r.Description))
			}
			if c.asked == "" && len(asked) > 0 || c.asked != "" && (len(asked) != 1 || !strings.Contains(asked[0], c.asked)) {
				t.Errorf("asked %q, want %q", asked, c.asked)
			}
			if !strings.Contains(v.Message, c.says) {
				t.Errorf("it says %q, want %q", v.Message, c.says)
			}
			if c.asked == "" && strings.Contains(v.Output.Text+v.Message, "topsecret") {
				t.Errorf("it shows %q", v.Output.Text)
			}
			for name, want := range map[string]string{"/file": "beyond\n", "/.netrc": "topsecret\n"} {
				if text, err := os.ReadFile(g.outside + name); err != nil || string(text) != want {
					t.Errorf("outside, %s is %q, %v", name, text, err)
				}
			}
		})
	}
}

// TestPathRules: what the user said of files holds for every tool.
func TestPathRules(t *testing.T) {
	for _, c := range []struct {
		rules      []string
		verb, path string
		asked      int
		says       string
	}{
		{[]string{"deny read .env"}, "read", ".env", 0, "a rule says so"},
		{[]string{"deny read .env"}, "read", "alias", 0, "a rule says so"},
		{[]string{"deny read .env"}, "grep", "alias", 0, "a rule says so"},
		{[]string{"deny read .env"}, "picture", "alias", 0, "a rule says so"},
		{[]string{"deny read .env"}, "edit", "alias", 0, "a rule says so"},
		{[]string{"deny edit sub/**"}, "write", "inside/inner", 0, "a rule says so"},
		{[]string{"deny read sub/"}, "glob", "inside", 0, "a rule says so"},
		{[]string{"allow edit sub/**"}, "write", "sub/inner", 0, "Replaced"},
		{[]string{"allow edit sub/**"}, "write", "other/sub/inner", 1, "Made the file"},
		{[]string{"allow edit **"}, "write", ".git/config", 1, "Made the file"},
	} {
		g := newGrounds(t, wire.ApprovalApprove)
		v := g.do(g.executor(c.rules...), c.verb, c.path)
		if len(g.person.asked) != c.asked || !strings.Contains(v.Message, c.says) {
			t.Errorf("%q, %s %s: asked %d times, %q", c.rules, c.verb, c.path, len(g.person.asked), v.Message)
		}
	}
}

// TestFloorsAskInEveryMode: what the rules call a floor is asked for where nothing
// else is.
func TestFloorsAskInEveryMode(t *testing.T) {
	for _, c := range []struct {
		mode       tool.Mode
		verb, path string
		asked      int
	}{
		{tool.ModeYolo, "write", "plain", 0},
		{tool.ModeYolo, "write", "Makefile", 0},
		{tool.ModeYolo, "read", "OUT/file", 0},
		{tool.ModeYolo, "read", ".env", 0},
		{tool.ModeYolo, "write", ".git/hooks/pre-commit", 1},
		{tool.ModeYolo, "write", ".vscode/tasks.json", 1},
		{tool.ModeAcceptEdits, "write", "plain", 0},
		{tool.ModeAcceptEdits, "write", "Makefile", 1},
		{tool.ModeAcceptEdits, "write", "hard", 1},
		{tool.ModeAcceptEdits, "write", ".env", 1},
		{tool.ModeAcceptEdits, "write", ".git/config", 1},
		{tool.ModeAcceptEdits, "read", "OUT/file", 1},
		{tool.ModePlan, "read", "OUT/file", 1},
	} {
		g := newGrounds(t, wire.ApprovalApprove)
		e := g.executor()
		if err := e.SetMode(c.mode); err != nil {
			t.Fatal(err)
		}
		if v := g.do(e, c.verb, c.path); v.IsError || len(g.person.asked) != c.asked {
			t.Errorf("%s: %s %s: asked %d times, want %d: %s", c.mode, c.verb, c.path, len(g.person.asked), c.asked, v.Message)
		}
	}
}

// TestRulesThatCannotBeUsed: then everything asks, and searches do not run.
func TestRulesThatCannotBeUsed(t *testing.T) {
	g := newGrounds(t, wire.ApprovalReject)
	e := tool.NewExecutor(tool.Options{
		Operator: fileop.New(fileop.Options{Disk: g.disk, Roots: []string{g.root}}), Asker: g.person, Cwd: g.root,
		Guard: &tool.Guard{Engine: func() (*policy.Engine, error) { return nil, errors.New("line 3") }},
	})
	if err := e.SetMode(tool.ModeYolo); err != nil {
		t.Fatal(err)
	}
	for i, verb := range []string{"read", "write", "edit"} {
		if v := g.do(e, verb, "plain"); !v.Rejected || len(g.person.asked) != i+1 || !strings.Contains(g.person.asked[i].Description, "the rules cannot be used: line 3") {
			t.Errorf("%s: %+v, asked %v", verb, v, g.person.asked)
		}
	}
	if v := g.do(e, "grep", "."); !v.IsError || !strings.Contains(v.Message, "the rules cannot be used") {
		t.Errorf("grep: %+v", v)
	}
}

// swapper exchanges a folder for a link when it is asked, and says yes.
type swapper struct {
	person
	swap func()
}

func (s *swapper) Approve(ctx context.Context, r wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	if s.swap != nil {
		s.swap()
		s.swap = nil
	}
	return s.person.Approve(ctx, r)
}

// TestSwappedMeanwhile: a folder or a file that becomes a link between the question and
// the act leads nowhere.
func TestSwappedMeanwhile(t *testing.T) {
	for _, c := range []struct{ verb, path, swapped, target string }{
		{"write", "sub/file", "sub", "OUT"},
		{"edit", "sub/inner", "sub", "OUT"},
		{"write", ".git/config", ".git", "OUT"},
		{"write", "plain", "plain", "OUT/file"},
		{"read", ".env", ".env", "OUT/.netrc"},
		{"read", "OUT/file", "OUT/file", "OUT/.netrc"},
	} {
		t.Run(c.verb+" "+c.path, func(t *testing.T) {
			g := newGrounds(t, wire.ApprovalApprove)
			in := func(path string) string {
				path = strings.NewReplacer("OUT", g.outside).Replace(path)
				if !filepath.IsAbs(path) {
					path = filepath.Join(g.root, path)
				}
				return path
			}
			s := &swapper{person: person{answer: wire.ApprovalApprove}}
			s.swap = func() {
				for _, err := range []error{os.RemoveAll(in(c.swapped)), os.Symlink(in(c.target), in(c.swapped))} {
					if err != nil {
						t.Error(err)
					}
				}
			}
			e := g.executorAsking(s)
			if err := os.WriteFile(g.outside+"/inner", []byte("inner\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			v := g.do(e, c.verb, c.path)
			if !v.IsError || strings.Contains(v.Output.Text, "topsecret") {
				t.Errorf("%s: %q", v.Message, v.Output.Text)
			}
			entries, err := os.ReadDir(g.outside)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(g.outside + "/inner"); err != nil || string(text) != "inner\n" || len(entries) != 3 {
				t.Errorf("outside there is %v, %q, %v", entries, text, err)
			}
		})
	}
}
