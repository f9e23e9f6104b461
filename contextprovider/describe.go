package contextprovider

import (
	"context"
	"fmt"
	"strings"

	"kimi-acp/internal/markdown"
)

// shownWidth is how wide a line is that people are shown, in characters: code is not
// wrapped by what shows it.
const shownWidth = 78

// Describe shows people the context as it would be sent now, part by part, with the
// tokens of each. It is Markdown, with lines of at most 80 characters.
func (m *Moment) Describe(ctx context.Context, earlier []string) string {
	b := m.gather(ctx, "", nil)
	b.Requests = m.requests(false)
	parts := fit(m.sections(b), m.o.Budget, m.o.Tokens)
	told := toldLast(earlier)
	var s strings.Builder
	fmt.Fprintf(&s, "Context is `%s`: ", m.Use())
	if len(parts) == 0 {
		s.WriteString("there is nothing to tell.\n")
	} else {
		s.WriteString("this stands beside your next prompt.\n\n| part | tokens | |\n|---|---:|---|\n")
		total := 0
		for _, p := range parts {
			n := m.o.Tokens(p.text())
			total += n
			fmt.Fprintf(&s, "| %s | %d | %s |\n", p.name, n, m.fate(p, told))
		}
		fmt.Fprintf(&s, "| together | %d of %d | |\n", total, m.o.Budget)
	}
	for _, miss := range b.Missed {
		fmt.Fprintf(&s, "\nMissing: %s: %s\n", shownName(miss.Provider), shownLine(miss.Reason))
	}
	for _, p := range parts {
		fmt.Fprintf(&s, "\n**%s**\n\n%s\n", p.name, markdown.Fenced("", wrapped(p.lines)))
	}
	return s.String()
}

// fate says in a few words what becomes of a part with the next prompt.
func (m *Moment) fate(p cutSection, told map[string]string) string {
	words := []string{"sent"}
	switch {
	case m.Use() == UseOff && p.name != sectionRequests:
		words[0] = "not sent"
	case told[p.name] == p.text() && !m.repeats(p.name):
		words[0] = "as told before, not sent again"
	}
	if p.cut > 0 {
		words = append(words, fmt.Sprintf("%d lines left out", p.cut))
	}
	return strings.Join(words, "; ")
}

// wrapped breaks lines that are too wide, at a blank where there is one, and indents
// what follows.
func wrapped(lines []string) string {
	var s strings.Builder
	for _, line := range lines {
		rest, indent := []rune(strings.ReplaceAll(line, "\t", "    ")), ""
		for len(rest)+len(indent) > shownWidth {
			end := shownWidth - len(indent)
			for at := end; at > end/2; at-- {
				if rest[at] == ' ' {
					end = at
					break
				}
			}
			s.WriteString(indent + strings.TrimRight(string(rest[:end]), " ") + "\n")
			rest, indent = []rune(strings.TrimLeft(string(rest[end:]), " ")), "    "
		}
		s.WriteString(indent + string(rest) + "\n")
	}
	return s.String()
}
