package lsp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/fileuri"
)

func TestURIs(t *testing.T) {
	if runtime.GOOS != "windows" {
		for _, path := range []string{"/w/a.go", "/w/a b/ä#?%41.go", "/w/c:d"} {
			if got := fileuri.Path(fileuri.Of(path)); got != path {
				t.Errorf("%s became %s, by %s", path, got, fileuri.Of(path))
			}
		}
	}
	for uri, want := range map[string]string{
		"file:///w/../a": "/a", "FILE://localhost/a": "/a",
		"file://other/a": "", "untitled:Untitled-1": "", "http://x/a": "", "file:///a%00": "", "%": "", "": "", "file:a": "",
		"file:///" + strings.Repeat("a", fileuri.MaxBytes): "",
	} {
		if got := fileuri.Path(uri); got != filepath.FromSlash(want) {
			t.Errorf("%.40s: %q, want %q", uri, got, want)
		}
	}
}

func TestPositionOf(t *testing.T) {
	const text = "first a.b\r\n😀 name nameless name\nname"
	for _, tt := range []struct {
		at   contextprovider.Place
		want string
	}{
		{contextprovider.Place{Symbol: "name"}, "1:3"},
		{contextprovider.Place{Symbol: "x.(*T).name"}, "1:3"},
		{contextprovider.Place{Symbol: "name", Line: 2, Column: 9}, "1:17"},
		{contextprovider.Place{Symbol: "name", Line: 2, Column: 6}, "1:3"},
		{contextprovider.Place{Symbol: "name", Line: 2, Column: 99}, "1:17"},
		{contextprovider.Place{Symbol: "b"}, "0:8"},
		{contextprovider.Place{Line: 3, Column: 2}, "2:1"},
		{contextprovider.Place{Symbol: "nam"}, "nam does not stand in "},
		{contextprovider.Place{Symbol: "name", Line: 1}, "name does not stand in line 1 of , which has 3 lines"},
		{contextprovider.Place{Path: "a.py", Symbol: "far"}, "far does not stand in a.py"},
		{contextprovider.Place{Line: 9}, " has 3 lines, so there is no line 9"},
		{contextprovider.Place{Symbol: "a."}, `"a." is no name`},
		{contextprovider.Place{}, "say which symbol is meant, or its line and column"},
	} {
		p, err := positionOf(text, tt.at)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			b, _ := json.Marshal([]uint32{p.Line, p.Character})
			got = strings.Trim(strings.ReplaceAll(string(b), ",", ":"), "[]")
		}
		if got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.at, got, tt.want)
		}
	}
}

// TestLikelyLine: a name without a line is not looked for in comments first.
func TestLikelyLine(t *testing.T) {
	for _, tt := range []struct{ path, text, want string }{
		{"a.go", "package p\n\n// Run: see run.\nvar x = Run\n\nfunc Run() {}\n", "5:5"},
		{"a.unknown", "// Run\n# Run\ncall Run\n", "2:5"},
		{"a.unknown", "// Run\n", "0:3"},
	} {
		p, err := positionOf(tt.text, contextprovider.Place{Path: tt.path, Symbol: "Run"})
		if got := fmt.Sprintf("%d:%d", p.Line, p.Character); err != nil || got != tt.want {
			t.Errorf("%q: %s %v", tt.text, got, err)
		}
	}
}

func TestCard(t *testing.T) {
	for _, tt := range []struct{ contents, signature, doc string }{
		{`{"kind":"markdown","value":"` + "```go\\nfunc F(a int) error\\n```\\n\\n---\\n\\nF does it.\\n\\n\\nTwice.\\n\\n[`p.F` on pkg.go.dev](https://x)" + `"}`, "func F(a int) error", "F does it.\n\nTwice."},
		{`"def f()\nIt is f."`, "def f()", "It is f."},
		{`[{"language":"python","value":"def f()"},"It is f."]`, "def f()", "It is f."},
		{`{"kind":"plaintext","value":"(function) def f() -> int"}`, "(function) def f() -> int", ""},
		{`null`, "", ""},
		{`7`, "", ""},
	} {
		var c card
		if err := json.Unmarshal([]byte(`{"contents":`+tt.contents+`}`), &c); err != nil {
			t.Fatal(err)
		}
		signature, doc := c.parts()
		if signature != tt.signature || doc != tt.doc {
			t.Errorf("%s: %q %q", tt.contents, signature, doc)
		}
	}
}

func TestTextEdits(t *testing.T) {
	edit := func(a, b, c, d int, text string) string {
		raw, _ := json.Marshal(protocol.TextEdit{Range: protocol.Range{Start: protocol.Position{Line: uint32(a), Character: uint32(b)}, End: protocol.Position{Line: uint32(c), Character: uint32(d)}}, NewText: text})
		return string(raw)
	}
	for _, tt := range []struct{ name, raw, want string }{
		{"changes", `{"changes":{"file:///a":[` + edit(1, 0, 1, 1, "B") + "," + edit(0, 0, 0, 1, "A") + `]}}`, "A\nB"},
		{"document changes count", `{"changes":{"file:///a":[]},"documentChanges":[{"textDocument":{"uri":"file:///a","version":null},"edits":[` + edit(0, 0, 9, 9, "") + `]}]}`, ""},
		{"insertions at one place keep their order", `{"changes":{"file:///a":[` + edit(0, 0, 0, 0, "1") + "," + edit(0, 0, 0, 0, "2") + `]}}`, "12a\nb"},
		{"overlap", `{"changes":{"file:///a":[` + edit(0, 0, 1, 1, "") + "," + edit(0, 1, 1, 0, "") + `]}}`, "two overlap"},
		{"backwards", `{"changes":{"file:///a":[` + edit(1, 0, 0, 0, "") + `]}}`, "one ends before it begins"},
		{"makes files", `{"documentChanges":[{"kind":"create","uri":"file:///a"}]}`, "the rename would also create files, which is not done"},
		{"no file", `{"changes":{"untitled:1":[]}}`, "an edit is for something that is no file"},
		{"nonsense", `[1]`, "the edits cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edits, err := textEdits([]byte(tt.raw))
			got := ""
			if err == nil {
				got, err = applied("a\nb", edits["/a"])
			}
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestNamesIn(t *testing.T) {
	for prompt, want := range map[string]string{
		"Why does `open` fail in parseConfig and NewServer?": "open parseConfig NewServer",
		"call run() after os.Open, not before e.g. now":      "run os.Open",
		"Look at main.go, cmd/kimi-acp and https://a.com/xY": "",
		"Rename the Registry, please. Then stop":             "Registry",
		"MAX_SIZE and snake_case and _x":                     "MAX_SIZE snake_case",
		"File::open, Foo#bar_baz":                            "File::open Foo#bar_baz",
		"```\nvar x = aB\n```\n and `y` then cD":             "var aB cD", // what is fenced counts as quoted
		"":                                                   "",
		"aA bB cC dD eE fF":                                  "aA bB cC dD eE",
		"mail me@exampleCom.org":                             "",
	} {
		got := strings.Join(namesIn(prompt), " ")
		if got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}

func TestAdded(t *testing.T) {
	d := func(line int, message string) contextprovider.Diagnostic {
		return contextprovider.Diagnostic{Lines: contextprovider.LineRange{First: line, Last: line}, Message: message, Severity: contextprovider.SeverityError}
	}
	got := added(
		[]contextprovider.Diagnostic{d(1, "x"), d(2, "y")},
		[]contextprovider.Diagnostic{d(2, "x"), d(3, "y"), d(4, "x"), d(1, "y"), d(9, "z")},
		"a\nb", "n\na\nb\na")
	if diff := cmp.Diff([]contextprovider.Diagnostic{d(4, "x"), d(1, "y"), d(9, "z")}, got); diff != "" {
		t.Error(diff)
	}
	// A server that repeats what it said of the text before an edit of that very line.
	if got := added([]contextprovider.Diagnostic{d(1, "x")}, []contextprovider.Diagnostic{d(1, "x"), d(1, "y")}, "a +", "a + b"); len(got) != 1 || got[0].Message != "y" {
		t.Errorf("%v", got)
	}
	if r := changedLines("a\nb\nc", "a\nx\ny\nc"); r.First != 2 || r.Last != 3 {
		t.Errorf("%v", r)
	}
}

// FuzzAnswers: whatever a server says, it is read without harm.
func FuzzAnswers(f *testing.F) {
	f.Add(`[{"uri":"file:///a","range":{"start":{"line":1,"character":2},"end":{}}}]`, "text\nmore")
	f.Add(`{"targetUri":"file:///a"}`, "")
	f.Add(`{"changes":{"file:///a":[{"range":{"start":{"line":4294967295,"character":4294967295}},"newText":"x"}]}}`, "a\nb")
	f.Fuzz(func(_ *testing.T, raw, text string) {
		for _, s := range spots([]byte(raw)) {
			s.where()
		}
		var entries []entry
		if json.Unmarshal([]byte(raw), &entries) == nil {
			var found contextprovider.Found
			flatten(&found, entries, "/a", "", "", 0)
		}
		var c card
		if json.Unmarshal([]byte(raw), &c) == nil {
			c.parts()
		}
		if edits, err := textEdits([]byte(raw)); err == nil {
			for _, list := range edits {
				after, err := applied(text, list)
				if err == nil && utf8.ValidString(text) && utf8.ValidString(raw) && !utf8.ValidString(after) {
					panic("a rune was cut: " + after)
				}
			}
		}
	})
}
