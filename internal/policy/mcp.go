package policy

import (
	"regexp"
	"strings"
)

// mcpName is a name that is what it looks like.
var mcpName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}$`)

// MCP decides about calling a tool of an MCP server. What the server says of its
// tools, that they only read for instance, is not asked for: it would widen a
// decision by the word of whoever is judged.
func (e *Engine) MCP(server, tool string, c Context) Verdict {
	f := e.judgeMCP(server, tool, &c)
	v := verdict(&c, []finding{f})
	v.Parts = []Part{{Text: Visible(server) + "/" + Visible(tool), Decision: v.Decision, Reason: v.Reason}}
	return v
}

func (e *Engine) judgeMCP(server, tool string, c *Context) finding {
	if !mcpName.MatchString(server) || !mcpName.MatchString(tool) {
		return once(classFloor, "odd name", "the tool's name holds characters that may only look like others")
	}
	allow := allowed
	for _, s := range e.given {
		if s.Kind != KindMCP || !s.holds(c) || !matchSegments(strings.Split(s.Pattern, "/"), []string{server, tool}) {
			continue
		}
		if s.Decision != Allow {
			return floor(max(s.Decision, AskOnce), s.String(), because(s.Rule, server+"/"+tool))
		}
		allow.class, allow.rule = classRun, s.String()
	}
	if allow.rule != "" {
		return allow
	}
	key := Rule{Decision: Allow, Kind: KindMCP, Pattern: server + "/" + tool}.String()
	return finding{decision: Ask, class: classRun, rule: "tool", reason: "a tool of the MCP server " + server + " can do whatever the server can", lasts: Project, key: []string{key}, words: "the tool " + tool + " of " + server}
}
