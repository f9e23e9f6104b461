package policy

import "testing"

// TestScreen: what the first look lets pass, the whole judgement allows.
func TestScreen(t *testing.T) {
	rules := []Rule{}
	for _, text := range []string{"deny read private/**", "ask-once read **/*secret*", "deny read /home/you/w/a/b.txt", "deny read **/x/**/y", `deny read odd\\name`} {
		r, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	e, err := engine(t, Options{}).With(User, rules...)
	if err != nil {
		t.Fatal(err)
	}
	c := Context{Roots: []string{"/home/you/w"}, Home: "/home/you", Own: []string{"/home/you/w/own"}}
	s := e.Screen(c)
	for name, passes := range map[string]bool{
		"main.go": true, "src/deep/down/x.go": true, "a/c.txt": true, "x/z": true,
		".env": false, "sub/.ENV": false, ".env.production": false, "k.pem": false, "id_rsa": false, "a/.NPMRC": false, ".netrc.": false, ".env::$DATA": false, ".en\u200bv": false,
		"private/x": false, "sub/my-secret.txt": false, "a/b.txt": false, "x/q/y": false, "own/journal": false, "proc/1": false, `odd\name`: false,
	} {
		file := "/home/you/w/" + name
		if got := s.Passes(file); got != passes {
			t.Errorf("%s passes: %v", name, got)
		}
		if v := e.Read(PathFacts{Path: file}, c); s.Passes(file) && v.Decision != Allow {
			t.Errorf("%s passes and is %s (%s)", name, v.Decision, v.Reason)
		}
	}
}

// BenchmarkScreen is one file of a search.
func BenchmarkScreen(b *testing.B) {
	e, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	s := e.Screen(Context{Roots: []string{"/home/you/w"}, Home: "/home/you"})
	for b.Loop() {
		if !s.Passes("/home/you/w/internal/server/handler_test.go") {
			b.Fatal("it does not pass")
		}
	}
}

func FuzzScreen(f *testing.F) {
	for _, seed := range []string{"main.go", ".env", "a/.ssh/id_rsa", "git~1", "k.pem.", "a\\b.key"} {
		f.Add(seed)
	}
	e, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	c := Context{Roots: []string{"/home/you/w"}, Home: "/home/you"}
	s := e.Screen(c)
	f.Fuzz(func(t *testing.T, name string) {
		file := "/home/you/w/" + name
		p, ok := c.locate(file, c.dir())
		if _, in := c.inside(p); !ok || !in || len(p) > maxPath || containsNUL(p) {
			return
		}
		if v := e.Read(PathFacts{Path: p}, c); s.Passes(p) && v.Decision != Allow {
			t.Errorf("%q passes and is %s (%s)", p, v.Decision, v.Reason)
		}
	})
}

func containsNUL(s string) bool {
	for i := range len(s) {
		if s[i] == 0 {
			return true
		}
	}
	return false
}
