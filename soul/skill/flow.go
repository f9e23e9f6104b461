package skill

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Flow is a flowchart of prompts: what is asked, and where to go on from there.
type Flow struct {
	Begin string // the node to begin at, which asks nothing
	Nodes map[string]Node
}

// Node is a place in a flow.
type Node struct {
	Prompt string // its label
	End    bool   // the flow is over here
	Exits  []Exit // in their order; several have different labels
}

// Exit is a way on from a node.
type Exit struct {
	Label string // what is chosen by, may be empty where there is one exit alone
	To    string // a node of the flow
}

// maxNodes bounds a flow.
const maxNodes = 1000

var (
	header   = regexp.MustCompile(`(?i)^(flowchart|graph)\b`)
	styling  = regexp.MustCompile(`(?i)^(classdef|class|style|linkstyle|click|subgraph|direction)\s|^end$`)
	nodeID   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*?(?:$|[^A-Za-z0-9_-]|--)`)
	arrow    = regexp.MustCompile(`^\s*(?:--\s*([^>|-][^>|]*?)\s*-->|[-.=]+>(?:\s*\|([^|]*)\|)?|---)\s*`)
	classTag = regexp.MustCompile(`:::[A-Za-z0-9_-]+`)
)

// ParseFlow reads a Mermaid flowchart: nodes and arrows, with labels, one arrow a
// line; how it is to look is passed over. A flow has one BEGIN and one END, which can
// be reached, and the exits of a node with several have different labels.
func ParseFlow(chart string) (*Flow, error) {
	p := flowParser{labels: map[string]string{}, exits: map[string][]Exit{}}
	for i, line := range strings.Split(chart, "\n") {
		line, _, _ = strings.Cut(line, "%%")
		line = strings.TrimSpace(classTag.ReplaceAllString(line, ""))
		if line == "" || header.MatchString(line) || styling.MatchString(line) {
			continue
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("the flow's line %d: %w", i+1, err)
		}
		if len(p.labels) > maxNodes {
			return nil, fmt.Errorf("the flow has more than %d nodes", maxNodes)
		}
	}
	return p.flow()
}

type flowParser struct {
	labels map[string]string // by id; "": only named so far
	exits  map[string][]Exit
}

func (p *flowParser) line(line string) error {
	from, rest, err := p.node(line)
	if err != nil || strings.TrimSpace(rest) == "" {
		return err
	}
	m := arrow.FindStringSubmatchIndex(rest)
	if m == nil {
		return fmt.Errorf("%q is no arrow", rest)
	}
	exit := Exit{}
	for _, g := range []int{2, 4} {
		if m[g] >= 0 {
			exit.Label = strings.Trim(strings.TrimSpace(rest[m[g]:m[g+1]]), `"`)
		}
	}
	if exit.To, rest, err = p.node(rest[m[1]:]); err != nil {
		return err
	}
	if strings.TrimRight(rest, "; ") != "" {
		return fmt.Errorf("%q stands behind the arrow; write one arrow a line", rest)
	}
	p.exits[from] = append(p.exits[from], exit)
	return nil
}

// node reads a node at the beginning of text, with its label if it has one.
func (p *flowParser) node(text string) (id, rest string, err error) {
	at := 0
	for at < len(text) && (text[at] == '_' || text[at] >= '0' && text[at] <= '9' || text[at]|0x20 >= 'a' && text[at]|0x20 <= 'z' ||
		at > 0 && text[at] == '-' && at+1 < len(text) && nodeID.MatchString(text[at+1:]) && text[at+1] != '-') {
		at++
	}
	if at == 0 {
		return "", "", fmt.Errorf("a node was expected at %q", text)
	}
	id, rest = text[:at], text[at:]
	label, rest, err := label(rest)
	if err != nil {
		return "", "", err
	}
	known, seen := p.labels[id]
	switch {
	case seen && known != "" && label != "" && known != label:
		return "", "", fmt.Errorf("node %s has two labels", id)
	case !seen || label != "":
		p.labels[id] = label
	}
	return id, rest, nil
}

// label reads the brackets around a label, which may stand in quotes.
func label(text string) (label, rest string, err error) {
	opening := len(text) - len(strings.TrimLeft(text, "[({"))
	if opening == 0 {
		return "", text, nil
	}
	closing := strings.NewReplacer("[", "]", "(", ")", "{", "}").Replace(text[:opening])
	b := []byte(closing)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	closing = string(b)
	inside := strings.TrimSpace(text[opening:])
	if strings.HasPrefix(inside, `"`) {
		label, rest, ok := strings.Cut(inside[1:], `"`)
		rest, closed := strings.CutPrefix(strings.TrimSpace(rest), closing)
		if !ok || !closed {
			return "", "", errors.New("a label is not closed")
		}
		return label, rest, nil
	}
	label, rest, ok := strings.Cut(text[opening:], closing)
	label = strings.TrimSpace(label)
	if !ok || label == "" {
		return "", "", errors.New("a label is not closed, or empty")
	}
	return label, rest, nil
}

// flow checks what was read.
func (p *flowParser) flow() (*Flow, error) {
	f := &Flow{Nodes: map[string]Node{}}
	begins, ends := 0, 0
	for id, label := range p.labels {
		if label == "" {
			label = id
		}
		n := Node{Prompt: label, Exits: p.exits[id]}
		switch strings.ToLower(label) {
		case "begin":
			begins++
			f.Begin = id
		case "end":
			ends++
			n.End = true
		}
		f.Nodes[id] = n
	}
	if begins != 1 || ends != 1 {
		return nil, fmt.Errorf("the flow has %d nodes BEGIN and %d nodes END; it needs one of each", begins, ends)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// check walks the flow from its beginning.
func (f *Flow) check() error {
	seen, next, ended := map[string]bool{f.Begin: true}, []string{f.Begin}, false
	for len(next) > 0 {
		id := next[len(next)-1]
		n := f.Nodes[id]
		next = next[:len(next)-1]
		ended = ended || n.End
		labels := map[string]bool{}
		for _, e := range n.Exits {
			if len(n.Exits) > 1 && (e.Label == "" || labels[e.Label]) {
				return fmt.Errorf("the exits of node %s need labels, each another one", id)
			}
			labels[e.Label] = true
			if !seen[e.To] {
				seen[e.To] = true
				next = append(next, e.To)
			}
		}
	}
	if !ended {
		return errors.New("the flow's END cannot be reached from its BEGIN")
	}
	return nil
}
