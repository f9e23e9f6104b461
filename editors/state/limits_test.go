package state

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestLimits(t *testing.T) {
	dir, project := meet(t)
	w := newWriter(t, dir)
	now := time.Now()
	path := func(i int) string { return filepath.Join(project, fmt.Sprintf("%d.go", i)) }
	s := State{
		Roots: []string{project},
		Active: &Active{
			Path: path(0), At: now,
			Selection: &Selection{Text: strings.Repeat("é", MaxSelection)},
		},
	}
	for i := range 3 * MaxDocuments {
		s.Documents = append(s.Documents, Document{Path: path(i), Used: now.Add(-time.Duration(i) * time.Second)})
	}
	for i := range 8 { // old, but unsaved
		d := &s.Documents[len(s.Documents)-1-i]
		d.Dirty, d.Text = true, text(strings.Repeat("x", MaxText))
	}
	s.Documents[0].Dirty, s.Documents[0].Text = true, text(strings.Repeat("x", MaxText+1))
	for i := range 10 {
		d := FileDiagnostics{Path: path(9 - i), At: now}
		for j := range MaxPerFile {
			d.Items = append(d.Items, Diagnostic{Severity: Hint, Message: fmt.Sprint(j) + strings.Repeat("m", 2*MaxMessage)})
		}
		d.Items = append(d.Items, Diagnostic{Severity: Error, Message: "the worst"})
		s.Diagnostics = append(s.Diagnostics, d)
	}
	check(t, w.Write(s))
	got := states(t, NewReader(dir, []string{project}))
	if len(got) != 1 {
		t.Fatalf("%d states", len(got))
	}
	g := got[0]
	if sel := g.Active.Selection; len(sel.Text) != MaxSelection || !sel.Cut || !utf8.ValidString(sel.Text) {
		t.Errorf("selection of %d bytes, cut %v", len(sel.Text), sel.Cut)
	}
	dirty, texts := 0, 0
	for _, d := range g.Documents {
		if d.Dirty {
			dirty++
		}
		if d.Text != nil {
			texts += len(*d.Text)
		}
	}
	if len(g.Documents) != MaxDocuments || g.Documents[0].Path != path(0) || dirty != 9 || texts != MaxTexts {
		t.Errorf("%d documents, %d of them dirty, %d bytes of texts", len(g.Documents), dirty, texts)
	}
	count := 0
	for _, d := range g.Diagnostics {
		count += len(d.Items)
	}
	if count != MaxDiagnostics || g.Diagnostics[0].Path != path(0) || g.Diagnostics[0].Items[0].Message != "the worst" || len(g.Diagnostics[0].Items[1].Message) != MaxMessage {
		t.Errorf("%d diagnostics, first of %s: %.20s", count, g.Diagnostics[0].Path, g.Diagnostics[0].Items[0].Message)
	}
	// What the reader clips adds to what the writer counted.
	if g.LeftOut.Documents != 2*MaxDocuments || g.LeftOut.Diagnostics != 10*(MaxPerFile+1)-MaxDiagnostics || g.LeftOut.Texts != 5 {
		t.Errorf("left out: %+v", g.LeftOut)
	}
}

// A sensitive file is a name only, whatever the caller put in.
func TestWithheld(t *testing.T) {
	dir, project := meet(t)
	w := newWriter(t, dir)
	path := filepath.Join(project, ".env")
	check(t, w.Write(State{
		Roots:       []string{project},
		Active:      &Active{Path: path, Withheld: true, Selection: &Selection{Text: "KEY=canary"}},
		Documents:   []Document{{Path: path, Withheld: true, Dirty: true, Text: text("KEY=canary")}},
		Diagnostics: []FileDiagnostics{{Path: path, Items: []Diagnostic{{Message: "canary"}}}},
	}))
	check(t, w.Queue(Prompt{Path: path, Withheld: true, Text: "canary", Diagnostics: []Diagnostic{{Message: "canary"}}}))
	for _, name := range names(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		check(t, err)
		if strings.Contains(string(data), "canary") {
			t.Errorf("%s tells: %s", name, data)
		}
	}
}

func TestMerge(t *testing.T) {
	now := time.Now()
	if _, ok := Merge(nil); ok {
		t.Error("something came of nothing")
	}
	got, ok := Merge([]State{
		{PID: 1, Documents: []Document{{Path: "/a", Used: now, Version: 1}}, Diagnostics: []FileDiagnostics{{Path: "/a", At: now}}},
		{
			PID: 2, Active: &Active{Path: "/b"},
			Documents:   []Document{{Path: "/a", Used: now.Add(time.Second), Version: 2}, {Path: "/b", Used: now}},
			Diagnostics: []FileDiagnostics{{Path: "/a", At: now.Add(-time.Second), Items: []Diagnostic{{Message: "old"}}}},
		},
	})
	if !ok || got.PID != 2 || got.Active.Path != "/b" || len(got.Documents) != 2 || got.Documents[0].Version != 2 || len(got.Diagnostics) != 1 || len(got.Diagnostics[0].Items) != 0 {
		t.Errorf("%+v", got)
	}
}

// Whatever lies in the folder, a reader neither fails nor gives more than the limits.
func FuzzStates(f *testing.F) {
	f.Add([]byte(`{"format":1,"roots":["/project"],"active":{"path":"/project/a"},"documents":[{"path":"/project/a","dirty":true,"text":"x"}]}`))
	f.Add([]byte(`{"format":1,"roots":[""],"documents":null,"diagnostics":[{"path":"/project/..","items":[{}]}]}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := Folder(t.TempDir())
		w := newWriter(t, dir)
		check(t, os.WriteFile(filepath.Join(dir, w.id+".json"), data, 0o600))
		check(t, os.WriteFile(filepath.Join(dir, w.id+".000001.prompt"), data, 0o600))
		r := NewReader(dir, []string{"/project"})
		for _, s := range states(t, r) {
			for _, d := range s.Documents {
				if !Inside(d.Path, "/project") {
					t.Errorf("%s is outside", d.Path)
				}
			}
		}
		if _, err := r.Take(); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkStates(b *testing.B) {
	dir, project := Folder(b.TempDir()), b.TempDir()
	w, err := NewWriter(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	if err := w.Write(State{Roots: []string{project}, Active: &Active{Path: filepath.Join(project, "a")}}); err != nil {
		b.Fatal(err)
	}
	r := NewReader(dir, []string{project})
	for b.Loop() {
		if _, err := r.States(); err != nil {
			b.Fatal(err)
		}
	}
}
