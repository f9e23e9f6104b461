package skill

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseD2(t *testing.T) {
	text := strings.Join([]string{
		"direction: right # how it is drawn",
		`a: "append a line to \"test.txt\"" # a label in quotes`,
		"a.shape: rectangle",
		"a.foo.bar",
		"b: does test.txt hold more than 3 lines? if it doesn't, say C# {",
		"  sub1 -> sub2",
		`  sub2: {label: "}"}`,
		"}",
		"BEGIN -> a -> \\",
		"  b -> c: more",
		"c: |md # the rest of this line does not count",
		"    # Title",
		"",
		`    - "x" -> \y: {z}`,
		"      - deeper",
		"|",
		"b -> b: again; and again",
		"c -> END",
		"not_used",
		"(a -> b)[0].style.stroke: red",
	}, "\n")
	f, err := ParseD2(text)
	if err != nil {
		t.Fatal(err)
	}
	want := &Flow{Begin: "BEGIN", Nodes: map[string]Node{
		"BEGIN":     {Prompt: "BEGIN", Exits: []Exit{{To: "a"}}},
		"a":         {Prompt: `append a line to "test.txt"`, Exits: []Exit{{To: "b"}}},
		"b":         {Prompt: "does test.txt hold more than 3 lines? if it doesn't, say C#", Exits: []Exit{{"more", "c"}, {"again; and again", "b"}}},
		"c":         {Prompt: "# Title\n\n- \"x\" -> \\y: {z}\n  - deeper", Exits: []Exit{{To: "END"}}},
		"END":       {Prompt: "END", End: true},
		"a.foo.bar": {Prompt: "a.foo.bar"},
		"not_used":  {Prompt: "not_used"},
		"direction": {Prompt: "right"},
	}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
}

func TestParseD2Refuses(t *testing.T) {
	for name, c := range map[string]struct{ text, why string }{
		"an open block":      {"BEGIN -> a -> END\na: |md\n  x", "line 2: a block of text is not closed"},
		"an open quote":      {"BEGIN -> a -> END\n\na: \"x", "line 3: a label in quotes is not closed"},
		"an open brace":      {"BEGIN -> a -> END\na: x {\n b", "line 2: a { is not closed"},
		"a stray brace":      {"BEGIN -> END\n}", "line 2"},
		"two labels":         {"BEGIN -> a -> END\na: x\na: y", "line 3: node a has two labels"},
		"an arrow backwards": {"BEGIN -> a -> END\na <- b", "write a -> b"},
		"a line":             {"BEGIN -- END", "write a -> b"},
		"no name":            {"BEGIN -> -> END", "no name of a node"},
		"a name with blanks": {"BEGIN -> my node -> END", `"my node" is no name`},
		"behind a quote":     {`BEGIN -> a: "x" y`, "where the line should end"},
		"another block":      {"BEGIN -> a -> END\na: |`md x `|", "does not begin a block"},
		"no labels":          {"BEGIN -> a -> END\na -> a", "need labels"},
		"itself":             {"BEGIN -> BEGIN -> END", "leads to itself"},
	} {
		if f, err := ParseD2(c.text); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, %v; want %q", name, f, err, c.why)
		}
	}
}

func TestFlowOf(t *testing.T) {
	for name, c := range map[string]struct{ body, begin string }{
		"the first of both":  {"```sh\nx\n```\n~~~~ {d2} title\nBEGIN -> END\n~~~\n~~~~\n```mermaid\nA([BEGIN])-->B([END])\n```", ""},
		"d2":                 {"  ```D2\nBEGIN -> END\n  ```", "BEGIN"},
		"mermaid":            {"````mermaid\nA([BEGIN])-->B([END])\n````", "A"},
		"in another block":   {"````\n```d2\nBEGIN -> END\n```\n````", ""},
		"a block not closed": {"```d2\nBEGIN -> END", ""},
	} {
		s, err := parse("x", "---\ntype: flow\n---\n"+c.body)
		begin := ""
		if s.Flow != nil {
			begin = s.Flow.Begin
		}
		if begin != c.begin || (err == nil) != (begin != "") {
			t.Errorf("%s: begins at %q, %v; want %q", name, begin, err, c.begin)
		}
	}
}

func FuzzParseD2(f *testing.F) {
	f.Add("BEGIN -> a -> END: x\na: |md\n  y\n|\na.shape: z {\n}")
	f.Add("a: \"x\\\n\" # c\nb: 'y' {\"}\"}")
	f.Fuzz(func(t *testing.T, text string) {
		flow, err := ParseD2(text)
		if err != nil {
			return
		}
		for id, n := range flow.Nodes {
			for _, e := range n.Exits {
				if _, ok := flow.Nodes[e.To]; !ok {
					t.Errorf("%s leads to %q, which is no node", id, e.To)
				}
			}
		}
	})
}
