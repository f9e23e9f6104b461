package contextprovider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func wording(m Mention) string {
	s := m.Path
	if m.Lines != nil {
		s += fmt.Sprintf(" %d-%d", m.Lines.First, m.Lines.Last)
	}
	if m.Column > 0 {
		s += fmt.Sprintf(" column %d", m.Column)
	}
	if m.Embedded {
		s += " embedded"
	}
	if m.Guess {
		s += " guess"
	}
	return s
}

func TestMentionsIn(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"mend it", ""},
		{"mend soul/builtin.go", ""}, // too many words look like that
		{"see soul/builtin.go:12", "soul/builtin.go 12-12 guess"},
		{"see a.go:12-20, and b.go:3.", "a.go 12-20 guess; b.go 3-3 guess"},
		{"at `src/a b.go:12:5`", "b.go 12-12 column 5 guess"},
		{"at src/a.go:12:5", "src/a.go 12-12 column 5 guess"},
		{"handlers.rs (112:113)", "handlers.rs 112-113 guess"},
		{"@notes/today.md#L3-L9 please", "notes/today.md 3-9 guess"},
		{"@notes/today.md#L3", "notes/today.md 3-3 guess"},
		{"@[[plans/my note]]:3-7, and @[[b.canvas]]:2", "plans/my note.md 3-7 guess; b.canvas 2-2 guess"},
		{"@[[note]] and [[x]]:7-3", ""},
		{`C:\w\main.go:7`, `C:\w\main.go 7-7 guess`},
		{"~/x/y.go:4", "~/x/y.go 4-4 guess"},
		{"/abs/大/名前.go:4-5", "/abs/大/名前.go 4-5 guess"},
		{"http://localhost:8080/a.go:3", ""},
		{"at 12:30 or 3:4", ""},
		{"a.go:20-12", ""},
		{"a.go:0", ""},
		{"<selected_code><path>/w/a b.lua</path><line_start>3</line_start><line_end>5</line_end><snippet>x:1</snippet></selected_code>", "/w/a b.lua 3-5 embedded"},
		{"<selected_code>\n<path>/w/a.lua</path>\n<snippet>\nLine 3: b.lua:7\n</snippet></selected_code>", "/w/a.lua embedded"},
		{"<selected_code>no path</selected_code>", ""},
		{"Sharing the following file as context: lua/init file.lua\nwhat is it?", "lua/init file.lua"},
		{strings.Repeat("a.go:1 ", 50), strings.TrimSuffix(strings.Repeat("a.go 1-1 guess; ", 10), "; ")},
	} {
		var got []string
		for _, m := range MentionsIn(c.text) {
			got = append(got, wording(m))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%.60q: %s", c.text, diff)
		}
	}
}

// TestWithText: lines that stand in the words belong to the file that is linked.
// (Peers, number 25.)
func TestWithText(t *testing.T) {
	link := func(path string) Mention { return Mention{Kind: MentionFile, Path: path} }
	ranged := link("/w/a.go")
	ranged.Lines = &LineRange{1, 2}
	for _, c := range []struct {
		linked []Mention
		text   string
		want   string
	}{
		{[]Mention{link("/w/src/handlers.rs")}, "see handlers.rs (112:113)", "/w/src/handlers.rs 112-113"},
		{[]Mention{link(`C:\w\handlers.rs`)}, "see handlers.rs (112:113)", `C:\w\handlers.rs 112-113`},
		{[]Mention{link("/w/src/a.go")}, "see src/a.go:3:4", "/w/src/a.go 3-3 column 4"},
		{[]Mention{link("/w/b/a.go")}, "see src/a.go:3", "/w/b/a.go; src/a.go 3-3 guess"},
		{[]Mention{link("/w/ha.go")}, "see a.go:3", "/w/ha.go; a.go 3-3 guess"},
		{[]Mention{ranged}, "see a.go:3", "/w/a.go 1-2; a.go 3-3 guess"},
		{[]Mention{{Kind: MentionDirectory, Path: "/w/a.go"}}, "see a.go:3", "/w/a.go; a.go 3-3 guess"},
		{[]Mention{link("/x/a.go"), link("/y/a.go")}, "a.go:3 and a.go:5", "/x/a.go 3-3; /y/a.go 5-5"},
		{[]Mention{link("/vault/plans/my note.md")}, "mend @[[my note]]:3-7", "/vault/plans/my note.md 3-7"},
		{nil, "see a.go:3", "a.go 3-3 guess"},
	} {
		var got []string
		for _, m := range WithText(c.linked, c.text) {
			got = append(got, wording(m))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

const qtText = "This is the state of the current Text Editor in Qt Creator\nCursor Position: 71, Line(0-based): 1, Column(0-based): 12\nCursor Anchor: 69, Line(0-based): 1, Column(0-based): 10\nFirst Visible Line: 0\nLast Visible Line: 2\n"

func TestEditorStateIn(t *testing.T) {
	file := Mention{Kind: MentionFile, Path: "/w/a.ts"}
	e, ok := EditorStateIn(file, qtText)
	want := EditorState{
		Editor: "Qt Creator", Active: "/w/a.ts", Cursor: &Position{2, 13},
		Selection: &Selection{From: Position{2, 11}, To: Position{2, 13}}, Visible: &LineRange{1, 3},
	}
	if diff := cmp.Diff(want, e); !ok || diff != "" {
		t.Error(ok, diff)
	}
	e, ok = EditorStateIn(file, strings.Replace(qtText, "69, Line(0-based): 1, Column(0-based): 10", "71, Line(0-based): 1, Column(0-based): 12", 1))
	if !ok || e.Selection != nil {
		t.Errorf("nothing is selected: %+v", e.Selection)
	}
	for _, text := range []string{"", "const a = 1\n", "This is the state of the current Text Editor in Qt Creator\n", "// " + qtText} {
		if _, ok := EditorStateIn(file, text); ok {
			t.Errorf("taken for a state: %q", text)
		}
	}
	if _, ok := EditorStateIn(Mention{Kind: MentionOther}, qtText); ok {
		t.Error("no file, and yet a state")
	}
}

func FuzzMentionsIn(f *testing.F) {
	for _, s := range []string{"a.go:12-20", "<selected_code><path>x</path></selected_code>", "b.rs (1:2)", qtText} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := MentionsIn(text)
		if len(all) > maxTextMentions {
			t.Errorf("%d mentions", len(all))
		}
		for _, m := range all {
			if m.Kind != MentionFile || m.Path == "" || strings.ContainsRune(m.Path, 0) {
				t.Errorf("%+v", m)
			}
			if m.Lines != nil && (m.Lines.First < 1 || m.Lines.Last < m.Lines.First) {
				t.Errorf("lines %+v", *m.Lines)
			}
		}
		if e, ok := EditorStateIn(Mention{Kind: MentionFile, Path: "/w/a"}, text); ok && (e.Cursor == nil || e.Cursor.Line < 1) {
			t.Errorf("%+v", e)
		}
	})
}
