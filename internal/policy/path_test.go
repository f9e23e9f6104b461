package policy

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	e := engine(t, Options{})
	tests := []struct {
		name  string
		facts PathFacts
		want  Decision
		shown string // what the user sees
	}{
		{"in the workspace", PathFacts{Path: "src/a.go"}, Allow, "/project/src/a.go"},
		{"by the whole path", PathFacts{Path: "/project/a"}, Allow, "/project/a"},
		{"the root", PathFacts{Path: "."}, Allow, "/project"},
		{"up and down again", PathFacts{Path: "src/../b"}, Allow, "/project/b"},
		{"a folder beside the root", PathFacts{Path: "/project-evil/a"}, Ask, "/project-evil/a"},
		{"out of the root", PathFacts{Path: "/project/../etc/passwd"}, Ask, "/etc/passwd"},
		{"relative, out of the root", PathFacts{Path: "../x"}, Ask, "/x"},
		{"home", PathFacts{Path: "~/notes"}, Ask, "/home/you/notes"},
		{"a link out", PathFacts{Path: "link", Real: "/etc/passwd"}, Ask, "/project/link → /etc/passwd"},
		{"a link in", PathFacts{Path: "/alias/a", Real: "/project/a"}, Allow, "/alias/a → /project/a"},
		{"a link to a key", PathFacts{Path: "ok", Real: "/home/you/.aws/credentials"}, Deny, "/project/ok → /home/you/.aws/credentials"},
		{"a link by the name of a secret", PathFacts{Path: ".env", Real: "/project/plain"}, AskOnce, ""},
		{"a link that cannot be followed", PathFacts{Path: "loop", Failed: true}, Deny, "/project/loop"},
		{"keys", PathFacts{Path: "~/.ssh/id_rsa"}, Deny, ""},
		{"a public key", PathFacts{Path: "~/.ssh/id_rsa.pub"}, AskOnce, ""},
		{"keys, by another case", PathFacts{Path: "/home/you/.AWS/Credentials"}, Deny, ""},
		{"keys, by a detour", PathFacts{Path: "~/.aws/../.aws//credentials"}, Deny, ""},
		{"keys, with characters not seen", PathFacts{Path: "/home/you/.a\u200bws/credentials"}, Deny, ""},
		{"a folder of keys", PathFacts{Path: "~/.aws/"}, Deny, ""},
		{"env", PathFacts{Path: ".env"}, AskOnce, ""},
		{"env of production", PathFacts{Path: "api/.env.production"}, AskOnce, ""},
		{"an example of env", PathFacts{Path: ".env.example"}, Allow, ""},
		{"a certificate", PathFacts{Path: "certs/server.pem"}, AskOnce, ""},
		{"the environment of a process", PathFacts{Path: "/proc/self/environ"}, Deny, ""},
		{"through a door of a process", PathFacts{Path: "magic/etc/passwd", Real: "/proc/self/root/etc/passwd"}, Deny, ""},
		{"numbers of the kernel", PathFacts{Path: "/proc/cpuinfo"}, Ask, ""},
		{"a device", PathFacts{Path: "/dev/zero"}, Deny, ""},
		{"nothing's device", PathFacts{Path: "/dev/null"}, Allow, ""},
		{"a pipe", PathFacts{Path: "pipe", Kind: Special}, Deny, ""},
		{"a hard link", PathFacts{Path: "hard", Kind: Regular, Links: 2}, Allow, ""},
		{"ours", PathFacts{Path: "~/.kimi/acp.toml"}, Deny, ""},
		{"ours, by a link", PathFacts{Path: "x", Real: "/home/you/.kimi/acp/key"}, Deny, ""},
		{"nothing", PathFacts{}, Deny, ""},
		{"NUL", PathFacts{Path: "a\x00b"}, Deny, `/project/a\x00b`},
		{"too long", PathFacts{Path: strings.Repeat("a/", 5000)}, Deny, ""},
		{"turned around", PathFacts{Path: "\u202egnp.exe.txt"}, Allow, `/project/\u202egnp.exe.txt`},
		{"what Windows takes for a device", PathFacts{Path: "aux.c"}, Allow, ""},
		{"Windows: around the rules", PathFacts{Path: `\\?\C:\x`}, Deny, ""},
		{"Windows: around the rules, by the kernel's name", PathFacts{Path: `\??\C:\x`}, Deny, ""},
		{"Windows: another machine", PathFacts{Path: `\\server\share\x`}, Deny, ""},
		{"Windows: a drive", PathFacts{Path: `C:\x`}, Deny, ""},
		{"Windows: a drive with slashes", PathFacts{Path: "c:/x"}, Deny, ""},
		{"passwords of databases", PathFacts{Path: "sub/.pgpass"}, AskOnce, ""},
		{"secrets by their name", PathFacts{Path: "config/secrets.yml"}, AskOnce, ""},
		{"the state of terraform", PathFacts{Path: "terraform.tfstate.backup"}, AskOnce, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, e.Read(tt.facts, project()), tt.want, tt.shown) })
	}
}

func check(t *testing.T, v Verdict, want Decision, shown string) {
	t.Helper()
	if v.Decision != want {
		t.Errorf("%s by %s (%s), want %s", v.Decision, v.Rule, v.Reason, want)
	}
	if len(v.Parts) != 1 || shown != "" && v.Parts[0].Text != shown {
		t.Errorf("shown as %+v, want %q", v.Parts, shown)
	}
	if want != Allow && v.Reason == "" {
		t.Error("no reason is given")
	}
}

func TestWrite(t *testing.T) {
	e := engine(t, Options{})
	tests := []struct {
		name  string
		facts PathFacts
		want  Decision
	}{
		{"in the workspace", PathFacts{Path: "src/a.go"}, Ask},
		{"outside", PathFacts{Path: "/tmp/x"}, AskOnce},
		{"beside the root", PathFacts{Path: "/project-evil/x"}, AskOnce},
		{"through a linked folder", PathFacts{Path: "dir/new.txt", Real: "/tmp/new.txt"}, Deny},
		{"through a link to nothing", PathFacts{Path: "dangling", Real: "/home/you/.bashrc"}, Deny},
		{"through a link in the workspace", PathFacts{Path: "a", Real: "/project/b"}, Ask},
		{"through a link into .git", PathFacts{Path: "a", Real: "/project/.git/config"}, AskOnce},
		{"a hard link", PathFacts{Path: "hard", Kind: Regular, Links: 2}, AskOnce},
		{"git", PathFacts{Path: ".git/config"}, AskOnce},
		{"git, anywhere", PathFacts{Path: "a/b/.git/hooks/post-checkout"}, AskOnce},
		{"git, by case", PathFacts{Path: ".GIT/config"}, AskOnce},
		{"git, by its short name", PathFacts{Path: "GIT~1/config"}, AskOnce},
		{"git, with characters not seen", PathFacts{Path: ".g\u200cit/config"}, AskOnce},
		{"git, as a file", PathFacts{Path: "sub/.git"}, AskOnce},
		{"git, by a dot", PathFacts{Path: ".git./config", Kind: Regular}, AskOnce},
		{"an editor's settings, that there are not yet", PathFacts{Path: ".vscode/settings.json", Kind: Missing}, AskOnce},
		{"an editor's workspace", PathFacts{Path: "x.code-workspace"}, AskOnce},
		{"an agent's", PathFacts{Path: ".cursor/mcp.json"}, AskOnce},
		{"an agent's, by another letter", PathFacts{Path: ".\u212aimi/mcp.json"}, AskOnce},
		{"a shell's", PathFacts{Path: "~/.zshrc"}, AskOnce},
		{"direnv's", PathFacts{Path: ".envrc"}, AskOnce},
		{"npm's", PathFacts{Path: "web/.npmrc"}, AskOnce},
		{"keys", PathFacts{Path: "~/.ssh/authorized_keys"}, AskOnce},
		{"the system", PathFacts{Path: "/etc/hosts"}, AskOnce},
		{"what runs later", PathFacts{Path: "Makefile"}, Ask},
		{"env", PathFacts{Path: ".env"}, Ask},
		{"a device", PathFacts{Path: "/dev/sda"}, Deny},
		{"ours", PathFacts{Path: "~/.kimi/acp.toml"}, Deny},
		{"Windows: a device", PathFacts{Path: "CON"}, Deny},
		{"Windows: a device with an ending", PathFacts{Path: "sub/com1.txt", Kind: Missing}, Deny},
		{"Windows: such a file exists", PathFacts{Path: "aux.c", Kind: Regular}, AskOnce},
		{"Windows: a stream", PathFacts{Path: "a.txt:evil"}, Deny},
		{"Windows: a stream of git", PathFacts{Path: ".git::$INDEX_ALLOCATION/config"}, Deny},
		{"Windows: a dot at the end", PathFacts{Path: "a.txt."}, Deny},
		{"Windows: a blank at the end", PathFacts{Path: "a.txt "}, Deny},
		{"Windows: around the rules", PathFacts{Path: `\\?\C:\x`}, Deny},
		{"Windows: a device path", PathFacts{Path: `\\.\PhysicalDrive0`}, Deny},
		{"Windows: the kernel's path", PathFacts{Path: `\??\C:\x`}, Deny},
		{"Windows: a drive", PathFacts{Path: `C:\x`}, Deny},
		{"Windows: a backslash", PathFacts{Path: `..\x`}, Deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, e.Write(tt.facts, project()), tt.want, "") })
	}
	c := project()
	c.Mode = ModeAcceptEdits
	for _, tt := range tests {
		want := tt.want
		if want == Ask && tt.facts.Path != "Makefile" {
			want = Allow
		}
		if v := e.Write(tt.facts, c); v.Decision != want {
			t.Errorf("accept-edits, %s: %s, want %s", tt.name, v.Decision, want)
		}
	}
}

func TestWindowsPaths(t *testing.T) {
	e := engine(t, Options{})
	c := Context{Roots: []string{`C:\work`}, Home: `C:\Users\you`, Trusted: true, Windows: true, Own: []string{`C:\Users\you\.kimi`}}
	tests := []struct {
		path        string
		read, write Decision
	}{
		{`src\a.go`, Allow, Ask},
		{`C:\work\a`, Allow, Ask},
		{`c:/WORK/a`, Allow, Ask},
		{`/c/work/a`, Allow, Ask},
		{`/cygdrive/c/work/a`, Allow, Ask},
		{`C:\work-evil\a`, Ask, AskOnce},
		{`..\x`, Ask, AskOnce},
		{`D:\x`, Ask, AskOnce},
		{`C:x`, Deny, Deny},
		{`\\server\share\x`, Deny, Deny},
		{`//server/share/x`, Deny, Deny},
		{`\\?\C:\work\a`, Deny, Deny},
		{`a:stream`, Deny, Deny},
		{`NUL`, Deny, Deny},
		{`nul.txt`, Deny, Deny},
		{`COM¹`, Deny, Deny},
		{`a.`, Deny, Deny},
		{`a?`, Deny, Deny},
		{`.GIT\config`, Allow, AskOnce},
		{`~\.aws\credentials`, Deny, AskOnce},
		{`~/.ssh/id_rsa`, Deny, AskOnce},
		{`C:\users\YOU\.kimi\config.toml`, Deny, Deny},
	}
	for _, tt := range tests {
		if v := e.Read(PathFacts{Path: tt.path}, c); v.Decision != tt.read {
			t.Errorf("read %s: %s by %s (%s), want %s", tt.path, v.Decision, v.Rule, v.Reason, tt.read)
		}
		if v := e.Write(PathFacts{Path: tt.path}, c); v.Decision != tt.write {
			t.Errorf("write %s: %s by %s (%s), want %s", tt.path, v.Decision, v.Rule, v.Reason, tt.write)
		}
	}
}

func TestPathRules(t *testing.T) {
	tests := []struct {
		rule, path string
		means      bool
	}{
		{"allow edit src/**", "src/a/b.go", true},
		{"allow edit src/**", "pkg/src/a.go", false},
		{"allow edit src/**", "SRC/a.go", false},
		{"allow edit ./src/", "src/a.go", true},
		{"deny edit src/**", "SRC/a.go", true},
		{"deny edit *.lock", "a.lock", true},
		{"deny edit *.lock", "sub/a.lock", false},
		{"deny edit **/*.lock", "sub/a.lock", true},
		{"deny edit **/*.lock", "/elsewhere/a.lock", true},
		{"deny edit db/**/old/*.sql", "db/old/a.sql", true},
		{"deny edit db/**/old/*.sql", "db/a/b/old/a.sql", true},
		{"deny edit db/**/old/*.sql", "db/a/b/a.sql", false},
		{"deny edit /opt/x/", "/opt/x/y/z", true},
		{"deny edit /opt/x/", "/opt/xy", false},
		{"deny edit ~/x", "/home/you/x", true},
		{"deny edit ~/x", "x", false},
	}
	for _, tt := range tests {
		e, err := engine(t, Options{}).With(User, rule(t, tt.rule))
		if err != nil {
			t.Fatal(err)
		}
		if v := e.Write(PathFacts{Path: tt.path}, project()); (v.Rule == tt.rule) != tt.means {
			t.Errorf("%s on %s: decided by %q", tt.rule, tt.path, v.Rule)
		}
	}
}

// The keys of questions about files are answers that hold.
func TestPathKeysHold(t *testing.T) {
	e := engine(t, Options{})
	for _, path := range []string{"a.go", "Makefile", "odd [name]*.go", `a'b c.txt`, ".github/workflows/ci.yml"} {
		v := e.Write(PathFacts{Path: path}, project())
		if v.Decision != Ask {
			t.Fatalf("%s: %s", path, v.Decision)
		}
		answered(t, e, v, func(e *Engine) Verdict { return e.Write(PathFacts{Path: path}, project()) })
	}
	for _, path := range []string{"/etc/hosts", "/opt/a b/[x]"} {
		v := e.Read(PathFacts{Path: path}, project())
		answered(t, e, v, func(e *Engine) Verdict { return e.Read(PathFacts{Path: path}, project()) })
	}
}
