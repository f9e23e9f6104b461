package acp_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// overheard keeps what the model was asked.
type overheard struct {
	llm.Provider
	asked []string // the latest user message of each request
}

func (o *overheard) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	for _, m := range req.Messages {
		if m.Role != llm.RoleUser {
			continue
		}
		var text strings.Builder
		for _, p := range m.Content {
			text.WriteString(p.Text)
		}
		if n := len(o.asked); n == 0 || o.asked[n-1] != text.String() {
			o.asked = append(o.asked, text.String())
		}
	}
	return o.Provider.Stream(ctx, req)
}

func TestUndo(t *testing.T) {
	heard := &overheard{}
	c := stage{
		scripts: []string{
			editFile("e1", "a.txt", "one", "ONE"), "text: done",
			editFile("e2", "a.txt", "three", "THREE") + "\n" + writeFile("w2", "new.txt", "new\n"), "text: done",
			"text: I see",
		},
		newSoul: func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
			heard.Provider = p
			return builtin(spec, heard)
		},
	}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	put(t, s.Cwd, "a.txt", "one\ntwo\nthree\nfour\nfive\n")
	say := func(text string) string {
		t.Helper()
		turn := s.Prompt(acptest.Text(text))
		if got := turn.Wait(); got != "end_turn" {
			t.Fatalf("%s ended with %s", text, got)
		}
		return turn.Text()
	}
	file := func(name string) string {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(s.Cwd, name))
		if err != nil {
			return "none"
		}
		return string(raw)
	}
	if got := say("/undo"); !strings.Contains(got, "nothing to take back") {
		t.Errorf("before any edit /undo says %q", got)
	}
	say("first")
	say("second")
	if got := file("a.txt"); got != "ONE\ntwo\nTHREE\nfour\nfive\n" {
		t.Fatalf("after two turns the file holds %q", got)
	}
	if got := say("/changes"); !strings.Contains(got, "edit `a.txt` (StrReplaceFile)") || !strings.Contains(got, "create `new.txt` (WriteFile)") {
		t.Errorf("/changes says %q", got)
	}
	// The user goes on: what they did stays.
	put(t, s.Cwd, "a.txt", "ONE\ntwo\nTHREE\nfour\nFIVE, mine\n")
	if got := say("/undo"); !strings.Contains(got, "`a.txt`: the edit is taken out, what was changed since stays") {
		t.Errorf("/undo says %q", got)
	}
	if got := file("a.txt"); got != "ONE\ntwo\nthree\nfour\nFIVE, mine\n" {
		t.Errorf("after /undo the file holds %q", got)
	}
	if got := say("/undo many"); !strings.Contains(got, "`/undo 2`") {
		t.Errorf("/undo many says %q", got)
	}
	// The model learns of it with the next prompt, once.
	say("and now?")
	last := heard.asked[len(heard.asked)-1]
	if !strings.Contains(last, "and now?") || !strings.Contains(last, "a.txt") {
		t.Errorf("the model was asked %q", last)
	}
	if got := say("/undo 9"); !strings.Contains(got, "`a.txt`") {
		t.Errorf("/undo 9 says %q", got)
	}
	if got := file("a.txt"); got != "one\ntwo\nthree\nfour\nFIVE, mine\n" {
		t.Errorf("in the end the file holds %q", got)
	}
	if got := say("/undo change 9"); !strings.Contains(got, "no such change") {
		t.Errorf("/undo change 9 says %q", got)
	}
	if got := say("/undo file a.txt"); !strings.Contains(got, "no change of a.txt stands") {
		t.Errorf("/undo file a.txt says %q", got)
	}
	if got := say("/changes"); !strings.Contains(got, "No edit") {
		t.Errorf("in the end /changes says %q", got)
	}
}

// TestUndoOne takes back one change, those of one file, and all.
func TestUndoOne(t *testing.T) {
	s := stage{scripts: []string{
		editFile("e1", "a.txt", "one", "ONE"), editFile("e2", "a.txt", "five", "FIVE"), writeFile("w1", "b.txt", "new\n"), editFile("e3", "c d.txt", "x", "y"), "text: done",
	}}.session(t)
	put(t, s.Cwd, "a.txt", "one\n2\n3\n4\nfive\n")
	put(t, s.Cwd, "c d.txt", "x\n")
	for _, step := range []struct{ say, answer, a, b, c string }{
		{"go", "done", "ONE\n2\n3\n4\nFIVE\n", "new\n", "y\n"},
		{"/undo step", "Taken back:\n- `c d.txt`: as it was before\n\n`/redo` brings back", "ONE\n2\n3\n4\nFIVE\n", "new\n", "x\n"},
		{"/undo step 2", "`b.txt`: as it was before\n- `a.txt`: as it was before", "ONE\n2\n3\n4\nfive\n", "", "x\n"},
		{"/redo", "Brought back:\n- `a.txt`: as it was before it was taken back\n- `b.txt`: as it was", "ONE\n2\n3\n4\nFIVE\n", "new\n", "x\n"},
		{"/redo", "Brought back:\n- `c d.txt`: as it was", "ONE\n2\n3\n4\nFIVE\n", "new\n", "y\n"},
		{"/redo", "nothing to bring back", "ONE\n2\n3\n4\nFIVE\n", "new\n", "y\n"},
		{"/undo step none", "takes the number of steps", "ONE\n2\n3\n4\nFIVE\n", "new\n", "y\n"},
		{"/undo change a1", "`a.txt`: the edit is taken out, what was changed since stays", "one\n2\n3\n4\nFIVE\n", "new\n", "y\n"},
		{"/undo file c d.txt", "`c d.txt`: as it was before", "one\n2\n3\n4\nFIVE\n", "new\n", "x\n"},
		{"/undo all", "`b.txt`: as it was before", "one\n2\n3\n4\nfive\n", "", "x\n"},
	} {
		turn := s.Prompt(acptest.Text(step.say))
		if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), step.answer) {
			t.Errorf("%s says %q", step.say, turn.Text())
		}
		for name, want := range map[string]string{"a.txt": step.a, "b.txt": step.b, "c d.txt": step.c} {
			raw, err := os.ReadFile(filepath.Join(s.Cwd, name))
			if string(raw) != want || err != nil && want != "" {
				t.Errorf("after %s %s holds %q, %v", step.say, name, raw, err)
			}
		}
	}
}
