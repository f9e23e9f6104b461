package skill

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var (
	header   = regexp.MustCompile(`(?i)^(flowchart|graph)\b`)
	styling  = regexp.MustCompile(`(?i)^(classdef|class|style|linkstyle|click|subgraph|direction)\s|^end$`)
	nodeID   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*?(?:$|[^A-Za-z0-9_-]|--)`)
	arrow    = regexp.MustCompile(`^\s*(?:--\s*([^>|-][^>|]*?)\s*-->|[-.=]+>(?:\s*\|([^|]*)\|)?|---)\s*`)
	classTag = regexp.MustCompile(`:::[A-Za-z0-9_-]+`)
)

// ParseMermaid reads a Mermaid flowchart: nodes and arrows, with labels; how it is to
// look is passed over. What a flow needs is told at Flow.
func ParseMermaid(text string) (*Flow, error) {
	c := newChart()
	matter := false // within the lines at the beginning that are about the chart
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "%%")
		line = strings.TrimSpace(classTag.ReplaceAllString(line, ""))
		if line == "---" {
			matter = !matter && len(c.labels) == 0
			continue
		}
		if matter || line == "" || header.MatchString(line) || styling.MatchString(line) {
			continue
		}
		if err := c.mermaidLine(line); err != nil {
			return nil, fmt.Errorf("the flow's line %d: %w", i+1, err)
		}
	}
	return c.flow()
}

// mermaidLine reads a node, or a chain of nodes and arrows.
func (c *chart) mermaidLine(line string) error {
	from, rest, err := c.mermaidNode(line)
	if err != nil {
		return err
	}
	for strings.TrimSpace(rest) != "" {
		if next, ok := strings.CutPrefix(strings.TrimSpace(rest), ";"); ok {
			if next = strings.TrimSpace(next); next == "" {
				return nil
			}
			return c.mermaidLine(next)
		}
		m := arrow.FindStringSubmatchIndex(rest)
		if m == nil {
			return fmt.Errorf("%q is no arrow", rest)
		}
		label := ""
		for _, g := range []int{2, 4} {
			if m[g] >= 0 {
				label = strings.Trim(strings.TrimSpace(rest[m[g]:m[g+1]]), `"`)
			}
		}
		var to string
		if to, rest, err = c.mermaidNode(rest[m[1]:]); err != nil {
			return err
		}
		c.connect(from, to, label)
		from = to
	}
	return nil
}

// mermaidNode reads a node at the beginning of text, with its label if it has one.
func (c *chart) mermaidNode(text string) (id, rest string, err error) {
	at := 0
	for at < len(text) && (isIDStart(text[at]) ||
		at > 0 && text[at] == '-' && at+1 < len(text) && nodeID.MatchString(text[at+1:]) && text[at+1] != '-') {
		at++
	}
	if at == 0 {
		return "", "", fmt.Errorf("a node was expected at %q", text)
	}
	id = text[:at]
	label, rest, err := mermaidLabel(text[at:])
	if err != nil {
		return "", "", err
	}
	return id, rest, c.node(id, label)
}

// isIDStart tells whether an id may begin with a byte.
func isIDStart(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// mermaidLabel reads the brackets around a label, which may stand in quotes.
func mermaidLabel(text string) (label, rest string, err error) {
	opening := len(text) - len(strings.TrimLeft(text, "[({"))
	if opening == 0 {
		return "", text, nil
	}
	closing := []byte(strings.NewReplacer("[", "]", "(", ")", "{", "}").Replace(text[:opening]))
	for i, j := 0, len(closing)-1; i < j; i, j = i+1, j-1 {
		closing[i], closing[j] = closing[j], closing[i]
	}
	if inside := strings.TrimSpace(text[opening:]); strings.HasPrefix(inside, `"`) {
		label, rest, ok := quoted(inside)
		rest, closed := strings.CutPrefix(strings.TrimSpace(rest), string(closing))
		if !ok || !closed {
			return "", "", errors.New("a label is not closed")
		}
		return label, rest, nil
	}
	label, rest, ok := strings.Cut(text[opening:], string(closing))
	label = strings.TrimSpace(label)
	if !ok || label == "" {
		return "", "", errors.New("a label is not closed, or empty")
	}
	return label, rest, nil
}

// quoted reads a text in quotes, of the kind that it begins with. A backslash takes the
// meaning from what stands behind it, also from the end of a line.
func quoted(text string) (inside, rest string, ok bool) {
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			return out.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
			if text[i] == '\n' {
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return "", "", false
}
