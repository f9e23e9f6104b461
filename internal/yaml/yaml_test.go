package yaml

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	other "go.yaml.in/yaml/v3"
)

// plainly writes a node as Go values, as the other reader's node is written below.
func plainly(n Node) any {
	switch n.Kind {
	case Text:
		return n.Text
	case Mapping:
		all := make([]any, 0, 2*len(n.Entries))
		for _, e := range n.Entries {
			all = append(all, e.Name, plainly(e.Value))
		}
		return map[string]any{"mapping": all}
	case List:
		all := make([]any, 0, len(n.Items))
		for _, i := range n.Items {
			all = append(all, plainly(i))
		}
		return all
	}
	return nil
}

func otherPlainly(n *other.Node) any {
	switch n.Kind {
	case other.DocumentNode:
		return otherPlainly(n.Content[0])
	case other.MappingNode:
		all := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			if i%2 == 0 {
				all = append(all, c.Value)
			} else {
				all = append(all, otherPlainly(c))
			}
		}
		return map[string]any{"mapping": all}
	case other.SequenceNode:
		all := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			all = append(all, otherPlainly(c))
		}
		return all
	}
	if n.Tag == "!!null" || n.Kind == 0 {
		return nil
	}
	return n.Value
}

// agrees fails when a text that is read is not read as the other reader does.
func agrees(t *testing.T, text string) {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		return
	}
	var theirs other.Node
	if err := other.Unmarshal([]byte(text), &theirs); err != nil {
		t.Fatalf("%q is read as %v, and yaml refuses it: %v", text, plainly(n), err)
	}
	if diff := cmp.Diff(otherPlainly(&theirs), plainly(n)); diff != "" {
		t.Fatalf("%q is read in another way than by yaml (-theirs +ours):\n%s", text, diff)
	}
}

// good are texts that must be read, as the other reader does.
func good() []string {
	return []string{
		"", "# nothing\n", "---\n", "a: 1", "a: 1\nb: two words # and a comment\n", "---\na: b\n...\n",
		"a:\n  b: c\n  d:\n    e: f\ng: h\n", "a:\n- x\n- y\nb:\n  - z\n", "a:\n  - b: 1\n    c: 2\n  - d: 3\n",
		"a:\n  -\n    b: 1\n  - - x\n    - y\n  -\n", "a: [x, 'y', \"z\", 1]\nb: {c: d, e: [f], g: }\nh: []\ni: {}\n",
		"a: [\n  x, # first\n  y:z,\n  ]\n", "a: ~\nb: null\nc:\nd: ''\n",
		"a: 'it''s'\nb: \"tab\\t, \\\"quote\\\", \\u00e9, \\x41, \\\\\"\n", "a: \"x\n  y\n\n  z \\\n  w\"\nb: 'x\n  y'\n",
		"a: one\n  two\n\n  three\nb: 1\n", "a: |\n  one\n    two\n\n  three\nb: 1\n", "a: >\n  one\n  two\n\n  three\n    four\n  five\nb: 1\n",
		"a: |-\n  x\n\nb: |+\n  y\n\nc: >-\n  z\n", "a: |2\n    two further in\n", "a: |\n  no end", "a:\n  b: |\n    t\n  c: d\n",
		"a: |\n\n  x # no comment\n  # neither\n # one\nb: c\n", "'a b': c\n\"d: e\": f\ng h : i\n", "a: b:c\nd: http://x/y#z\ne: -1\nf: a, b [c]\n",
		"\ufeffa: b\r\nc: d\r\n", "a: kimi_cli.tools.shell:Shell\n", "a:\n  - \"kimi_cli.tools.shell:Shell\"\n  - kimi_cli.tools.file:ReadFile # x\n",
		"a: { b: { path: ./c.yaml, description: \"d, e\" } }\n", "a: x # y\n# z\nb: c\n", "ä: ö\n",
	}
}

func TestReadsAsOthersDo(t *testing.T) {
	for _, text := range good() {
		if _, err := Parse(text); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		agrees(t, text)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		text string
		line int
	}{
		{"a", 1},
		{"- a", 1},
		{"a: b\n c: d", 2},
		{"a: b\nc", 2},
		{"a: &x b", 1},
		{"a: *x", 1},
		{"a: !t b", 1},
		{"a: b: c", 1},
		{"a: 'b", 1},
		{"\na: \"b\nc: d\"", 3},
		{"a: [b", 1},
		{"a: b\na: c", 2},
		{"a:\n\tb: c", 2},
		{"a: b\n---\nc: d", 2},
		{"a: |x\n", 1},
		{"a: @b", 1},
		{"%YAML 1.2\n---\na: b", 1},
		{"a: \"\\q\"", 1},
		{"a: \x00", 1},
		{"a: \xff", 1},
		{"a:\n  b: c\n d: e", 3},
		{"a: 'b' c", 1},
		{"a: [b] c", 1},
		{"<<: a", 1},
		{"a: {b: c, b: d}", 1},
		{"a: {b}", 1},
		{"? a", 1},
		{"a: - b", 1},
		{"a:\n - b\n c", 3},
		{"a:\n- b\n  - c: d", 3},
	} {
		n, err := Parse(c.text)
		var refused *Error
		if !errors.As(err, &refused) || refused.Line != c.line {
			t.Errorf("%q: line %d is expected, got %v (%v)", c.text, c.line, err, plainly(n))
		}
	}
}

func TestBounds(t *testing.T) {
	deep, long := "a: ", "a: '"
	for range maxDepth + 1 {
		deep += "["
	}
	for len(long) <= MaxSize {
		long += long
	}
	for _, text := range []string{deep, long} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%.20q… of %d bytes is read", text, len(text))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range good() {
		f.Add(text)
	}
	f.Fuzz(agrees)
}
