package contextprovider

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/fileop"
)

// project makes files in a folder and gives an Operator over it.
func project(t *testing.T, files map[string]string) (dir string, o *fileop.Operator) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := fileop.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return dir, fileop.New(fileop.Options{Disk: disk, Roots: []string{dir}})
}

// TestFiles reads what a prompt mentions, and no more than that. (Peers, number 26.)
func TestFiles(t *testing.T) {
	var long strings.Builder
	for i := range 500 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	dir, o := project(t, map[string]string{"a.txt": "one\ntwo\nthree\nfour\n", "long.txt": long.String(), ".env": "canary", "bin": "a\x00b", "d/x": "x"})
	f := Files{Windows: o, Readable: func(path string) bool { return filepath.Base(path) != ".env" }}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		name    string
		mention Mention
		want    string
	}{
		{"the whole", Mention{Path: at("a.txt")}, "a.txt from 1 of 4: one|two|three|four"},
		{"relative", Mention{Path: "a.txt"}, "a.txt from 1 of 4: one|two|three|four"},
		{"lines", Mention{Path: at("a.txt"), Lines: &LineRange{2, 3}}, "a.txt from 2 of 4: two|three"},
		{"lines past the end", Mention{Path: at("a.txt"), Lines: &LineRange{3, 90}}, "a.txt from 3 of 4: three|four"},
		{"all past the end", Mention{Path: at("a.txt"), Lines: &LineRange{80, 90}}, "a.txt: line 80 is behind its end"},
		{"what is no range", Mention{Path: at("a.txt"), NoRange: "L3:2"}, "a.txt: L3:2 is no range of lines"},
		{"around a place", Mention{Path: at("long.txt"), Lines: &LineRange{100, 100}, Column: 3}, "long.txt from 88 of 500: line 88|…|line 112"},
		{"a long one", Mention{Path: at("long.txt")}, "long.txt from 1 of 500: line 1|…|line 120 and more"},
		{"a long range", Mention{Path: at("long.txt"), Lines: &LineRange{10, 499}}, "long.txt from 10 of 500: line 10|…|line 409 and more"},
		{"sensitive", Mention{Path: at(".env")}, ".env: " + withheldReason},
		{"outside", Mention{Path: "/etc/passwd"}, "passwd: " + withheldReason},
		{"missing", Mention{Path: at("none.txt")}, "none.txt: there is no such file"},
		{"binary", Mention{Path: at("bin")}, "bin: it is not text"},
		{"a folder", Mention{Path: at("d")}, "d: it is not a file"},
		{"a guess that is none", Mention{Path: "none.txt", Guess: true, Lines: &LineRange{1, 1}}, ""},
		{"a guess that is sensitive", Mention{Path: ".env", Guess: true, Lines: &LineRange{1, 1}}, ""},
		{"carried by the prompt", Mention{Path: at("a.txt"), Embedded: true}, ""},
	} {
		c.mention.Kind = MentionFile
		facts, err := f.Gather(t.Context(), Query{Roots: []string{dir}, Mentions: []Mention{c.mention}})
		got := ""
		for _, s := range facts.Files {
			got += filepath.Base(s.Path)
			if s.Withheld != "" {
				got += ": " + s.Withheld
				continue
			}
			lines := strings.Split(strings.TrimSuffix(s.Text, "\n"), "\n")
			if len(lines) > 5 {
				lines = []string{lines[0], "…", lines[len(lines)-1]}
			}
			got += fmt.Sprintf(" from %d of %d: %s", s.First, s.Total, strings.Join(lines, "|"))
			if s.More {
				got += " and more"
			}
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestTree(t *testing.T) {
	files := map[string]string{"go.mod": "", "cmd/main.go": "", "pkg/a/a.go": "", "pkg/a/b.go": "", ".gitignore": "out/\n", "out/x": ""}
	for i := range 60 {
		files[fmt.Sprintf("many/f%02d", i)] = ""
	}
	files["many/zz"] = ""
	dir, o := project(t, files)
	for _, c := range []struct {
		name   string
		tree   Tree
		active string
		want   []string
	}{
		{"nothing in focus", Tree{}, "", nil},
		{"always", Tree{Always: true}, "", []string{".: .gitignore cmd/ go.mod many/ pkg/ +0"}},
		{"near the active file", Tree{}, "pkg/a/a.go", []string{"pkg/a: a.go b.go +0", ".: .gitignore cmd/ go.mod many/ pkg/ +0"}},
		{"what is in focus is not cut", Tree{}, "many/zz", []string{"many: f00 … zz +21", ".: .gitignore cmd/ go.mod many/ pkg/ +0"}},
		{"outside", Tree{}, "../elsewhere/x", []string{".: .gitignore cmd/ go.mod many/ pkg/ +0"}},
	} {
		q := Query{Roots: []string{dir}}
		if c.active != "" {
			q.Editor = &EditorState{Active: filepath.Join(dir, c.active)}
		}
		c.tree.Walker = o
		facts, err := c.tree.Gather(t.Context(), q)
		var got []string
		for _, f := range facts.Tree {
			rel, _ := filepath.Rel(dir, f.Path)
			names := f.Entries
			if len(names) > 10 {
				names = []string{names[0], "…", names[len(names)-1]}
			}
			got = append(got, fmt.Sprintf("%s: %s +%d", filepath.ToSlash(rel), strings.Join(names, " "), f.More))
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
	}
}

func TestASelectionIsReadWhereItWasNotTold(t *testing.T) {
	dir, o := project(t, map[string]string{"a.txt": "one\ntwo\nthree\n", ".env": "canary"})
	for name, want := range map[string]string{"a.txt": "2| two\n3| three\n", ".env": ""} {
		m := momentOf(t, &Facts{}, func(mo *MomentOptions) {
			mo.Windows, mo.Roots = o, []string{dir}
			mo.Readable = func(path string) bool { return filepath.Base(path) != ".env" }
		})
		m.Editor(func(e *EditorState) {
			e.Active, e.Selection = filepath.Join(dir, name), &Selection{From: Position{2, 1}, To: Position{3, 4}}
			if name == ".env" {
				e.Selection.From.Line = 1
			}
		})
		got := m.Part(t.Context(), "", nil, nil)
		if !strings.Contains(got, want) || strings.Contains(got, "canary") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
