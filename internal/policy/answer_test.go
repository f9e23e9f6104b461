package policy

import (
	"slices"
	"strings"
	"testing"
)

func rule(t testing.TB, line string) Rule {
	t.Helper()
	r, err := ParseRule(line)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestKeys(t *testing.T) {
	e := engine(t, Options{})
	tests := []struct {
		cmd, key string
		lasts    Scope
	}{
		{"npm test", "allow shell npm test", Project},
		{"cd src && npm test", "allow shell npm test", Project},
		{"npm run lint -- --quiet", "allow shell npm run lint", Project},
		{"npm install", "allow exact npm install", Session},
		{"npm install left-pad", "allow exact npm install left-pad", Session},
		{"cargo build --release", "allow shell cargo build", Project},
		{"pytest -x", "allow shell pytest", Project},
		{"git commit -m 'a b'", "allow shell git commit", Session},
		{"git push origin main", "allow exact git push origin main", Session},
		{"git config user.name x", "allow exact git config user.name x", Session},
		{"mkdir -p build", "allow exact mkdir -p build", Session},
		{"touch 'a b|c'", "allow exact touch 'a b|c'", Session},
		{"npm test && cargo test", "allow shell npm test\nallow shell cargo test", Project},
		{"npm test && mkdir x", "allow shell npm test\nallow exact mkdir x", Session},
		{"ls > out.txt", "allow edit /project/out.txt", Project},
		{"cat /etc/hosts", "allow read /etc/hosts", Session},
		{"bash -c ls", "", Once},
		{"sudo ls", "", Once},
		{"find . -delete", "", Once},
		{"docker ps", "", Once},
		{"make test", "", Once},
		{"npx tsc", "", Once},
		{"npm exec x", "", Once},
		{"ssh host", "", Once},
		{"env X=y npm test", "", Once},
		{"npm test $X", "", Once},
		{"npm test; bash x", "", Once},
		{"./x", "", Once},
		{"a; b; c; d; e", "", Once},
		{"ls", "", Once},
	}
	for _, tt := range tests {
		t.Run(tt.cmd, func(t *testing.T) {
			v := e.Shell(tt.cmd, project())
			if v.Key != tt.key || v.Lasts != tt.lasts || (v.Key == "") != (v.Scope == "") || (v.Key != "") != (v.Decision == Ask) {
				t.Errorf("%s: key %q, lasts %s, scope %q; want %q, %s", v.Decision, v.Key, v.Lasts, v.Scope, tt.key, tt.lasts)
			}
			if v.Key != "" {
				answered(t, e, v, func(e *Engine) Verdict { return e.Shell(tt.cmd, project()) })
			}
		})
	}
}

// answered checks that a lasting answer is one: what was asked for is allowed then.
func answered(t *testing.T, e *Engine, v Verdict, again func(*Engine) Verdict) {
	t.Helper()
	rules, err := ParseRules(v.Key)
	if err != nil {
		t.Fatalf("key %q: %v", v.Key, err)
	}
	after, err := e.With(Session, rules...)
	if err != nil {
		t.Fatal(err)
	}
	if w := again(after); w.Decision != Allow {
		t.Errorf("asked again after the answer %q: %s (%s)", v.Key, w.Decision, w.Reason)
	}
}

// Every key of every list is an answer that holds, and that allows nothing of the
// attacks that were not asked for by it.
func TestKeysHold(t *testing.T) {
	e := engine(t, Options{})
	for _, cmd := range slices.Concat(readList(t, "attacks.txt"), readList(t, "build.txt")) {
		for _, c := range []Context{project(), {Roots: []string{"/project"}, Home: "/home/you"}} {
			if v := e.Shell(cmd, c); v.Key != "" {
				answered(t, e, v, func(e *Engine) Verdict { return e.Shell(cmd, c) })
			}
		}
	}
}

func TestAnswersDoNotReachFurther(t *testing.T) {
	tests := []struct {
		answer string
		cmds   []string
	}{
		{"allow shell npm test", []string{"npm testx", "npm test; rm x", "npm test $(touch x)", "npm test > /etc/x", "npm test --script-shell=./x", "PATH=. npm test", "./npm test", "npm  publish"}},
		{"allow shell git commit", []string{"git push", "git commit-tree x", "git -c core.editor=./x commit", "git -C /tmp commit", "git commit --gpg-sign"}},
		{"allow shell git fetch", []string{"git fetch --upload-pack=./x", "git fetch ext::sh", "git fetch --upload=./x"}},
		{"allow exact rm -rf build", []string{"rm -rf build x", "cd src && rm -rf build", "rm -rf ./build", "rm -rf b*"}},
		{"allow shell cargo test", []string{"cargo test --config x", "cargo test --manifest-path=/x"}},
		{"allow shell go test", []string{"go test -exec ./x", "go test --exec=./x", "go test -toolexec=./x"}},
		{"allow edit **", []string{"echo x > .git/config", "echo x > .vscode/settings.json", "echo x > Makefile", "echo x > ../x"}},
	}
	for _, tt := range tests {
		e, err := engine(t, Options{}).With(Session, rule(t, tt.answer))
		if err != nil {
			t.Fatal(err)
		}
		for _, cmd := range tt.cmds {
			if v := e.Shell(cmd, project()); v.Decision == Allow {
				t.Errorf("after %q, %q is allowed by %s", tt.answer, cmd, v.Rule)
			}
		}
	}
}

func TestScopes(t *testing.T) {
	test := rule(t, "allow shell npm test")
	untrusted := project()
	untrusted.Trusted = false
	for scope, want := range map[Scope][2]Decision{
		Session: {Allow, Allow}, Project: {Allow, Ask}, User: {Allow, Ask}, Repository: {Ask, Ask},
	} {
		e := engine(t, Options{Layers: []Layer{{Scope: scope, Rules: []Rule{test}}}})
		got := [2]Decision{e.Shell("npm test", project()).Decision, e.Shell("npm test", untrusted).Decision}
		if got != want {
			t.Errorf("%s: %v, want %v", scope, got, want)
		}
	}
	e := engine(t, Options{Layers: []Layer{
		{Scope: User, Rules: []Rule{test, rule(t, "allow read ~/.aws/config"), rule(t, "allow edit docs/**")}},
		{Scope: Repository, Rules: []Rule{rule(t, "deny shell npm test -- --all"), rule(t, "ask edit docs/law/**"), rule(t, "allow shell rm")}},
	}})
	if got := e.Ignored(); len(got) != 1 || got[0] != "allow shell rm" {
		t.Errorf("ignored %q", got)
	}
	for what, got := range map[string]Decision{
		"a repository denies":                       e.Shell("npm test -- --all", project()).Decision - Deny,
		"what it does not speak of stays":           e.Shell("npm test", project()).Decision - Allow,
		"a repository asks":                         e.Write(PathFacts{Path: "docs/law/x"}, project()).Decision - AskOnce,
		"the user allows edits":                     e.Write(PathFacts{Path: "docs/x"}, project()).Decision - Allow,
		"the user opens one file of the ready set":  e.Read(PathFacts{Path: "~/.aws/config"}, project()).Decision - Allow,
		"and no other":                              e.Read(PathFacts{Path: "~/.aws/credentials"}, project()).Decision - Deny,
		"an untrusted workspace asks for git":       e.Shell("git status", untrusted).Decision - Ask,
		"an untrusted workspace lets one look":      e.Shell("ls && cat a | grep b", untrusted).Decision - Allow,
		"an untrusted workspace runs no tool":       e.Shell("go version", untrusted).Decision - Ask,
		"a variable of the build set needs the set": e.Shell("CI=1 ls", project()).Decision - AskOnce,
	} {
		if got != 0 {
			t.Errorf("%s: not so", what)
		}
	}
	if v := e.Shell("git status", untrusted); !strings.Contains(v.Reason, "not trusted") {
		t.Errorf("reason %q", v.Reason)
	}
}

func TestModes(t *testing.T) {
	e := engine(t, Options{Layers: []Layer{{Scope: User, Rules: []Rule{rule(t, "allow shell npm test"), rule(t, "ask shell git push")}}}})
	actions := map[string]func(Context) Verdict{
		"look":           func(c Context) Verdict { return e.Shell("ls", c) },
		"read outside":   func(c Context) Verdict { return e.Shell("cat /etc/hosts", c) },
		"ruled command":  func(c Context) Verdict { return e.Shell("npm test", c) },
		"command":        func(c Context) Verdict { return e.Shell("touch x", c) },
		"interpreter":    func(c Context) Verdict { return e.Shell("python3 x.py", c) },
		"asked by rule":  func(c Context) Verdict { return e.Shell("git push", c) },
		"hidden":         func(c Context) Verdict { return e.Shell("ls \u200b", c) },
		"catastrophe":    func(c Context) Verdict { return e.Shell("rm -rf /", c) },
		"edit":           func(c Context) Verdict { return e.Write(PathFacts{Path: "a.go"}, c) },
		"edit that runs": func(c Context) Verdict { return e.Write(PathFacts{Path: "Makefile"}, c) },
		"protected edit": func(c Context) Verdict { return e.Write(PathFacts{Path: ".git/config"}, c) },
		"edit outside":   func(c Context) Verdict { return e.Write(PathFacts{Path: "/tmp/x"}, c) },
		"secret":         func(c Context) Verdict { return e.Read(PathFacts{Path: ".env"}, c) },
		"key":            func(c Context) Verdict { return e.Read(PathFacts{Path: "~/.ssh/id_rsa"}, c) },
		"fetch":          func(c Context) Verdict { return e.Fetch("https://e.example/", c) },
		"tool":           func(c Context) Verdict { return e.MCP("srv", "tool", c) },
	}
	auto, untrusted := project(), project()
	auto.Sandboxed, untrusted.Trusted = true, false
	tests := []struct {
		action string
		// default, accept-edits, plan, auto without and with a sandbox, yolo, yolo
		// in a workspace that is not trusted
		want [7]Decision
	}{
		{"look", [7]Decision{Allow, Allow, Allow, Allow, Allow, Allow, Allow}},
		{"read outside", [7]Decision{Ask, Ask, Ask, Ask, Ask, Allow, Ask}},
		{"ruled command", [7]Decision{Allow, Allow, Deny, Allow, Allow, Allow, Ask}},
		{"command", [7]Decision{Ask, Ask, Deny, Ask, Allow, Allow, Ask}},
		{"interpreter", [7]Decision{AskOnce, AskOnce, Deny, AskOnce, Allow, Allow, AskOnce}},
		{"asked by rule", [7]Decision{AskOnce, AskOnce, Deny, AskOnce, AskOnce, AskOnce, AskOnce}},
		{"hidden", [7]Decision{AskOnce, AskOnce, Deny, AskOnce, AskOnce, AskOnce, AskOnce}},
		{"catastrophe", [7]Decision{Deny, Deny, Deny, Deny, Deny, Deny, Deny}},
		{"edit", [7]Decision{Ask, Allow, Deny, Ask, Allow, Allow, Ask}},
		{"edit that runs", [7]Decision{Ask, Ask, Deny, Ask, Ask, Allow, Ask}},
		{"protected edit", [7]Decision{AskOnce, AskOnce, Deny, AskOnce, AskOnce, AskOnce, AskOnce}},
		{"edit outside", [7]Decision{AskOnce, AskOnce, Deny, AskOnce, AskOnce, Allow, AskOnce}},
		{"secret", [7]Decision{AskOnce, AskOnce, AskOnce, AskOnce, AskOnce, Allow, AskOnce}},
		{"key", [7]Decision{Deny, Deny, Deny, Deny, Deny, Deny, Deny}},
		{"fetch", [7]Decision{Ask, Ask, Ask, Ask, Ask, Allow, Ask}},
		{"tool", [7]Decision{Ask, Ask, Deny, Ask, Allow, Allow, Ask}},
	}
	for _, tt := range tests {
		for i, in := range []struct {
			c    Context
			mode Mode
		}{{project(), ModeDefault}, {project(), ModeAcceptEdits}, {project(), ModePlan}, {project(), ModeAuto}, {auto, ModeAuto}, {project(), ModeYolo}, {untrusted, ModeYolo}} {
			in.c.Mode = in.mode
			if v := actions[tt.action](in.c); v.Decision != tt.want[i] {
				t.Errorf("%s, %s (%d): %s by %s (%s), want %s", tt.action, in.mode, i, v.Decision, v.Rule, v.Reason, tt.want[i])
			}
		}
	}
	if _, err := ParseMode("bypass"); err == nil {
		t.Error("a mode that there is not is taken")
	}
}
