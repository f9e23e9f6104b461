package fileop_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/fileop"
)

// windowEditor is an editor that gives parts of files, in the way that cut says.
type windowEditor struct {
	*editor
	cut   func(text string, first, n int) string
	fails error
	asked []string
}

func (e *windowEditor) ReadLines(ctx context.Context, path string, first, n int) (string, error) {
	e.asked = append(e.asked, fmt.Sprintf("%s %d+%d", filepath.Base(path), first, n))
	if e.fails != nil {
		return "", e.fails
	}
	data, err := e.Read(ctx, path)
	return e.cut(string(data), first, n), err
}

// rightCut gives the lines that were asked for.
func rightCut(text string, first, n int) string {
	lines := strings.SplitAfter(text, "\n")
	first = min(first-1, len(lines))
	return strings.Join(lines[first:min(first+n, len(lines))], "")
}

func TestReadWindow(t *testing.T) {
	const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	whole := func(text string, _, _ int) string { return text }
	fromTop := func(text string, _, n int) string { return rightCut(text, 1, n) }
	for _, test := range []struct {
		name       string
		disk, edit string // edit: an unsaved text
		cut        func(string, int, int) string
		fails      error
		first, n   int
		want       fileop.Window
	}{
		{"a part", ten, "", rightCut, nil, 3, 2, fileop.Window{Text: "3\n4\n", First: 3, More: true, Total: -1}},
		{"the end", ten, "", rightCut, nil, 9, 5, fileop.Window{Text: "9\n10\n", First: 9, Total: -1}},
		{"just the end", ten, "", rightCut, nil, 9, 2, fileop.Window{Text: "9\n10\n", First: 9, Total: -1}},
		{"no line end", "1\n2", "", rightCut, nil, 2, 2, fileop.Window{Text: "2", First: 2, Total: -1}},
		{"CRLF", "1\r\n2\r\n3\r\n", "", rightCut, nil, 2, 1, fileop.Window{Text: "2\n", First: 2, More: true, Total: -1}},
		{"unsaved", ten, "a\nb\nc\nd\n", rightCut, nil, 2, 2, fileop.Window{Text: "b\nc\n", First: 2, More: true, Total: -1, Dirty: true}},
		{"beyond the end", ten, "", rightCut, nil, 11, 2, fileop.Window{First: 11, Total: 10}},
		{"the editor gives all", ten, "", whole, nil, 3, 2, fileop.Window{Text: "3\n4\n", First: 3, More: true, Total: 10}},
		{"the editor counts from the top", ten, "", fromTop, nil, 3, 2, fileop.Window{Text: "3\n4\n", First: 3, More: true, Total: 10}},
		{"the editor fails", ten, "", rightCut, errors.New("no lines here"), 3, 2, fileop.Window{Text: "3\n4\n", First: 3, More: true, Total: 10}},
		{"not UTF-8", "a\xcf\xf0\xe8\xe2\nb\n", "", rightCut, nil, 1, 1, fileop.Window{Text: "a\xcf\xf0\xe8\xe2\n", First: 1, More: true, Total: 2, NotUTF8: true}},
		{"latin-1", "a\xe9\nb\n", "", rightCut, nil, 1, 1, fileop.Window{Text: "aé\n", First: 1, More: true, Total: 2, Encoding: fileop.Windows1252}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, "f")
			mem := fileop.NewMem(root)
			if err := mem.Write(t.Context(), path, []byte(test.disk)); err != nil {
				t.Fatal(err)
			}
			e := &windowEditor{editor: &editor{disk: mem}, cut: test.cut, fails: test.fails}
			if test.edit != "" {
				e.edit(path, test.edit)
			}
			op := fileop.New(fileop.Options{Disk: mem, Editor: e, EditorReads: true, EditorWrites: true, Roots: []string{root}})
			got, err := op.ReadWindow(t.Context(), "f", test.first, test.n)
			if err != nil {
				t.Fatal(err)
			}
			test.want.Path, test.want.Real = path, got.Real
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if want := []string{fmt.Sprintf("f %d+%d", test.first, test.n+1)}; !cmp.Equal(want, e.asked) {
				t.Errorf("asked for %q, want %q", e.asked, want)
			}
			if known := op.Known(); len(known) != 1 || known[0] != (fileop.KnownFile{Name: path, Path: path}) {
				t.Errorf("known: %v", known)
			}
		})
	}
}

// TestReadWindowWithoutParts: with no editor, and with one that knows no parts, the
// whole file is read.
func TestReadWindowWithoutParts(t *testing.T) {
	root := t.TempDir()
	mem := fileop.NewMem(root)
	if err := mem.Write(t.Context(), filepath.Join(root, "f"), []byte("1\n2\n3")); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]fileop.Options{
		"no editor":    {Disk: mem, Roots: []string{root}},
		"plain editor": {Disk: mem, Editor: &editor{disk: mem}, EditorReads: true, Roots: []string{root}},
		"writes only":  {Disk: mem, Editor: &windowEditor{editor: &editor{disk: mem}}, EditorWrites: true, Roots: []string{root}},
	} {
		w, err := fileop.New(o).ReadWindow(t.Context(), "f", 2, 9)
		if err != nil || w.Text != "2\n3" || w.Total != 3 || w.More {
			t.Errorf("%s: %+v, %v", name, w, err)
		}
		if _, err := fileop.New(o).ReadWindow(t.Context(), "none", 1, 1); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a missing file: %v", name, err)
		}
		if _, err := fileop.New(o).ReadWindow(t.Context(), "../f", 1, 1); !errors.Is(err, fileop.ErrOutside) {
			t.Errorf("%s: outside: %v", name, err)
		}
	}
}

// TestReadWindowBehindTheDisk: an editor that only reads may hand out a text that was
// replaced on disk. Only the whole text tells.
func TestReadWindowBehindTheDisk(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "f")
	mem := fileop.NewMem(root)
	if err := mem.Write(t.Context(), path, []byte("old\n")); err != nil {
		t.Fatal(err)
	}
	e := &windowEditor{editor: &editor{disk: mem}, cut: rightCut}
	e.edit(path, "old\n")
	op := fileop.New(fileop.Options{Disk: mem, Editor: e, EditorReads: true, Roots: []string{root}})
	text := "new\n"
	change, err := op.Plan(t.Context(), fileop.Edit{Path: "f", Content: &text})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := op.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	w, err := op.ReadWindow(t.Context(), "f", 1, 1)
	if err != nil || w.Text != "new\n" || len(e.asked) != 0 {
		t.Errorf("%+v, %v, asked for %q", w, err, e.asked)
	}
}

func TestKnown(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "w")
	writeTree(t, root, map[string]string{"dir/f": "x", "g": "x"})
	if err := os.Symlink("dir", filepath.Join(root, "alias")); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	disk := openDisk(t, root)
	op := fileop.New(fileop.Options{Disk: disk, Editor: &editor{disk: disk}, EditorReads: true, Roots: []string{root}})
	read := func(path string) {
		t.Helper()
		if _, err := op.Read(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	if known := op.Known(); len(known) != 0 {
		t.Errorf("known before anything was read: %v", known)
	}
	read("g")
	read("alias/f")
	read("g")
	want := []fileop.KnownFile{
		{Name: filepath.Join(root, "alias", "f"), Path: filepath.Join(root, "dir", "f")},
		{Name: filepath.Join(root, "g"), Path: filepath.Join(root, "g")},
	}
	if diff := cmp.Diff(want, op.Known()); diff != "" {
		t.Error(diff)
	}
	for i := range 300 {
		name := fmt.Sprintf("n%d", i)
		writeTree(t, root, map[string]string{name: "x"})
		read(name)
	}
	known := op.Known()
	if len(known) != 256 || known[255].Name != filepath.Join(root, "n299") {
		t.Errorf("%d known files, the last one %v", len(known), known[len(known)-1])
	}
}
