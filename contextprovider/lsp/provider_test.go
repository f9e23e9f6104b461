package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/contextprovider"
)

// facts asks both providers.
func (g *ground) facts(q contextprovider.Query) string {
	g.t.Helper()
	q.Roots = []string{g.dir}
	var out []string
	for _, p := range g.servers.Providers() {
		f, err := p.Gather(g.t.Context(), q)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, s := range f.Symbols {
			out = append(out, fmt.Sprintf("%s %s %s:%d %q %q %d", s.Kind, s.Name, filepath.Base(s.Path), s.Line, s.Signature, s.Doc, s.References))
		}
		for _, d := range f.Diagnostics {
			out = append(out, filepath.Base(d.Path)+":"+brief([]contextprovider.Diagnostic{d}))
		}
	}
	return strings.Join(out, "\n")
}

func TestFactsOfServer(t *testing.T) {
	g := newGround(t, "good", nil)
	active := g.write("a.fake", "def runAll\nrunAll x runAll\nBUG here\n")
	other := g.write("b.fake", "BUG there\n")
	g.up(active)
	got := g.facts(contextprovider.Query{
		Prompt:   "Why does runAll fail, and `nothing`?",
		Mentions: []contextprovider.Mention{{Kind: contextprovider.MentionFile, Path: "b.fake"}},
		Editor:   &contextprovider.EditorState{Active: active, Cursor: &contextprovider.Position{Line: 2, Column: 3}},
	})
	want := ` runAll a.fake:1 "def runAll()" "It is runAll." 2
func runAll a.fake:1 "def runAll()" "It is runAll." 2
a.fake:3:1 error fake/7 bug in BUG here
b.fake:1:1 error fake/7 bug in BUG there`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// An edited file is told of later on, too.
	text := "BUG there\n"
	g.servers.NewProblems(t.Context(), other, &text, "BUG elsewhere\n")
	g.write("b.fake", "BUG elsewhere\n")
	if got := g.facts(contextprovider.Query{Prompt: "Go on"}); got != "b.fake:1:1 error fake/7 bug in BUG elsewhere" {
		t.Errorf("got\n%s", got)
	}
}

func TestFactsWithoutServer(t *testing.T) {
	g := newGround(t, "good", nil)
	g.trusted = false
	active := g.write("a.go", "package p\n\n// Run runs.\nfunc Run() { helpOut() }\n")
	g.write("b.py", "def helpOut():\n    pass\n")
	g.write("c.py", "def help_out():\n    pass\n")
	q := contextprovider.Query{
		Prompt: "Explain `Run` and help_out.",
		Editor: &contextprovider.EditorState{Active: active, Cursor: &contextprovider.Position{Line: 4, Column: 16}},
	}
	want := `func Run a.go:4 "func Run()" "Run runs." -1
func help_out c.py:1 "def help_out():" "" -1
func helpOut b.py:1 "def helpOut():" "" -1`
	if got := g.facts(q); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	q.Editor.Withheld = true
	q.Prompt = "Hello"
	if got := g.facts(q); got != "" {
		t.Errorf("of a withheld file: %s", got)
	}
	if n := len(g.servers.running()); n != 0 {
		t.Errorf("%d servers run", n)
	}
}

// TestWarmUpStartsNothing: a session that was opened and in which nobody has asked
// anything has no server.
func TestWarmUpStartsNothing(t *testing.T) {
	g := newGround(t, "good", nil)
	active := g.write("a.fake", "def a\n")
	q := contextprovider.Query{Editor: &contextprovider.EditorState{Active: active, Cursor: &contextprovider.Position{Line: 1, Column: 5}}}
	g.facts(q)
	if n := len(g.servers.posts); n != 0 {
		t.Errorf("%d servers were asked for", n)
	}
	q.Prompt = "Go"
	g.facts(q)
	if n := len(g.servers.posts); n != 1 {
		t.Errorf("%d servers were asked for", n)
	}
}

// What git named once and names no more has changed again: it was taken back, stashed or
// committed.
func TestFilesThatHaveChangedBack(t *testing.T) {
	g := newGround(t, "good", nil)
	g.up(g.write("a.fake", "def a\n"))
	c := g.servers.running()[0]
	path := filepath.Join(g.dir, "b.fake")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &problemsProvider{servers: g.servers}
	p.notice([]string{path})
	p.notice(nil)
	patient, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if told, _ := c.findings.await(patient, path, 0, 0); brief(told.all) != "1:1 error fake/ a change of kind 2" {
		t.Errorf("the server was told %q", brief(told.all))
	}
	mark := c.findings.mark()
	p.notice([]string{path})
	c.findings.await(patient, path, 0, mark)
	mark = c.findings.mark()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.notice(nil)
	if told, _ := c.findings.await(patient, path, 0, mark); brief(told.all) != "1:1 error fake/ a change of kind 3" {
		t.Errorf("the server was told %q", brief(told.all))
	}
}

func TestDocumentBounds(t *testing.T) {
	var sent []string
	d := newDocuments(func(method string, _ any) error { sent = append(sent, method); return nil }, newFindings(0))
	for i := range maxOpen + 3 {
		if _, _, err := d.sync(fmt.Sprintf("/f%d", i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(d.paths()); n != maxOpen {
		t.Errorf("%d files are open", n)
	}
	if v, _, _ := d.sync("/f0", "x"); v != 2 {
		t.Errorf("a file that is opened again has version %d", v)
	}
	if _, _, err := d.sync("/big", strings.Repeat("x", maxText+1)); err == nil {
		t.Error("a large file was opened")
	}
	for i := range 9 {
		if _, _, err := d.sync(fmt.Sprintf("/large%d", i), strings.Repeat("x", maxText)); err != nil {
			t.Fatal(err)
		}
	}
	if d.size > maxOpenSize {
		t.Errorf("%d bytes are open", d.size)
	}
}
