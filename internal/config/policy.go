package config

import (
	"fmt"

	"kimi-acp/internal/policy"
)

// Policy is what acp.toml says of what may be done without asking.
type Policy struct {
	Sets  []string      // the ready sets that hold; nil: not said
	Rules []policy.Rule // those that deny first, those that allow last
	// Broken says why a rule that asks or denies could not be read, with its place.
	// Nothing may be allowed then, since nobody knows what it was to keep out. Empty:
	// they all could be.
	Broken string
}

// readPolicy reads [policy]. A rule that cannot be read gets a warning. One that allows
// is left out.
func readPolicy(t *table) (p Policy) {
	if t == nil {
		return p
	}
	if sets := t.texts("sets"); sets != nil {
		p.Sets = []string{}
		for _, set := range sets {
			if set != policy.SetInspect && set != policy.SetBuild {
				t.warn("sets", "names %s, and there are only %s and %s; it is left out", quote(set), policy.SetInspect, policy.SetBuild)
				continue
			}
			p.Sets = append(p.Sets, set)
		}
	}
	for _, d := range []policy.Decision{policy.Deny, policy.AskOnce, policy.Ask, policy.Allow} {
		key := d.String()
		elements, ok := t.elements(key)
		if !ok {
			p.broken(t, d, t.doc.keys.line(t.keyPath(key)), key, "is not a list of rules")
		}
		for i, element := range elements {
			r, err := readRule(d, element)
			if err != nil {
				name := fmt.Sprintf("%s[%d]", key, i+1)
				p.broken(t, d, t.doc.keys.line(elementPath(t.keyPath(key), i)), name, oneLine(err.Error()))
				continue
			}
			p.Rules = append(p.Rules, r)
		}
	}
	t.unknown()
	return p
}

// broken warns of a rule that cannot be read.
func (p *Policy) broken(t *table, d policy.Decision, line int, name, what string) {
	w := Warning{File: t.doc.path, Line: line, What: "policy." + name + ": " + what + "; it is left out"}
	if d != policy.Allow {
		w.What = "policy." + name + ": " + what + "; until this is mended, everything is asked for each time"
		if p.Broken == "" {
			p.Broken = Warning{File: w.File, Line: line, What: "policy." + name + ": " + what}.String()
		}
	}
	t.warnings.add(w)
}

// readRule reads a rule without its decision: a text, or a table with the text, examples
// and a reason.
func readRule(d policy.Decision, element any) (policy.Rule, error) {
	text, isText := element.(string)
	values, isTable := element.(map[string]any)
	if !isText && !isTable {
		return policy.Rule{}, fmt.Errorf("this is neither a text in quotes nor a table with a rule")
	}
	var match, not []string
	because := ""
	for name, value := range values {
		ok := false
		switch name {
		case "rule":
			text, ok = value.(string)
		case "because":
			because, ok = value.(string)
		case "match":
			match, ok = textsOf(value)
		case "not":
			not, ok = textsOf(value)
		default:
			return policy.Rule{}, fmt.Errorf("there is no key %s in a rule; use rule, because, match and not", quote(name))
		}
		if !ok {
			return policy.Rule{}, fmt.Errorf("%s is of the wrong type", name)
		}
	}
	r, err := policy.ParseRule(d.String() + " " + text)
	if err != nil {
		return r, err
	}
	r.Reason, r.Match, r.NotMatch = oneLine(because), match, not
	return r, r.Check()
}

func textsOf(v any) ([]string, bool) {
	list, ok := v.([]any)
	texts := make([]string, 0, len(list))
	for _, e := range list {
		text, isText := e.(string)
		texts, ok = append(texts, text), ok && isText
	}
	return texts, ok
}
