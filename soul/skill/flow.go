package skill

import (
	"errors"
	"fmt"
	"strings"
)

// Flow is a flowchart of prompts: what is asked, and where to go on from there.
type Flow struct {
	Begin string // the node to begin at, which asks nothing; its first exit is taken
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

// chart is a flow while it is read.
type chart struct {
	labels map[string]string // by id; "": only named so far
	exits  map[string][]Exit
}

func newChart() *chart { return &chart{labels: map[string]string{}, exits: map[string][]Exit{}} }

// node notes a node, with its label if that was said. A node has one label; naming it
// again without one changes nothing.
func (c *chart) node(id, label string) error {
	known, seen := c.labels[id]
	switch {
	case known != "" && label != "" && known != label:
		return fmt.Errorf("node %s has two labels", id)
	case !seen || label != "":
		c.labels[id] = label
	}
	if len(c.labels) > maxNodes {
		return fmt.Errorf("the flow has more than %d nodes", maxNodes)
	}
	return nil
}

// connect notes a way on between nodes that were noted.
func (c *chart) connect(from, to, label string) {
	c.exits[from] = append(c.exits[from], Exit{Label: label, To: to})
}

// flow makes the flow of what was read. It has one BEGIN and one END, which can be
// reached, and the exits of a node with several have different labels.
func (c *chart) flow() (*Flow, error) {
	f := &Flow{Nodes: map[string]Node{}}
	begins, ends := 0, 0
	for id, label := range c.labels {
		if label == "" {
			label = id
		}
		n := Node{Prompt: label, Exits: c.exits[id]}
		switch strings.ToLower(strings.TrimSpace(label)) {
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
	if exits := f.Nodes[f.Begin].Exits; len(exits) > 0 && exits[0].To == f.Begin {
		return errors.New("the flow's BEGIN leads to itself")
	}
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
