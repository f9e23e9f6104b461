package tool

import (
	"strings"
	"testing"
)

// TestNotebook reads a notebook as cells, edits one, and replaces it as a whole only
// by a notebook.
func TestNotebook(t *testing.T) {
	const file = "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": [\"# Title\"]},\n {\"cell_type\": \"code\", \"source\": \"x = 1\"}], \"nbformat\": 4}\n"
	p := newPlace(t, map[string]string{"n.ipynb": file, "broken.ipynb": "x\n"}, yes)
	v := p.ok("ReadFile", `{"path":"n.ipynb"}`)
	if want := "     1\t[cell 1, markdown]\n     2\t# Title\n     3\t[cell 2, code]\n     4\tx = 1\n"; v.Output.Text != want {
		t.Errorf("read %q, want %q", v.Output.Text, want)
	}
	v = p.ok("ReadFile", `{"path":"n.ipynb","line_offset":3,"n_lines":1}`)
	if want := "     3\t[cell 2, code]\n"; v.Output.Text != want {
		t.Errorf("read %q, want %q", v.Output.Text, want)
	}
	p.ok("StrReplaceFile", `{"path":"n.ipynb","edit":{"old":"x = 1","new":"x = 2"}}`)
	if got, want := p.file("n.ipynb"), strings.Replace(file, "x = 1", "x = 2", 1); got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	p.fails("WriteFile", `{"path":"n.ipynb","content":"x = 3"}`, "not a notebook", "in its cells")
	p.ok("WriteFile", jsonText(t, map[string]string{"path": "n.ipynb", "content": file}))
	if v := p.ok("ReadFile", `{"path":"broken.ipynb"}`); v.Output.Text != "     1\tx\n" {
		t.Errorf("read %q", v.Output.Text)
	}
}
