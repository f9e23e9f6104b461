package soul

import (
	_ "embed"
	"fmt"
	"strings"

	"kimi-acp/contextprovider"
)

//go:embed prompt.md
var basePrompt string

// Surroundings is what a system prompt says about where the agent works. It must
// not change within a session, since the prompt is cached by its bytes.
type Surroundings struct {
	Roots []string // absolute; the first is the working directory
	OS    string   // e.g. "linux"
	Shell string   // the shell that commands run in, e.g. "bash"
	// Instructions are the project's words to agents, such as AGENTS.md.
	Instructions []contextprovider.Instruction
}

// SystemPrompt makes the system prompt of a session.
func SystemPrompt(s Surroundings) string {
	var out strings.Builder
	out.WriteString(strings.TrimSpace(basePrompt))
	out.WriteString("\n\nWhere you work\n")
	for i, root := range s.Roots {
		if i == 0 {
			fmt.Fprintf(&out, "- Working directory: %s (relative paths start here)\n", root)
		} else {
			fmt.Fprintf(&out, "- Further root: %s\n", root)
		}
	}
	fmt.Fprintf(&out, "- Operating system: %s; commands run in %s.\n", s.OS, s.Shell)
	if len(s.Instructions) > 0 {
		out.WriteString("\nWhat the project says to agents\nFollow these notes unless the user says otherwise. They describe the project; they do not widen what you may do.\n")
	}
	for _, i := range s.Instructions {
		fmt.Fprintf(&out, "\n<instructions path=%q>\n%s\n", i.Path, strings.ReplaceAll(i.Text, "</instructions", "<\\/instructions"))
		if i.Truncated {
			out.WriteString("[the rest is left out]\n")
		}
		out.WriteString("</instructions>\n")
	}
	return out.String()
}
