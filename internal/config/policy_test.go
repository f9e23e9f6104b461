package config

import (
	"strings"
	"testing"
)

func TestPolicy(t *testing.T) {
	const everything = "; until this is mended, everything is asked for each time."
	tests := []struct {
		name, text string
		rules      []string
		warnings   []string // without the file's name
		broken     string   // part of it
	}{
		{name: "nothing", text: ""},
		{
			name: "the kinds", text: "[policy]\nsets = [\"inspect\", \"build\"]\nallow = [\"shell npm run test|lint\", \"fetch https://go.dev/\"]\nask = [\"edit db/**\"]\nask-once = [\"shell make\"]\ndeny = [\"read ~/notes/\"]\n",
			rules: []string{"deny read ~/notes/", "ask-once shell make", "ask edit db/**", "allow shell npm run test|lint", "allow fetch https://go.dev/"},
		},
		{
			name: "examples", text: "[policy]\nallow = [{ rule = \"shell npm test\", match = [\"npm test -- x\"], not = [\"npm publish\"], because = \"it only tests\" }]\n",
			rules: []string{"allow shell npm test"},
		},
		{
			name: "an example that does not hold", text: "[policy]\nallow = [\n  \"shell go test\",\n  { rule = \"shell npm test\", match = [\"npm tset\"] },\n]\n",
			rules:    []string{"allow shell go test"},
			warnings: []string{`:4: policy.allow[2]: rule "allow shell npm test" does not decide its example "npm tset": no rule allows it; it is left out.`},
		},
		{
			name: "too much", text: "[policy]\nallow = [\"shell bash\"]\n",
			warnings: []string{`:2: policy.allow[1]: rule "allow shell bash" lets anything run; name what may run; it is left out.`},
		},
		{
			name: "a broken rule that denies", text: "[policy]\n\ndeny = [\n  \"shell git push\",\n  \"shel git pull\"\n]\n",
			rules:    []string{"deny shell git push"},
			warnings: []string{`:5: policy.deny[2]: rule "deny shel git pull": there is no kind "shel"; use one of [shell exact env read edit fetch mcp]` + everything},
			broken:   `acp.toml:5: policy.deny[2]: rule "deny shel git pull"`,
		},
		{
			name: "no list", text: "[policy]\ndeny = \"shell git push\"\n",
			warnings: []string{":2: policy.deny: is not a list of rules" + everything}, broken: "policy.deny: is not a list",
		},
		{
			name: "no rule", text: "[policy]\nask = [7, { rule = 7 }, { match = [\"x\"] }, { rule = \"shell x\", mach = [] }, { rule = \"shell x\", not = [7] }]\n",
			warnings: []string{
				":2: policy.ask[1]: this is neither a text in quotes nor a table with a rule" + everything,
				":2: policy.ask[2]: rule is of the wrong type" + everything,
				`:2: policy.ask[3]: rule "ask ": want a decision, a kind and what it speaks of, as in "allow shell go test"` + everything,
				":2: policy.ask[4]: there is no key \"mach\" in a rule; use rule, because, match and not" + everything,
				":2: policy.ask[5]: not is of the wrong type" + everything,
			}, broken: "policy.ask[1]",
		},
		{
			name: "two rules in one", text: "[policy]\nallow = [\"shell x\\nallow shell bash\"]\n",
			warnings: []string{`:2: policy.allow[1]: rule "allow shell x\\nallow shell bash": a rule stands on one line; it is left out.`},
		},
		{
			name: "unknown", text: "[policy]\nsets = [\"inspekt\"]\nallows = []\n",
			warnings: []string{":2: policy.sets names \"inspekt\", and there are only inspect and build; it is left out.", ":3: unknown key policy.allows; it is not used."},
		},
		{
			name: "a file that cannot be read", text: "[policy\n",
			warnings: []string{":1:8: this is not valid TOML (expected ']' to close table name); the file is not used."}, broken: "this is not valid TOML",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, warnings := newHouse(t, map[string]string{own: tt.text}, nil).load(Flags{})
			for i := range warnings {
				warnings[i] = strings.TrimPrefix(warnings[i], "~/.kimi/acp.toml")
			}
			diff(t, "warnings", tt.warnings, warnings)
			var rules []string
			for _, r := range c.Policy.Rules {
				rules = append(rules, r.String())
			}
			diff(t, "rules", tt.rules, rules)
			if (tt.broken == "") != (c.Policy.Broken == "") || !strings.Contains(c.Policy.Broken, tt.broken) {
				t.Errorf("broken: %q, want %q", c.Policy.Broken, tt.broken)
			}
		})
	}
}

// kimi-cli's file says nothing of what may be done.
func TestPolicyIsOurs(t *testing.T) {
	c, _ := newHouse(t, map[string]string{kimiCLI: "[policy]\nallow = [\"shell x\"]\n"}, nil).load(Flags{})
	if len(c.Policy.Rules) > 0 {
		t.Errorf("rules %v", c.Policy.Rules)
	}
}
