package policycmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command runs kimi-acp policy and gives what it printed.
func command(t *testing.T, want int, args ...string) (out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	home := t.TempDir()
	if got := Run(args, Options{Out: &o, Err: &e, Home: home, Own: []string{filepath.Join(home, ".kimi")}}); got != want {
		t.Errorf("%q exits with %d, want %d\n%s%s", args, got, want, &o, &e)
	}
	return o.String(), e.String()
}

func TestCases(t *testing.T) {
	out, _ := command(t, 0, "test", "testdata/cases.jsonl")
	if !strings.HasPrefix(out, "333 cases judged: 333 as wanted, 0 false allows, 0 needless prompts, 0 other mismatches\n") {
		t.Error(out)
	}
}

// Cases that wish for something else are found and told apart.
func TestCasesThatFail(t *testing.T) {
	out, _ := command(t, 1, "test", "testdata/failing.jsonl")
	want, err := os.ReadFile("testdata/failing.golden")
	if err != nil {
		t.Fatal(err)
	}
	if out != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

func TestCasesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.jsonl")
	if err := os.WriteFile(broken, []byte("\n{\"id\":\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := command(t, 2, "test", broken); !strings.Contains(errs, "line 2 is no case") {
		t.Error(errs)
	}
	if _, errs := command(t, 2, "test", filepath.Join(dir, "none")); !strings.Contains(errs, "reading the cases") {
		t.Error(errs)
	}
}

func TestExplain(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--shell", "ls"}, "decision  allow\nreason    nothing in it needs an answer\nrule      allow shell ls\nshown     ls\n"},
		{[]string{"--shell", "npm test && ls"}, "decision  ask\nreason    no rule allows it\nrule      command\ncovers    allow shell npm test\nshown     npm test\nshown     ls\n"},
		{[]string{"--shell", "npm test", "--set", "inspect,build"}, "decision  allow\nreason    nothing in it needs an answer\nrule      allow shell npm test|t|tst|ci-test\nshown     npm test\n"},
		{[]string{"--shell", "git status", "--untrusted"}, "decision  ask\nreason    the workspace is not trusted to run its own code\nrule      trust\ncovers    allow shell git status\nshown     git status\n"},
		{[]string{"--read", "/etc/hosts", "--json"}, `{"decision":"ask","reason":"it reads outside the workspace: /etc/hosts","rule":"outside","covers":"allow read /etc/hosts","lasts":"session","shown":["/etc/hosts"]}` + "\n"},
		{[]string{"--write", ".git/config", "--json"}, `{"decision":"ask-once","reason":"DIR/.git/config: git runs what stands there","rule":"ask-once edit **/.git/**","shown":["DIR/.git/config"]}` + "\n"},
		{[]string{"--write", "a", "--mode", "plan"}, "decision  deny\nreason    plan mode changes nothing and runs only what reads\nrule      mode plan\nshown     DIR/a\n"},
		{[]string{"--fetch", "http://169.254.169.254/"}, "decision  deny\nreason    169.254.169.254 hands out the keys of a machine\nrule      metadata\nshown     http://169.254.169.254/\n"},
		{[]string{"--mcp", "srv/tool"}, "decision  ask\nreason    a tool of the MCP server srv can do whatever the server can\nrule      tool\ncovers    allow mcp srv/tool\nshown     srv/tool\n"},
	}
	for _, tt := range tests {
		out, _ := command(t, 0, append([]string{"explain", "--workspace", dir}, tt.args...)...)
		if want := strings.ReplaceAll(tt.want, "DIR", dir); out != want {
			t.Errorf("%q:\n%s\nwant\n%s", tt.args, out, want)
		}
	}
}

func TestExplainLooksAtTheDisk(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	// The folders themselves may stand behind links.
	dir, err1 := filepath.EvalSymlinks(dir)
	outside, err2 := filepath.EvalSymlinks(outside)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	secret := filepath.Join(outside, "f")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": secret, "dir": outside, "new": filepath.Join(outside, "none"), "loop": "loop", "here": ".", "chain": "new"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("links cannot be made here:", err)
		}
	}
	if err := os.Link(secret, filepath.Join(dir, "hard")); err != nil {
		t.Skip("hard links cannot be made here:", err)
	}
	for _, tt := range []struct{ action, arg, decision string }{
		{"--read", "link", "ask"},
		{"--write", "link", "deny"},
		{"--write", "dir/x", "deny"},
		{"--write", "dir/a/b", "deny"},
		{"--write", "new", "deny"},
		{"--write", "chain", "deny"},
		{"--read", "loop", "deny"},
		{"--read", "hard", "allow"},
		{"--write", "hard", "ask-once"},
		{"--write", "plain/new", "ask"},
		{"--read", "here/../x", "ask"},
		{"--shell", "cat link", "ask"},
		{"--shell", "cat hard", "allow"},
		{"--shell", "cat dir/../f", "ask"},
		{"--shell", "cd here && cat ../f", "ask"},
		{"--shell", "echo x > dir/f", "deny"},
		{"--read", "~/.ssh/id_rsa", "deny"},
		{"--read", "~/.kimi/x", "deny"},
	} {
		out, _ := command(t, 0, "explain", "--json", "--workspace", dir, tt.action, tt.arg)
		var got struct{ Decision, Reason string }
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Decision != tt.decision {
			t.Errorf("%s %s: %s, want %s", tt.action, tt.arg, out, tt.decision)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want int
		text string
	}{
		{nil, 2, "Usage"},
		{[]string{"help"}, 0, "Usage"},
		{[]string{"nonsense"}, 2, "there is no command"},
		{[]string{"test"}, 2, "Usage"},
		{[]string{"explain"}, 2, "name one action"},
		{[]string{"explain", "-h"}, 0, "Usage"},
		{[]string{"explain", "--nonsense"}, 2, "not defined"},
		{[]string{"explain", "--shell", "a", "--read", "b"}, 2, "name one action"},
		{[]string{"explain", "--shell", "a", "b"}, 2, "left over"},
		{[]string{"explain", "--shell", "a", "--trusted", "--untrusted"}, 2, "contradict"},
		{[]string{"explain", "--shell", "a", "--mode", "x"}, 2, "there is no mode"},
		{[]string{"explain", "--shell", "a", "--set", "x"}, 2, "no ready set"},
	} {
		if out, errs := command(t, tt.want, tt.args...); !strings.Contains(out+errs, tt.text) {
			t.Errorf("%q: %s%s, want %q", tt.args, out, errs, tt.text)
		}
	}
}

func TestParseWant(t *testing.T) {
	for text, want := range map[string]string{
		"ALLOW":                             "[allow]",
		"ASK":                               "[ask ask-once]",
		"ASK (write)":                       "[ask ask-once]",
		"ASK-NOALWAYS(protected path)":      "[ask-once]",
		"DENY or ASK-NOALWAYS(protected)":   "[deny ask-once]",
		"ASK; deny rule [x] must still hit": "[ask ask-once]",
		"ASK-NOALWAYS(too long) in <50 ms":  "[ask-once]",
		"refused, file outside untouched":   "[deny]",
		"works; shown with \\u202e escaped": "[allow]",
		"clean ELOOP error":                 "[deny]",
		"read allowed, write ASK 'two'":     "[allow]",
		"not executed, asked again":         "",
		"each answer applies":               "",
		"b changes, a stays a link":         "",
		"whole archive refused":             "",
		"shown as ASK":                      "",
	} {
		w, ok := parseWant(text)
		var got string
		if ok {
			var words []string
			for _, d := range w.any {
				words = append(words, d.String())
			}
			got = "[" + strings.Join(words, " ") + "]"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
