package companion

import (
	"testing"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/editors/state"
	"kimi-acp/internal/fileuri"
)

func TestPositions(t *testing.T) {
	const text = "aé𝄞b\r\nzwei\n\nlast"
	at := func(line, char uint32) protocol.Position { return protocol.Position{Line: line, Character: char} }
	for _, c := range []struct {
		units  encoding
		at     protocol.Position
		offset int
		place  state.Position
	}{
		{utf16Units, at(0, 0), 0, state.Position{Line: 1, Column: 1, Byte: 0}},
		{utf16Units, at(0, 2), 3, state.Position{Line: 1, Column: 3, Byte: 3}},
		{utf16Units, at(0, 3), 3, state.Position{Line: 1, Column: 3, Byte: 3}}, // within a character
		{utf16Units, at(0, 4), 7, state.Position{Line: 1, Column: 4, Byte: 7}},
		{utf8Units, at(0, 3), 3, state.Position{Line: 1, Column: 3, Byte: 3}},
		{utf8Units, at(0, 2), 1, state.Position{Line: 1, Column: 2, Byte: 1}},
		{utf32Units, at(0, 3), 7, state.Position{Line: 1, Column: 4, Byte: 7}},
		{utf16Units, at(0, 99), 8, state.Position{Line: 1, Column: 5, Byte: 8}}, // behind the line
		{utf16Units, at(1, 2), 12, state.Position{Line: 2, Column: 3, Byte: 2}},
		{utf16Units, at(2, 0), 15, state.Position{Line: 3, Column: 1, Byte: 0}},
		{utf16Units, at(3, 4), 20, state.Position{Line: 4, Column: 5, Byte: 4}},
		{utf16Units, at(9, 9), 20, state.Position{Line: 10, Column: 1, Byte: 0}}, // behind the text
	} {
		if got := c.units.offset([]byte(text), c.at); got != c.offset {
			t.Errorf("%s %v: offset %d, want %d", c.units, c.at, got, c.offset)
		}
		if got := c.units.place([]byte(text), true, c.at); got != c.place {
			t.Errorf("%s %v: place %v, want %v", c.units, c.at, got, c.place)
		}
	}
	if got := utf16Units.place(nil, false, at(4, 7)); got != (state.Position{Line: 5, Column: 8, Byte: 7}) {
		t.Errorf("without a text: %v", got)
	}
}

func TestLineEnds(t *testing.T) {
	for text, starts := range map[string][]int{
		"":           {0, 0},
		"a\nb":       {0, 2, 3},
		"a\r\nb\r\n": {0, 3, 6},
		"a\rb\r\rc":  {0, 2, 4, 5, 6},
		"\n\r\n\r":   {0, 1, 3, 4},
	} {
		for n, want := range starts {
			if got, _ := line([]byte(text), n); got != want {
				t.Errorf("%q: line %d begins at %d, want %d", text, n, got, want)
			}
		}
	}
}

func TestPathOf(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///tmp/a%20b/%C3%A9.go":  "/tmp/a b/é.go",
		"file://localhost/tmp/a.go":    "/tmp/a.go",
		"file:///tmp/x/../a.go":        "/tmp/a.go",
		"file:///tmp/a%23b":            "/tmp/a#b",
		"file://host/share/a":          "",
		"untitled:Untitled-1":          "",
		"git:/tmp/a.go?ref":            "",
		"file:///tmp/%00":              "",
		"/tmp/a.go":                    "",
		"file:///%zz":                  "",
		"vscode-remote://ssh/tmp/a.go": "",
	} {
		if got := fileuri.Path(uri); got != want {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
}

// Any positions and edits: what is kept is what an editor has, and places are inside.
func FuzzEdits(f *testing.F) {
	f.Add("a\nb\r\nc", uint32(0), uint32(1), uint32(1), uint32(0), "é𝄞\r", uint8(1))
	f.Add("", uint32(1), uint32(1<<31), uint32(1<<30), uint32(0), "x", uint8(0))
	f.Fuzz(func(t *testing.T, text string, l1, c1, l2, c2 uint32, insert string, units uint8) {
		e := []encoding{utf8Units, utf16Units, utf32Units}[units%3]
		d := &document{}
		d.hold(text)
		r := protocol.Range{Start: protocol.Position{Line: l1 % 100, Character: c1}, End: protocol.Position{Line: l2 % 100, Character: c2}}
		from, to := e.offset(d.text, r.Start), e.offset(d.text, r.End)
		end, ok := d.change(e, protocol.TextDocumentContentChangeEvent{Range: &r, Text: insert})
		if ok != (from <= to) {
			t.Fatalf("from %d to %d: %v", from, to, ok)
		}
		if !ok {
			return
		}
		if want := text[:from] + insert + text[to:]; string(d.text) != want || end != from+len(insert) {
			t.Fatalf("%q, end %d; want %q", d.text, end, want)
		}
		if p := d.placeOf(end); p.Byte < 0 || p.Byte > len(d.text) || p.Column < 1 || p.Column > p.Byte+1 || p.Line < 1 {
			t.Fatalf("place %+v", p)
		}
	})
}
