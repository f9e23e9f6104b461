package acptest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Direction tells who wrote a line.
type Direction string

// The directions of a Line.
const (
	ToAgent   Direction = ">>>"
	FromAgent Direction = "<<<"
)

// Line is one line of the connection, without its newline.
type Line struct {
	Direction Direction
	Text      string
}

// Lines gives every line so far, in the order in which they were written or read.
func (c *Client) Lines() []Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lines)
}

// note judges a line and keeps it.
func (c *Client) note(d Direction, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []string
	if d == ToAgent {
		found = c.judge.Client(text)
	} else {
		found = c.judge.Agent(text)
	}
	c.keep(d, text)
	for _, wrong := range found {
		if !c.closed {
			c.t.Errorf("the protocol forbids: %s\n%s %s", wrong, d, clip(text))
		}
	}
}

// misuse keeps a line that is wrong on purpose.
func (c *Client) misuse(text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.judge.Misuse(text)
	c.keep(ToAgent, text)
}

func (c *Client) keep(d Direction, text []byte) {
	c.lines = append(c.lines, Line{d, string(text)})
	var value any
	if json.Unmarshal(text, &value) == nil {
		c.labels.collect(value)
	}
}

// Transcript gives every line so far, made comparable: ids that the agent chose,
// the folders of sessions and times are replaced by names that count up.
func (c *Client) Transcript() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, line := range c.lines {
		fmt.Fprintf(&b, "%s %s\n", line.Direction, line.Text)
	}
	return timestamp.ReplaceAllString(c.labels.replacer().Replace(b.String()), `"<time>"`)
}

var timestamp = regexp.MustCompile(`"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}[^"]{0,20}"`)

// labels are the names that stand for values which differ between runs.
type labels struct {
	pairs []string // as strings.NewReplacer takes them
	count map[string]int
	seen  map[string]bool
}

// labelled are the members whose strings are replaced, with the name for them.
var labelled = map[string]string{
	"sessionId": "session", "messageId": "message", "toolCallId": "call",
	"terminalId": "terminal", "elicitationId": "elicitation", "cwd": "cwd",
}

func (l *labels) collect(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			l.collect(element)
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if text, ok := v[name].(string); ok && labelled[name] != "" {
				l.add(labelled[name], text)
				continue
			}
			l.collect(v[name])
		}
	}
}

func sortedKeys(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (l *labels) add(name, text string) {
	if text == "" || l.seen[text] {
		return
	}
	if l.seen == nil {
		l.seen, l.count = map[string]bool{}, map[string]int{}
	}
	l.seen[text] = true
	l.count[name]++
	label := fmt.Sprintf("<%s-%d>", name, l.count[name])
	encoded, err := json.Marshal(text)
	if err != nil {
		return // a decoded string always encodes
	}
	if name == "cwd" { // stands inside longer paths
		l.pairs = append(l.pairs, strings.Trim(string(encoded), `"`), label)
		return
	}
	l.pairs = append(l.pairs, string(encoded), `"`+label+`"`)
}

// replacer prefers the longer text where one begins with the other: among texts
// that match at one place, the first pair wins.
func (l *labels) replacer() *strings.Replacer {
	type pair struct{ text, label string }
	var pairs []pair
	for i := 0; i < len(l.pairs); i += 2 {
		pairs = append(pairs, pair{l.pairs[i], l.pairs[i+1]})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return len(b.text) - len(a.text) })
	var flat []string
	for _, p := range pairs {
		flat = append(flat, p.text, p.label)
	}
	return strings.NewReplacer(flat...)
}

// digest is the transcript for a failed test: as it was, bounded.
func (c *Client) digest() string {
	const head, tail = 200, 300
	lines := c.Lines()
	var b strings.Builder
	for i, line := range lines {
		if i == head && len(lines) > head+tail {
			fmt.Fprintf(&b, "… %d lines …\n", len(lines)-head-tail)
		}
		if i < head || i >= len(lines)-tail {
			fmt.Fprintf(&b, "%s %s\n", line.Direction, clip([]byte(line.Text)))
		}
	}
	if text := c.Stderr(); text != "" {
		fmt.Fprintf(&b, "the agent's stderr:\n%s", text)
	}
	return b.String()
}

// clip shortens a text for a message.
func clip(text []byte) string {
	const limit = 2000
	if len(text) <= limit {
		return string(text)
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(string(text[:limit]), ""), len(text))
}
