package policy

import (
	"fmt"
	"strings"
)

// ParseRules reads rules from text, one a line. Indented lines say more about the
// rule above them; a line that begins with # is a comment.
//
//	because TEXT     the reason that is shown
//	except PATTERN…  files that the rule does not mean
//	match EXAMPLE    something that the rule decides
//	not EXAMPLE      something that it does not
//	options WORD…    options that may follow; with these a rule takes no others
//	values WORD…     options that are followed by a value
//	reads WORD…      options that are followed by a file that is read
//	writes WORD…     options that are followed by a file that is written
//	operands KIND    what else may follow: none, any, names, files, revisions or
//	                 pattern (one text, then files)
//	max N            how many operands at most
//	without TEXT…    texts that no word may hold
//	harmless         no option of the program writes, runs or connects
//	ordered          options stand before operands
//	trusted          only in a trusted workspace
//
// An example that does not hold is found by New.
func ParseRules(text string) ([]Rule, error) { return parseRules(text, false) }

// parseRules also knows "floor" when the text is our own.
func parseRules(text string, own bool) ([]Rule, error) {
	var rules []Rule
	for n, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			r, err := ParseRule(trimmed)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			rules = append(rules, r)
			continue
		}
		if len(rules) == 0 {
			return nil, fmt.Errorf("line %d: %q stands before any rule", n+1, trimmed)
		}
		r := &rules[len(rules)-1]
		if own && trimmed == "floor" {
			r.floor = true
			continue
		}
		if err := r.detail(trimmed); err != nil {
			return nil, fmt.Errorf("line %d: rule %q: %w", n+1, r, err)
		}
	}
	return rules, nil
}

// detail reads one indented line.
func (r *Rule) detail(line string) error {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "because":
		r.Reason = rest
	case "match":
		r.Match = append(r.Match, rest)
	case "not":
		r.NotMatch = append(r.NotMatch, rest)
	case "trusted":
		r.trusted = true
	case "except":
		for _, pattern := range strings.Fields(rest) {
			if err := checkPattern(pattern); err != nil {
				return err
			}
			r.Except = append(r.Except, pattern)
		}
	default:
		if r.Kind != KindShell {
			return fmt.Errorf("%q is not understood for kind %q", name, r.Kind)
		}
		if r.syntax == nil {
			r.syntax = newGrammar()
		}
		return r.syntax.detail(name, rest)
	}
	return nil
}
