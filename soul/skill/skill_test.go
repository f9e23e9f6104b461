package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHead(t *testing.T) {
	got := Head("name: 'it''s'\ndescription: >-\n  one\n  two\nlong: |\n  a\n  b\n# no: comment\nquoted: \"a: b\"\nplain: x # remark\nnested:\n  deep: 1\nlist:\n- a\nbroken\nspread: a\n  b")
	want := map[string]string{"name": "it's", "description": "one two", "long": "a\nb", "quoted": "a: b", "plain": "x", "spread": "a b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"b/SKILL.md":         "---\nname: named\ndescription: D\n---\n\nText.\n",
		"a/SKILL.md":         "no head",
		"flow/SKILL.md":      "---\ntype: flow\n---\n```mermaid\nA([BEGIN]) --> B([END])\n```\n",
		"noflow/SKILL.md":    "---\ntype: flow\n---\n",
		"bad/SKILL.md":       "\xff",
		"empty/README.md":    "",
		"SKILL.md":           "of no folder",
		"flat.md":            "---\n---\n\n# Flat\n",
		"flow.md":            "hidden by the folder",
		"deep/SKILL.md/file": "",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	skills, err := Load(dir)
	var got []string
	for _, s := range skills {
		kind := "text"
		if s.Flow != nil {
			kind = "flow"
		}
		got = append(got, s.Name+" "+s.Description+" "+kind)
	}
	want := []string{"a no head text", "flat # Flat text", "flow ```mermaid flow", "named D text", "noflow No description provided. text"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"noflow", "bad", "deep"} {
		if err == nil || !strings.Contains(err.Error(), "skill "+name) {
			t.Errorf("%s is not named in %v", name, err)
		}
	}
	if skills[3].Text != "---\nname: named\ndescription: D\n---\n\nText." {
		t.Errorf("the text is %q", skills[3].Text)
	}
}

func TestBuiltin(t *testing.T) {
	var names []string
	for _, s := range Builtin() {
		names = append(names, s.Name)
		if s.Description == "" || s.Text == "" {
			t.Errorf("%s is empty", s.Name)
		}
	}
	if diff := cmp.Diff([]string{"kimi-cli-help", "skill-creator"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestParseMermaid(t *testing.T) {
	chart := `---
title: how it is called
---
flowchart TD
%% a remark
A([BEGIN]) --> B["Say (hello) [now]"]
B -- good --> C{Really?}:::red
B -->|bad| my-node
my-node[Again] ==> B
C -.->|"yes, it is"| D["say \"done\""] --> END; my-node;
C -- no --> B
style B fill:#fff
subgraph x
end`
	f, err := ParseMermaid(chart)
	if err != nil {
		t.Fatal(err)
	}
	want := &Flow{Begin: "A", Nodes: map[string]Node{
		"A":       {Prompt: "BEGIN", Exits: []Exit{{To: "B"}}},
		"B":       {Prompt: "Say (hello) [now]", Exits: []Exit{{"good", "C"}, {"bad", "my-node"}}},
		"C":       {Prompt: "Really?", Exits: []Exit{{"yes, it is", "D"}, {"no", "B"}}},
		"my-node": {Prompt: "Again", Exits: []Exit{{To: "B"}}},
		"D":       {Prompt: `say "done"`, Exits: []Exit{{To: "END"}}},
		"END":     {Prompt: "END", End: true},
	}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
}

func TestParseMermaidRefuses(t *testing.T) {
	for name, chart := range map[string]string{
		"no begin":       "A --> B([END])",
		"two ends":       "A([BEGIN]) --> B([END])\nA --> C([END])",
		"unreachable":    "A([BEGIN]) --> B[x]\nC([END])",
		"unlabelled":     "A([BEGIN]) --> B[x]\nB --> C([END])\nB --> A",
		"same label":     "A([BEGIN]) --> B[x]\nB -->|y| C([END])\nB -->|y| A",
		"two labels":     "A([BEGIN]) --> B[x]\nB[y] --> C([END])",
		"open label":     "A([BEGIN]) --> B[x",
		"empty label":    "A([BEGIN]) --> B[]",
		"no arrow":       "A([BEGIN]) ~~ B([END])",
		"itself":         "A([BEGIN]) --> A\nA --> C([END])",
		"no node":        "--> B",
		"empty":          "",
		"unclosed quote": `A([BEGIN]) --> B["x]`,
	} {
		if f, err := ParseMermaid(chart); err == nil {
			t.Errorf("%s: read as %v", name, f)
		}
	}
}

func FuzzParseMermaid(f *testing.F) {
	f.Add("A([BEGIN]) --> B[Say hello]\nB -->|x| C([END])")
	f.Add("a-b--c")
	f.Fuzz(func(t *testing.T, chart string) {
		flow, err := ParseMermaid(chart)
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

func FuzzHead(f *testing.F) {
	f.Add("name: x\nd: >\n  y")
	f.Fuzz(func(_ *testing.T, text string) { Head(text) })
}
