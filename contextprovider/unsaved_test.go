package contextprovider

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/editors/state"
	"kimi-acp/fileop"
)

// What is unsaved is told by the lines in which it differs, also where a prompt does
// not mention the file, and once.
func TestUnsavedLines(t *testing.T) {
	var long strings.Builder
	for i := range 300 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	one := strings.Replace(long.String(), "line 100\n", "line 100\r\nmore\n", 1)
	read := func(_ context.Context, path string) ([]byte, error) { return os.ReadFile(path) }
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, c := range []struct {
		name, disk string
		text       *string
		mentions   []Mention
		want       string
	}{
		{name: "a line", disk: ten, text: ptr(strings.Replace(ten, "6", "six", 1)), want: "from 3 of 10: 3|4|5|six|7|8|9"},
		{name: "lines taken out", disk: ten, text: ptr(strings.Replace(ten, "5\n6\n", "", 1)), want: "from 2 of 8: 2|3|4|7|8|9"},
		{name: "at the end", disk: "a\n", text: ptr("a\nb"), want: "from 1 of 2: a|b"},
		{name: "only at the end of the last line", disk: "a\n", text: ptr("a")},
		{name: "only in the ends of lines", disk: "a\nb\n", text: ptr("a\r\nb\r\n")},
		{name: "all taken out", disk: "a\n", text: ptr(""), want: "from 1 of 0: "},
		{name: "a new file", text: ptr("a\n"), want: "from 1 of 1: a"},
		{name: "in the middle of a long one", disk: long.String(), text: &one, want: "from 98 of 301: line 98|line 99|line 100|more|line 101|line 102|line 103"},
		{name: "many lines", disk: "a\n", text: ptr(long.String()), want: "from 1 of 300: line 1|…|line 80 and more"},
		{name: "not told", disk: ten},
		{name: "not text", disk: ten, text: ptr("a\x00")},
		{name: "mentioned", disk: "a\n", text: ptr("b\n"), mentions: []Mention{{Path: "a.txt"}}, want: "from 1 of 1: b"},
		{name: "mentioned in another place", disk: long.String(), text: &one, mentions: []Mention{{Path: "a.txt", Lines: &LineRange{200, 200}}}, want: "from 200 of 301: line 199; from 98 of 301: line 98|line 99|line 100|more|line 101|line 102|line 103"},
		{name: "in the prompt", disk: "a\n", text: ptr("b\n"), mentions: []Mention{{Path: "a.txt", Embedded: true}}},
	} {
		dir, path := t.TempDir(), ""
		path = filepath.Join(dir, "a.txt")
		if c.disk != "" {
			if err := os.WriteFile(path, []byte(c.disk), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		disk, err := fileop.OpenDisk(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range c.mentions {
			m.Kind, m.Path = MentionFile, filepath.Join(dir, m.Path)
			c.mentions[i] = m
		}
		o := fileop.New(fileop.Options{Disk: disk, Roots: []string{dir}, Unsaved: unsavedText{path: c.text}})
		f := Files{Windows: o, Readable: func(string) bool { return true }, Disk: read}
		got, err := f.Gather(t.Context(), Query{Roots: []string{dir}, Mentions: c.mentions, Editor: &EditorState{Active: path, Open: []Document{{Path: path, Dirty: true, Text: c.text}}}})
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, s := range got.Files {
			if !s.Dirty {
				t.Errorf("%s: %+v is told as saved", c.name, s)
			}
			shown = append(shown, brief(s))
		}
		if diff := cmp.Diff(c.want, strings.Join(shown, "; ")); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		_ = disk.Close()
	}
}

// brief is a snapshot in one line.
func brief(s FileSnapshot) string {
	lines := splitLines(s.Text)
	if len(lines) > 12 {
		lines = []string{lines[0], "…", lines[len(lines)-1]}
	}
	text := fmt.Sprintf("from %d of %d: %s", s.First, s.Total, strings.Join(lines, "|"))
	if s.More {
		text += " and more"
	}
	return text
}

// unsavedText is fileop.Unsaved of one file.
type unsavedText map[string]*string

func (u unsavedText) Files() []string { return nil }

func (u unsavedText) Text(path string) (*string, bool) {
	text, ok := u[path]
	return text, ok
}

// A companion's unsaved texts are those that it tells, and that a file has unsaved
// changes is known without.
func TestCompanionsKnowUnsaved(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	w, err := state.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	at := func(name string) string { return filepath.Join(root, name) }
	if err := w.Write(state.State{Roots: []string{root}, Documents: []state.Document{
		{Path: at("a"), Dirty: true, Text: ptr("typed")}, {Path: at("b")}, {Path: at(".env"), Dirty: true, Withheld: true, Text: ptr("canary")},
	}}); err != nil {
		t.Fatal(err)
	}
	c := NewCompanions(dir, []string{root})
	if diff := cmp.Diff([]string{at("a"), at(".env")}, c.Files()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]struct {
		text  *string
		dirty bool
	}{"a": {ptr("typed"), true}, "b": {}, ".env": {nil, true}, "none": {}} {
		text, dirty := c.Text(at(name))
		if diff := cmp.Diff(want.text, text); diff != "" || dirty != want.dirty {
			t.Errorf("%s: dirty %v %s", name, dirty, diff)
		}
	}
}
