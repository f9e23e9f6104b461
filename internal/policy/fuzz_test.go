package policy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// whole tells whether text that follows a script on a line of its own is a command
// of its own.
func whole(cmd string) bool {
	if strings.ContainsRune(cmd, 0) || strings.HasSuffix(cmd, `\`) || len(cmd) > maxCommand-100 {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd), "")
	if err != nil {
		return false
	}
	here := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil {
			here = true
		}
		return !here
	})
	return !here
}

func FuzzShell(f *testing.F) {
	for _, cmd := range []string{
		"ls", "ls && rm -rf x", "cat <<EOF\n$x\nEOF", "for f in a b; do cat $f; done", "x=a; cat ${x}b", "echo {a,b}{1..3}", "[[ -f x ]] && [ a = b ]",
		`bash -c "ls $(touch x)"`, "find . -exec sh -c 'x' {} +", "git log --format='%h' | head -5", "a=(b c); echo ${a[0]}", "case x in a|b) ls;; *) ;; esac", "sed -n '1,$p' f",
		"env A=b timeout 5 npm test", "ls > out 2>&1", `$'\x74'x`, "(cd a; ls) &", "ls \u200b", "a\x00b", "if ! test -f a; then :; fi", "while read x; do echo $x; done < f",
	} {
		f.Add(cmd)
	}
	e := engine(f, Options{Sets: []string{SetInspect, SetBuild}})
	c := project()
	yolo := project()
	yolo.Mode = ModeYolo
	f.Fuzz(func(t *testing.T, cmd string) {
		v := e.Shell(cmd, c)
		if v.Decision == Ask && v.Key == "" || v.Decision != Ask && v.Key != "" || v.Decision != Allow && v.Reason == "" || len(v.Parts) == 0 {
			t.Fatalf("%q: %+v", cmd, v)
		}
		for _, line := range v.Lines() {
			if _, bad := hiddenIn(line); bad || strings.Contains(line, "\n") {
				t.Fatalf("%q is shown as %q", cmd, line)
			}
		}
		if v.Key != "" {
			rules, err := ParseRules(v.Key)
			if err != nil {
				t.Fatalf("%q: key %q: %v", cmd, v.Key, err)
			}
			after, err := e.With(Session, rules...)
			if err != nil {
				t.Fatal(err)
			}
			if again := after.Shell(cmd, c); again.Decision != Allow {
				t.Fatalf("%q is asked again after %q: %s", cmd, v.Key, again.Reason)
			}
		}
		if whole(cmd) && utf8.ValidString(cmd) {
			for _, more := range []string{"\nrm -rf /", "\nrm -rf ~/\n"} {
				if d := e.Shell(cmd+more, yolo).Decision; d == Allow {
					t.Fatalf("%q: %s under yolo", cmd+more, d)
				}
			}
			if d := e.Shell(cmd+"\ntouch pwn", c).Decision; d == Allow {
				t.Fatalf("%q is allowed", cmd+"\ntouch pwn")
			}
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, p := range []string{"a", "../x", "/etc/passwd", "~/.ssh/id_rsa", ".git/config", `C:\x`, `\\?\x`, "a:b", "CON", "a\x00", "/project/../x", "//project//a/./b"} {
		f.Add(p, "")
		f.Add("link", p)
	}
	e := engine(f, Options{})
	f.Fuzz(func(t *testing.T, path, real string) {
		for _, windows := range []bool{false, true} {
			c := project()
			c.Windows, c.Mode = windows, ModeAcceptEdits
			facts := PathFacts{Path: path, Real: real}
			e.Read(facts, c)
			v := e.Write(facts, c)
			if v.Decision != Allow {
				continue
			}
			places, _ := c.places(facts)
			last := places[len(places)-1]
			if _, in := c.inside(last); !in && !plainDevice.MatchString(last) {
				t.Fatalf("writing %q (%q) is allowed outside", path, real)
			}
			for _, place := range places {
				for _, name := range strings.Split(strings.ToLower(place), "/") {
					if name == ".git" || name == ".vscode" || name == ".kimi" {
						t.Fatalf("writing %q (%q) is allowed", path, real)
					}
				}
			}
		}
	})
}

func FuzzFetch(f *testing.F) {
	for _, u := range []string{"https://go.dev/", "http://127.0.0.1/", "http://[::1]:80/x", "http://bücher.example/", "http://a@b/", "file:///x"} {
		f.Add(u)
	}
	e := engine(f, Options{})
	f.Fuzz(func(t *testing.T, address string) {
		v := e.Fetch(address, project())
		if v.Decision == Allow {
			t.Fatalf("%q is allowed without a rule", address)
		}
		if _, err := parseTarget(v.Parts[0].Text); v.Decision != Deny && err != nil {
			t.Fatalf("%q is shown as %q, which is no address: %v", address, v.Parts[0].Text, err)
		}
	})
}
