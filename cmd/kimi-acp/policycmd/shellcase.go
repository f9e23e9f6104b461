package policycmd

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kimi-acp/internal/policy"
)

var (
	setupRules  = regexp.MustCompile(`(allow|ask|deny)=(\[\[.*?\]\])`)
	repeated    = regexp.MustCompile(`<([0-9][0-9,]*) ?(?:bytes of|×) '([^']+)'>`)
	blanks      = regexp.MustCompile(`<([0-9][0-9,]*) spaces>`)
	savedRule   = regexp.MustCompile(`rule (?:is exactly )?\[([^\]]+)\]`)
	noneOffered = regexp.MustCompile(`(?i)no (lasting |persistent |session )?(rule|answer|option).*offered|not offered|never offered`)
	stillAsk    = regexp.MustCompile(`;\s*([^;]+?) still ASK`)
)

// modeNames are other names that cases may use for modes.
var modeNames = map[string]policy.Mode{"ask": policy.ModeDefault, "edits": policy.ModeAcceptEdits, "full": policy.ModeYolo}

// bench judges cases, and keeps the engines that they ask for.
type bench struct {
	engines map[string]*policy.Engine // by setup
}

// setUp makes the engine and the context that a case asks for.
func (b bench) setUp(setup string) (*policy.Engine, policy.Context, error) {
	c := policy.Context{Roots: []string{"/ws"}, Home: "/home/u", Trusted: true}
	if _, root, ok := strings.Cut(setup, "root="); ok {
		c.Roots[0], _, _ = strings.Cut(root, " ")
	}
	if _, mode, ok := strings.Cut(setup, "mode="); ok {
		mode, _, _ = strings.Cut(mode, " ")
		if known, ok := modeNames[mode]; ok {
			mode = string(known)
		}
		m, err := policy.ParseMode(mode)
		if err != nil {
			return nil, c, err
		}
		c.Mode = m
	}
	c.Trusted = !strings.Contains(setup, "untrusted")
	c.Windows = strings.Contains(strings.ToLower(setup), "windows")
	if e := b.engines[setup]; e != nil {
		return e, c, nil
	}
	sets := []string{policy.SetInspect}
	if strings.Contains(setup, "set=build") {
		sets = append(sets, policy.SetBuild)
	}
	layer := policy.Layer{Scope: policy.User, Name: "setup"}
	for _, m := range setupRules.FindAllStringSubmatch(setup, -1) {
		var prefixes [][]string
		if err := json.Unmarshal([]byte(m[2]), &prefixes); err != nil {
			return nil, c, fmt.Errorf("setup %q: %w", setup, err)
		}
		for _, p := range prefixes {
			r, err := policy.ParseRule(m[1] + " shell " + strings.Join(p, " "))
			if err != nil {
				return nil, c, err
			}
			layer.Rules = append(layer.Rules, r)
		}
	}
	e, err := policy.New(policy.Options{Sets: sets, Layers: []policy.Layer{layer}})
	if err == nil {
		b.engines[setup] = e
	}
	return e, c, err
}

// spell writes out what a case describes rather than holds.
func spell(in string) string {
	in = repeated.ReplaceAllStringFunc(in, func(s string) string {
		m := repeated.FindStringSubmatch(s)
		return strings.Repeat(m[2], number(m[1]))
	})
	return blanks.ReplaceAllStringFunc(in, func(s string) string {
		return strings.Repeat(" ", number(blanks.FindStringSubmatch(s)[1]))
	})
}

// number reads a count with commas, at most ten million.
func number(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return 0
	}
	return min(n, 10_000_000)
}

func (b bench) judgeShell(s scenario) (outcome, string) {
	e, c, err := b.setUp(s.Setup)
	if err != nil {
		return wrong, err.Error()
	}
	in := spell(s.In)
	if cmd, ok := strings.CutPrefix(in, "user answers 'always' on: "); ok {
		return judgeAnswer(e, c, cmd, s.Want)
	}
	if cmd, ok := strings.CutPrefix(in, "prompt for: "); ok {
		return judgePrompt(e.Shell(cmd, c), cmd)
	}
	w, ok := parseWant(s.Want)
	if !ok {
		return elsewhere, ""
	}
	if w.still != "" {
		r, err := policy.ParseRule("deny shell " + w.still)
		if err != nil {
			return wrong, err.Error()
		}
		strict, err := e.With(policy.User, r)
		if err != nil {
			return wrong, err.Error()
		}
		if v := strict.Shell(in, c); v.Decision != policy.Deny {
			return wrong, fmt.Sprintf("with the rule %s: %s", r, v.Decision)
		}
	}
	return w.compare(e.Shell(in, c))
}

// judgeAnswer judges what a lasting answer covers: the very rule, that it is not
// kept where it should not be, that it holds, and what it leaves alone.
func judgeAnswer(e *policy.Engine, c policy.Context, cmd, wish string) (outcome, string) {
	v := e.Shell(cmd, c)
	m := savedRule.FindStringSubmatch(wish)
	switch {
	case m == nil && !noneOffered.MatchString(wish):
		return elsewhere, ""
	case m == nil && v.Decision == policy.Allow:
		return loose, "allow"
	case m == nil && v.Key != "":
		return wrong, "an answer would cover " + v.Key
	case m == nil:
		return right, ""
	}
	rule := "allow shell " + strings.ReplaceAll(m[1], ",", " ")
	if v.Key != rule {
		return wrong, fmt.Sprintf("%s, covering %q", v.Decision, v.Key)
	}
	if strings.Contains(wish, "no persistent") && v.Lasts != policy.Session {
		return wrong, "lasting for " + v.Lasts.String()
	}
	r, err := policy.ParseRule(v.Key)
	if err != nil {
		return wrong, err.Error()
	}
	after, err := e.With(policy.Session, r)
	if err != nil {
		return wrong, err.Error()
	}
	if again := after.Shell(cmd, c); again.Decision != policy.Allow {
		return wrong, "asked again after the answer: " + again.Reason
	}
	if m := stillAsk.FindStringSubmatch(wish); len(m) > 1 && after.Shell(m[1], c).Decision == policy.Allow {
		return loose, "the answer allows " + m[1]
	}
	return right, ""
}

// judgePrompt judges what is shown: every command, the strictest first, long runs
// of blanks shortened.
func judgePrompt(v policy.Verdict, cmd string) (outcome, string) {
	if v.Decision == policy.Allow {
		return loose, "allow"
	}
	lines := v.Lines()
	shown := strings.Join(lines, "\n")
	worst := slices.MaxFunc(v.Parts, func(a, b policy.Part) int { return int(a.Decision) - int(b.Decision) })
	if len(lines) != len(v.Parts) || strings.Contains(shown, strings.Repeat(" ", 100)) || worst.Decision == policy.Allow || len(cmd) > 5000 && len(shown) > len(cmd) {
		return wrong, fmt.Sprintf("shown as %q", lines)
	}
	for _, p := range v.Parts {
		if first := strings.Fields(p.Text); len(first) > 0 && !strings.Contains(shown, first[0]) {
			return wrong, fmt.Sprintf("%q is not shown", p.Text)
		}
	}
	if first := strings.Fields(worst.Text); !strings.HasPrefix(lines[0], first[0]) {
		return wrong, fmt.Sprintf("%q is not first", worst.Text)
	}
	return right, ""
}
