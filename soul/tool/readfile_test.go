package tool

import (
	"fmt"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

func TestReadFile(t *testing.T) {
	numbered := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.String()
	}
	w := newWorld(t, nil)
	w.files.texts = map[string]string{
		"/w/a":     "one\ntwo\nthree\n",
		"/w/open":  "one\ntwo",
		"/w/empty": "",
		"/w/blank": "\n",
		"/w/long":  numbered(1, 2500),
		"/w/wide":  strings.Repeat("é", maxLineChars) + "\n" + strings.Repeat("é", maxLineChars+1) + "\nend\n",
		"/w/big":   strings.Repeat(strings.Repeat("x", 1000)+"\n", 200),
		"/w/dirty": "unsaved\n",
		"/w/latin": "caf\xe9\n",
	}
	w.files.dirty["/w/dirty"] = true
	for _, c := range []struct {
		args, output, message string
		failed                bool
	}{
		{args: `{"path":"a"}`, output: "     1\tone\n     2\ttwo\n     3\tthree\n", message: "Read 3 lines of /w/a, from line 1 to line 3; the file has 3 lines. The end of the file was reached."},
		{args: `{"path":"/w/a","n_lines":1}`, output: "     1\tone\n", message: "Read 1 line of /w/a, from line 1 to line 1; the file has 3 lines. Stopped at the limit of 1 line; the next line is 2."},
		{args: `{"path":"a","line_offset":3,"n_lines":1}`, output: "     3\tthree\n", message: "Read 1 line of /w/a, from line 3 to line 3; the file has 3 lines. The end of the file was reached."},
		{args: `{"path":"a","line_offset":-2}`, output: "     2\ttwo\n     3\tthree\n", message: "from line 2 to line 3"},
		{args: `{"path":"a","line_offset":-99,"n_lines":1}`, output: "     1\tone\n", message: "from line 1 to line 1"},
		{args: `{"path":"a","line_offset":4}`, message: "No lines read: /w/a has 3 lines, and line 4 lies beyond them."},
		{args: `{"path":"a","line_offset":9007199254740993}`, message: "line 9007199254740993 lies beyond them."},
		{args: `{"path":"a","line_offset":-99999999999999999999}`, output: "     1\tone\n     2\ttwo\n     3\tthree\n", message: "from line 1 to line 3"},
		{args: `{"path":"a","line_offset":0}`, message: "`line_offset` must not be 0", failed: true},
		{args: `{"path":"open"}`, output: "     1\tone\n     2\ttwo\n", message: "the file has 2 lines"},
		{args: `{"path":"open","line_offset":-1}`, output: "     2\ttwo\n", message: "from line 2 to line 2"},
		{args: `{"path":"empty"}`, message: "/w/empty is empty."},
		{args: `{"path":"blank"}`, output: "     1\t\n", message: "the file has 1 line."},
		{args: `{"path":"dirty"}`, output: "     1\tunsaved\n", message: "it has changes that are not saved"},
		{args: `{"path":"latin"}`, output: "     1\tcaf\uFFFD\n", message: "Bytes that are not UTF-8 are shown as \uFFFD."},
		{args: `{"path":"none"}`, message: "/w/none: file does not exist.", failed: true},
		{args: `{"path":"../x"}`, message: "outside the workspace", failed: true},
		{args: `{"path":"a"`, message: "Error parsing JSON arguments: ", failed: true},
		{args: `{"path":7}`, message: "Error validating JSON arguments: `path` must be", failed: true},
	} {
		t.Run(c.args, func(t *testing.T) {
			v := w.call(t.Context(), "1", "ReadFile", c.args)
			if v.IsError != c.failed || v.Output.Text != c.output {
				t.Errorf("failed %v, output %q; want %v, %q", v.IsError, v.Output.Text, c.failed, c.output)
			}
			mustContain(t, v.Message, c.message)
			if v.IsError {
				brief(t, v)
			}
		})
	}

	v := w.call(t.Context(), "1", "ReadFile", `{"path":"long","n_lines":5000}`)
	mustContain(t, v.Message, "Read 1000 lines", "the file has 2500 lines", "Stopped at the limit of 1000 lines; the next line is 1001.", "`n_lines` was lowered to its maximum, 1000.")
	if n := strings.Count(v.Output.Text, "\n"); n != 1000 || !strings.HasSuffix(v.Output.Text, "  1000\tline 1000\n") {
		t.Errorf("%d lines, ending %q", n, v.Output.Text[len(v.Output.Text)-20:])
	}
	v = w.call(t.Context(), "1", "ReadFile", `{"path":"long","line_offset":-1500,"n_lines":2}`)
	if want := "  1001\tline 1001\n  1002\tline 1002\n"; v.Output.Text != want {
		t.Errorf("got %q, want %q", v.Output.Text, want)
	}

	v = w.call(t.Context(), "1", "ReadFile", `{"path":"wide"}`)
	mustContain(t, v.Message, "Lines longer than 2000 characters were cut: 2.")
	want := "     1\t" + strings.Repeat("é", maxLineChars) + "\n     2\t" + strings.Repeat("é", maxLineChars) + "…\n     3\tend\n"
	if v.Output.Text != want {
		t.Errorf("long lines are cut to %d bytes, want %d", len(v.Output.Text), len(want))
	}

	w.files.set("/w/wider", strings.Repeat(strings.Repeat("x", maxLineChars+1)+"\n", 12))
	v = w.call(t.Context(), "1", "ReadFile", `{"path":"wider"}`)
	mustContain(t, v.Message, "were cut: 1 2 3 4 5 6 7 8 9 10 ….")

	v = w.call(t.Context(), "1", "ReadFile", `{"path":"big"}`)
	mustContain(t, v.Message, "Read 101 lines", "Stopped at the limit of 100 KiB; the next line is 102.")
	if len(v.Output.Text) > maxReadBytes || len(v.Output.Text) < maxReadBytes-1100 {
		t.Errorf("%d bytes of output", len(v.Output.Text))
	}
}

// TestReadFileWindow: a part of a file is asked for as a part, and nothing is said
// of the whole that is not known.
func TestReadFileWindow(t *testing.T) {
	w := newWorld(t, nil)
	w.files.set("/w/a", "1\n2\n3\n4\n5\n")
	var asked []string
	w.files.window = func(path string, first, n int) (fileop.Window, error) {
		asked = append(asked, fmt.Sprintf("%s %d+%d", path, first, n))
		lines := ""
		for i := first; i < first+n && i <= 5; i++ {
			lines += fmt.Sprintln(i)
		}
		return fileop.Window{Path: "/w/a", Text: lines, First: first, More: first+n <= 5, Total: -1}, nil
	}
	for _, test := range []struct{ args, asked, output, message string }{
		{`{"path":"a","line_offset":2,"n_lines":2}`, "a 2+2", "     2\t2\n     3\t3\n", "Read 2 lines of /w/a, from line 2 to line 3; only this part of the file was read, so how many lines it has is not known. Stopped at the limit of 2 lines; the next line is 4."},
		{`{"path":"a","line_offset":4}`, "a 4+1000", "     4\t4\n     5\t5\n", "Read 2 lines of /w/a, from line 4 to line 5. The end of the file was reached."},
		{`{"path":"a","n_lines":1}`, "a 1+1", "     1\t1\n", "not known. Stopped at the limit of 1 line; the next line is 2."},
		{`{"path":"a"}`, "", "     1\t1\n     2\t2\n     3\t3\n     4\t4\n     5\t5\n", "the file has 5 lines. The end of the file was reached."},
		{`{"path":"a","line_offset":-1}`, "", "     5\t5\n", "the file has 5 lines"},
	} {
		asked = nil
		v := w.call(t.Context(), "1", "ReadFile", test.args)
		if v.IsError || v.Output.Text != test.output || strings.Join(asked, " ") != test.asked {
			t.Errorf("%s: asked for %q, output %q: %s", test.args, asked, v.Output.Text, v.Message)
		}
		mustContain(t, v.Message, test.message)
	}
}
