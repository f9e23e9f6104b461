package policycmd

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"kimi-acp/internal/policy"
)

var (
	pathVerb   = regexp.MustCompile(`^(read|list|write|edit|create|delete|path) (.+)$`)
	ruleBefore = regexp.MustCompile(`^(allow|deny) rule '?([^' ;]+)'? ?(?:;|and) ?(.+)$`)
	noteAfter  = regexp.MustCompile(`^(.*?) ?\(([^()]*)\)$`)
	linkTo     = regexp.MustCompile(`symlink to (?:missing )?(\S+)`)
	namesOf    = regexp.MustCompile(`(?:nlink=|with )([0-9]+)|([0-9]+) links`)
	special    = regexp.MustCompile(`(?i)\b(fifo|named pipe|socket|device)\b`)
)

// judgePath runs a case about a path. The cases are sentences: a verb, a path, and
// perhaps what stands there.
func (b bench) judgePath(s scenario) (outcome, string) {
	w, ok := parseWant(s.Want)
	if !ok {
		return elsewhere, ""
	}
	e, c, err := b.setUp(s.Setup)
	if err != nil {
		return wrong, err.Error()
	}
	in := s.In
	if m := ruleBefore.FindStringSubmatch(in); m != nil {
		if e, err = withPathRule(e, m[1], m[2]); err != nil {
			return wrong, err.Error()
		}
		in = m[3]
	}
	m := pathVerb.FindStringSubmatch(in)
	if m == nil {
		return elsewhere, ""
	}
	facts, ok := parseFacts(m[2], c)
	if !ok {
		return elsewhere, ""
	}
	reads := m[1] == "read" || m[1] == "list" || m[1] == "path"
	if w.write != nil {
		if got, text := (want{any: w.write}).compare(e.Write(facts, c)); got != right {
			return got, "write: " + text
		}
		reads = true
	}
	if reads {
		return w.compare(e.Read(facts, c))
	}
	return w.compare(e.Write(facts, c))
}

// withPathRule adds the rule that a case begins with, as "edit:src/**" or "~/.aws/".
func withPathRule(e *policy.Engine, decision, text string) (*policy.Engine, error) {
	kinds := []string{"read", "edit"}
	if kind, pattern, ok := strings.Cut(text, ":"); ok {
		kinds, text = []string{kind}, pattern
	}
	var rules []policy.Rule
	for _, kind := range kinds {
		r, err := policy.ParseRule(decision + " " + kind + " " + text)
		if err != nil {
			return nil, fmt.Errorf("the case's rule: %w", err)
		}
		rules = append(rules, r)
	}
	return e.With(policy.User, rules...)
}

// parseFacts reads a path and what a case says of it.
func parseFacts(text string, c policy.Context) (p policy.PathFacts, ok bool) {
	if q, err := strconv.Unquote(text); err == nil {
		return policy.PathFacts{Path: q}, true
	}
	note := ""
	if m := noteAfter.FindStringSubmatch(text); m != nil {
		text, note = m[1], m[2]
	}
	name, target, _ := strings.Cut(text, " -> ")
	link := name
	if at, rest, found := strings.Cut(text, " with "); found {
		name = at
		link, target, _ = strings.Cut(rest, " -> ")
	} else if used, found := strings.CutPrefix(afterThen(target), "then "); found {
		target = strings.TrimSpace(strings.TrimSuffix(target, afterThen(target)))
		name = strings.TrimPrefix(used, "read ")
	}
	if m := linkTo.FindStringSubmatch(note); m != nil && target == "" {
		target = m[1]
	}
	name = strings.Trim(name, "'\"")
	if name == "" || strings.Contains(name, " ") && !strings.HasSuffix(name, " ") {
		return p, false
	}
	p.Path = name
	p.Failed = target != "" && target == link
	if target != "" && !p.Failed {
		p.Real = follow(name, link, target, c)
	}
	if m := namesOf.FindStringSubmatch(note); m != nil {
		p.Kind, p.Links = policy.Regular, uint64(number(m[1]+m[2]))
	}
	if special.MatchString(note) {
		p.Kind = policy.Special
	}
	return p, true
}

// afterThen gives the part of a case that uses a link made before.
func afterThen(s string) string {
	if i := strings.Index(s, "then "); i >= 0 {
		return s[i:]
	}
	return ""
}

// follow puts a link's target in the place of the link.
func follow(name, link, target string, c policy.Context) string {
	target = strings.Replace(target, "~", c.Home, 1)
	if !strings.HasPrefix(target, "/") {
		target = path.Join(c.Roots[0], path.Dir(link), target)
	}
	return path.Join(target, strings.TrimPrefix(strings.TrimPrefix(name, c.Roots[0]+"/"), strings.TrimPrefix(link, c.Roots[0]+"/")))
}
