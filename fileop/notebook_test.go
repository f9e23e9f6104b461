package fileop_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/fileop"
)

const notebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {"x": 1.0},
   "source": [
    "# Title\n",
    "text & <b>\u00e9"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "a1",
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["one\n", "two\n"]},
    {"output_type": "execute_result", "data": {"image/png": "AAAA", "text/plain": "42"}},
    {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": []}
   ],
   "source": "x = 1\nprint(x)"
  },
  {"cell_type": "raw", "source": ["one line"]},
  {"cell_type": "code", "outputs": [], "source": []}
 ],
 "metadata": {},   "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestNotebookEdits(t *testing.T) {
	tests := []struct{ name, old, text, from, to string }{
		{"list of lines", "text & <b>é", "a \"quoted\"\nline & <i>", `    "text & <b>\u00e9"` + "\n", `    "a \"quoted\"\n",` + "\n" + `    "line & <i>"` + "\n"},
		{"line of a list", "# Title", "# Name", `"# Title\n",` + "\n" + `    "text & <b>\u00e9"`, `"# Name\n",` + "\n" + `    "text & <b>é"`},
		{"string", "print(x)", "print(x, x)", `"x = 1\nprint(x)"`, `"x = 1\nprint(x, x)"`},
		{"list on one line", "one line", "two\nlines", `["one line"]`, `["two\n", "lines"]`},
		{"emptied", "one line", "", `["one line"]`, `[]`},
	}
	for _, test := range tests {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(test.name, func(t *testing.T) {
				d := newDesk(t, way{})
				d.path = d.root + "/n.ipynb"
				form := func(s string) string { return strings.ReplaceAll(s, "\n", end) }
				d.save(form(notebook))
				d.commit(d.plan(swap(test.old, test.text)))
				if !strings.Contains(notebook, test.from) {
					t.Fatal("the test names what is not there")
				}
				d.wantDisk(form(strings.Replace(notebook, test.from, test.to, 1)))
			})
		}
	}
}

func TestNotebookRefused(t *testing.T) {
	tests := []struct {
		name, file string
		edit       fileop.Edit
		want       error
	}{
		{"what is no source", notebook, swap(`"nbformat": 4`, `"nbformat": 3`), fileop.ErrNoMatch},
		{"across cells", notebook, swap("éx", "y"), fileop.ErrNoMatch},
		{"in two cells", notebook, swap("one", "1"), nil},
		{"NUL", notebook, swap("# Title", "a\x00b"), fileop.ErrBinary},
		{"patch", notebook, fileop.Edit{Patch: []fileop.Passage{{Old: []string{"x"}}}}, fileop.ErrBadEdit},
		{"append", notebook, fileop.Edit{Content: ptr("x"), Append: true}, fileop.ErrBadEdit},
		{"raw text", notebook, content("x = 2\n"), fileop.ErrBadNotebook},
		{"no cells", notebook, content("{}"), fileop.ErrBadNotebook},
		{"cut off", notebook, content(notebook[:100]), fileop.ErrBadNotebook},
		{"more behind", notebook, content(notebook + "x"), fileop.ErrBadNotebook},
		{"a whole one", notebook, content(`{"cells": []}`), nil},
		{"replacing in what is none", "x", swap("x", "y"), fileop.ErrBadNotebook},
		{"repaired", "x", content(notebook), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, way{})
			d.path = d.root + "/n.ipynb"
			d.save(test.file)
			if _, err := d.op.Plan(t.Context(), withPath(test.edit, d.path)); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}

func TestNotebookView(t *testing.T) {
	got, err := fileop.Notebook(notebook)
	want := "[cell 1, markdown]\n# Title\ntext & <b>é\n[cell 2, code]\nx = 1\nprint(x)\n[output of cell 2]\none\ntwo\n[output of cell 2]\n42\n[output of cell 2]\nValueError: bad\n[cell 3, raw]\none line\n[cell 4, code]\n"
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

// FuzzNotebook replaces in whatever is taken for a notebook: it is one afterwards.
func FuzzNotebook(f *testing.F) {
	f.Add(notebook, "print", "x\ny")
	f.Add(`{"cells":[{"source":[],"cell_type":"code"}]}`, "a", "b")
	f.Fuzz(func(t *testing.T, file, old, text string) {
		root := t.TempDir()
		m := fileop.NewMem(root)
		op := fileop.New(fileop.Options{Disk: m, Roots: []string{root}})
		if m.Write(t.Context(), root+"/n.ipynb", []byte(file)) != nil {
			return
		}
		c, err := op.Plan(t.Context(), withPath(swap(old, text), root+"/n.ipynb"))
		if err != nil {
			return
		}
		if _, err := fileop.Notebook(c.After); err != nil {
			t.Errorf("%q became %q: %v", file, c.After, err)
		}
	})
}
