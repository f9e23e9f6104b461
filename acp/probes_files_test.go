package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/acp"
	"kimi-acp/contextprovider"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul/llm"
)

// More of what went wrong elsewhere: bugs about files, paths and resources that were
// reported of other agents, as far as the checklist does not name them.

// TestPeer11OddBytesOfACommand: bytes that are no text break neither the line to the
// editor, which the editor's side holds against the protocol, nor the request to the
// model.
func TestPeer11OddBytesOfACommand(t *testing.T) {
	var heard listener
	s := stage{scripts: []string{shell("s", `printf 'a\377b \304\263 \355\240\200c'`), "text: done"}, newSoul: heard.soul}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" {
		t.Errorf("ended with %s", got)
	}
	for who, text := range map[string]string{"the editor": turn.Calls()[0].Text(), "the model": heard.last()} {
		if !strings.Contains(text, "a\ufffdb ĳ \ufffd") || strings.ToValidUTF8(text, "") != text {
			t.Errorf("%s is told %q", who, text)
		}
	}
}

// TestPeer13EveryEditGoesThroughTheEditor where it writes files, whichever tool makes
// it.
func TestPeer13EveryEditGoesThroughTheEditor(t *testing.T) {
	c := stage{scripts: []string{
		writeFile("w", "new.txt", "new\n"), toolCall("a", "WriteFile", map[string]any{"path": "new.txt", "content": "more\n", "mode": "append"}),
		editFile("e", "a.txt", "one", "1"), patch("p", "*** Update File: a.txt\n-two\n+2\n*** Add File: b.txt\n+b\n"), "text: done",
	}}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	put(t, s.Cwd, "a.txt", "one\ntwo\n")
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	var written []string
	for _, w := range c.Writes() {
		written = append(written, filepath.Base(w.Path))
	}
	if got, want := fmt.Sprint(written), "[new.txt new.txt a.txt a.txt b.txt]"; got != want {
		t.Errorf("written through the editor: %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(filesIn(t, s.Cwd)), "map[a.txt:1\n2\n b.txt:b\n new.txt:new\nmore\n]"; got != want {
		t.Errorf("the files are %q, want %q", got, want)
	}
	for _, call := range turn.Calls() {
		if call.Status != "completed" || len(call.Diffs()) == 0 {
			t.Errorf("%s is %s, with %d diffs", call.ID, call.Status, len(call.Diffs()))
		}
	}
}

// place makes a file, and the folders above it.
func place(t *testing.T, dir, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
		t.Fatal(err)
	}
	return put(t, dir, name, text)
}

// withFiles tells the model the text of what a prompt mentions.
func withFiles() acp.Options {
	return acp.Options{Moment: func(s acp.MomentSpec) (*contextprovider.Moment, error) {
		files := contextprovider.Files{Windows: s.Files, Readable: s.Readable}
		return contextprovider.NewMoment(contextprovider.MomentOptions{
			SessionID: s.SessionID, Roots: s.Roots, Tokens: llm.EstimateText, Readable: s.Readable, Deadline: time.Minute,
			Windows: s.Files, Providers: []contextprovider.Registration{{Provider: files}},
		})
	}}
}

// TestPeer25To26Ranges: exactly the lines that are meant reach the model, from what
// the user sees, in whichever form they are named.
func TestPeer25To26Ranges(t *testing.T) {
	var disk, unsaved strings.Builder
	for i := range 60 {
		fmt.Fprintf(&disk, "stale %d\n", i+1)
		fmt.Fprintf(&unsaved, "line %d\n", i+1)
	}
	for i, w := range []struct {
		text, behind string // the user's words, and what stands behind the file's URI
		first, last  int    // the lines; 0: none, but a note
		note         string
	}{
		{"mend it", "#L14:21", 14, 21, ""},
		{"mend it", "#L15-L21", 15, 21, ""},
		{"mend it", "#L18", 18, 18, ""},
		{"mend it", ":13:20", 13, 20, ""},
		{"mend it", "#L50:90", 50, 60, ""},
		{"mend it", "#L1872", 0, 0, "line 1872 is behind its end"},
		{"mend it", "#L21:14", 0, 0, "L21:14 is no range of lines"},
		{"handlers.rs (12:13) is wrong", "", 12, 13, ""}, // number 25
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			heard := &overheard{}
			c, s := lookingOn(t, listening(heard, withFiles(), "text: ok"))
			path := place(t, s.Cwd, "src/handlers.rs", disk.String())
			c.Buffers.Set(path, unsaved.String())
			s.Prompt(acptest.Text(w.text), acptest.Link("file://"+path+w.behind, "handlers.rs")).Wait()
			told := heard.asked[len(heard.asked)-1]
			for n := 1; n <= 60; n++ {
				if got, want := strings.Contains(told, fmt.Sprintf("line %d\n", n)), w.first <= n && n <= w.last; got != want {
					t.Errorf("line %d is told: %v\n%s", n, got, told)
					break
				}
			}
			if !strings.Contains(told, w.note) || strings.Contains(told, "stale ") {
				t.Errorf("the model is told\n%s", told)
			}
		})
	}
}

// TestPeer27OnlyAResource: a prompt without a word of its own is one.
func TestPeer27OnlyAResource(t *testing.T) {
	var heard listener
	s := stage{scripts: []string{"text: I see it"}, newSoul: heard.soul}.session(t)
	turn := s.Prompt(acptest.Resource("file:///w/a.go", "package a\n"))
	if got := turn.Wait(); got != "end_turn" || turn.Text() != "I see it" || !strings.Contains(heard.last(), "package a") {
		t.Errorf("ended with %s, said %q; the model read %s", got, turn.Text(), heard.last())
	}
}

// TestPeer40UndoNeedsNoGit: what is taken back comes from the journal, however git
// stands in the folder.
func TestPeer40UndoNeedsNoGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git on this machine")
	}
	const commit = "git init -q . && git add -A && git -c user.name=A -c user.email=a@example.org commit -qm one"
	for name, script := range map[string]string{
		"no git":               "true",
		"no commits":           "git init -q .",
		"a detached head":      commit + " && git checkout -q --detach",
		"a submodule":          "cd sub && " + commit + " && cd .. && git init -q . && git -c protocol.file.allow=always submodule --quiet add ./sub sub && git add -A",
		"a broken second root": "git init -q . && echo 'gitdir: /nowhere' > ../second/.git",
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			one, second := filepath.Join(base, "one"), filepath.Join(base, "second")
			files := []string{place(t, one, "a.txt", "one\n"), place(t, one, "sub/b.txt", "one\n"), place(t, second, "c.txt", "one\n")}
			cmd := exec.Command("sh", "-ec", script)
			cmd.Dir = one
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "GIT_CONFIG_NOSYSTEM=1"}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			c := stage{scripts: []string{editFile("a", files[0], "one", "1") + editFile("b", files[1], "one", "1") + editFile("c", files[2], "one", "1"), "text: done"}}.serve(t)
			c.Initialize(both)
			var made json.RawMessage
			c.Request("session/new", map[string]any{"cwd": one, "mcpServers": []any{}, "additionalDirectories": []any{second}}).Result(&made)
			var id struct {
				SessionID string `json:"sessionId"`
			}
			if err := json.Unmarshal(made, &id); err != nil {
				t.Fatal(err)
			}
			for _, p := range []struct{ text, want string }{{"go", "1\n"}, {"/undo", "one\n"}} {
				c.Request("session/prompt", map[string]any{"sessionId": id.SessionID, "prompt": []any{acptest.Text(p.text)}}).Result(&struct{}{})
				for _, f := range files {
					if got := onlyText(t, f); got != p.want {
						t.Errorf("after %s %s holds %q", p.text, f, got)
					}
				}
			}
		})
	}
}
