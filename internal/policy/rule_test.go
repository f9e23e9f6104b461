package policy

import (
	"strings"
	"testing"
)

func TestParseRule(t *testing.T) {
	for _, line := range []string{
		"allow shell npm test", "allow shell npm run test|lint", "allow exact touch 'a b' 'it''s' 'a|b' ''", "deny read ~/.aws/", "ask-once edit **/*.lock",
		"ask fetch https://go.dev/", "deny mcp files/write_*", "allow env CI",
	} {
		if got := rule(t, line).String(); got != line {
			t.Errorf("%q is read as %q", line, got)
		}
	}
	for line, want := range map[string]string{
		"":                     "want a decision",
		"allow shell":          "want a decision",
		"permit shell ls":      "begins with",
		"allow shells ls":      "no kind",
		"allow|deny shell ls":  "begins with",
		"allow read a b":       "one pattern",
		"allow read 'a":        "not closed",
		"allow read a/../b":    "..",
		"allow read [":         "syntax error",
		"allow mcp x":          "server/tool",
		"allow fetch ftp://x":  "only http",
		"allow fetch x":        "only http",
		"allow shell ''":       "without a program",
		"allow shell l\u200bs": "cannot be seen",
		"allow shell ls " + strings.Repeat("x", maxRuleLine): "at most",
	} {
		if _, err := ParseRule(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func TestExamples(t *testing.T) {
	tests := []struct{ text, want string }{
		{"allow shell npm test\n  match npm test -- x\n  not npm testx\n  not npm run test", ""},
		{"allow shell npm test\n  match npm tset", `"allow shell npm test" does not decide its example "npm tset"`},
		{"allow shell npm test\n  not npm test x", `"allow shell npm test" decides "npm test x"`},
		{"allow shell npm test\n  match npm test; rm x", "does not decide"},
		{"allow shell foo\n  options -a --long\n  values -n\n  reads -f\n  operands files\n  max 1\n  match foo -an5 --long -f x y\n  not foo -b\n  not foo a b\n  not foo -f ../x\n  not foo -n", ""},
		{"allow shell foo\n  operands none\n  not foo a\n  match foo", ""},
		{"allow shell foo\n  ordered\n  operands any\n  match foo a -b\n  not foo -b", ""},
		{"deny edit db/**\n  except db/new.sql\n  match db/old.sql\n  not db/new.sql", ""},
		{"deny edit db/**\n  not db/x", "decides"},
		{"allow fetch https://go.dev/\n  match https://go.dev/x\n  not http://go.dev/x", ""},
		{"deny mcp a/*\n  match a/b\n  not b/a", ""},
		{"allow env A\n  match A=b\n  not A=$(x)\n  not B=c", ""},
	}
	for _, tt := range tests {
		rules, err := ParseRules(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(Options{Layers: []Layer{{Name: "rules of yours", Rules: rules}}})
		if (tt.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "rules of yours")) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
	for _, text := range []string{"  match x", "allow read x\n  options -a", "allow shell x\n  max many", "allow shell x\n  operands some", "allow shell x\n  nonsense", "deny edit x\n  floor", "nonsense", "deny edit x\n  except ["} {
		if _, err := ParseRules(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestRulesThatOpenEverything(t *testing.T) {
	for _, line := range []string{"bash", "sh -c", "sudo", "env", "python3 -c", "xargs", "find", "git|bash", "/bin/sh"} {
		if _, err := New(Options{Layers: []Layer{{Name: "mine", Rules: []Rule{rule(t, "allow shell "+line)}}}}); err == nil || !strings.Contains(err.Error(), "lets anything run") {
			t.Errorf("%q: %v", line, err)
		}
	}
	for _, line := range []string{"allow shell python3 tools/gen.py", "allow shell make test", "allow exact bash build.sh", "deny shell bash"} {
		if _, err := New(Options{Layers: []Layer{{Name: "mine", Rules: []Rule{rule(t, line)}}}}); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestTooManyRules(t *testing.T) {
	rules := make([]Rule, maxRules+1)
	for i := range rules {
		rules[i] = rule(t, "deny shell x")
	}
	if _, err := New(Options{Layers: []Layer{{Name: "many", Rules: rules}}}); err == nil {
		t.Error("too many rules are taken")
	}
	if _, err := New(Options{Layers: []Layer{{Name: "made", Rules: []Rule{{Kind: KindShell}}}}}); err == nil {
		t.Error("a rule without words is taken")
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, ünïcödé 漢字 🙂": "plain text, ünïcödé 漢字 🙂",
		"a\u200bb":                 `a\u200bb`,
		"a\u202eb":                 `a\u202eb`,
		"a\x1b[2Kb":                `a\x1b[2Kb`,
		"a\x00\r\n\tb":             `a\x00\x0d\n\tb`,
		"a\u00a0b":                 `a\u00a0b`,
		"a\U000e0041b":             `a\U000e0041b`,
		"a\xffb":                   `a\xffb`,
		"a\u3164\u2800\ufeffb":     `a\u3164\u2800\ufeffb`,
		"a\u2028\u0085b":           `a\u2028\u0085b`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	if got := []string{AskOnce.String(), Repository.String(), Decision(9).String(), Scope(9).String()}; strings.Join(got, " ") != "ask-once repository Decision(9) Scope(9)" {
		t.Error(got)
	}
	d, _ := Deny.MarshalText()
	s, _ := Session.MarshalText()
	if string(d) != "deny" || string(s) != "session" {
		t.Error(string(d), string(s))
	}
}
