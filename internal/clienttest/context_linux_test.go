//go:build clients

package clienttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
)

// now gives the one editor that tells something of the desk, once good holds of it.
func (d desk) now(t *testing.T, what string, meanwhile func(), good func(seen) bool) (found seen) {
	t.Helper()
	d.await(t, what, meanwhile, func(s seen) bool {
		found = s
		return good(s)
	})
	return found
}

// checkPrompt sends a prompt by another client, in the folder on which an editor is
// open, and holds the request that the model gets against what the user sees there:
// everything once. asked is what the user chose to be sent along, "" for nothing.
func (d scene) checkPrompt(t *testing.T, agent, asked string, s seen) {
	t.Helper()
	model := modeltest.New(t)
	model.Push(says("seen"))
	c := acptest.Start(t, acptest.Process{Path: agent, Dir: d.dir, Env: append(d.env, served(model)...)})
	defer c.Close()
	c.Initialize(acptest.Capabilities{})
	session := c.NewSession(d.dir)
	for began := time.Now(); ; { // git may be slower than a prompt waits
		turn := session.Prompt(acptest.Text("/context"))
		turn.Wait()
		if strings.Contains(turn.Text(), "looked-at") && !strings.Contains(turn.Text(), "Missing") {
			break
		}
		if time.Since(began) > editorTime {
			t.Fatalf("the context is not whole after %v:\n%s", editorTime, turn.Text())
		}
	}
	began := time.Now()
	turn := session.Prompt(acptest.Text("what is wrong?"))
	if got := turn.Wait(); got != "end_turn" {
		t.Fatalf("the prompt ended with %s", got)
	}
	requests := model.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests", len(requests))
	}
	messages := requests[0].Chat.Messages
	text := messages[len(messages)-1].Text()
	t.Logf("prompt answered after %v, told:\n%s", time.Since(began), text)
	want := []string{
		"what is wrong?",
		fmt.Sprintf("active file: %s, cursor at line %d column %d", d.file, s.Active.Cursor.Line, s.Active.Cursor.Column),
		"selected: line 3 column 16 to line 3 column 22\n3| return\n",
		"unsaved changes (commands see the files as they are on disk): " + d.file + "\n",
		d.file + ", from line 1 of 3, with unsaved changes\n" + numbered(d.unsaved),
		d.problem,
		"branch looked-at\nnothing has changed since the last commit\n",
		"Where it began",
	}
	if asked != "" {
		want = append(want, asked)
	}
	for _, w := range want {
		if n := strings.Count(text, w); n != 1 {
			t.Errorf("%q is told %d times", w, n)
		}
	}
	if sent := strings.Contains(turn.Text(), "Sent along, as you chose in the editor"); sent != (asked != "") {
		t.Errorf("the user was shown: %s", turn.Text())
	}
}

// numbered is a text as a model is shown it.
func numbered(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, "%d| %s", n, line)
	}
	return b.String()
}

// awaitPrompt waits for a prompt that a code action queued.
func (d desk) awaitPrompt(t *testing.T, want string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(d.states(), "*.prompt"))
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), want) {
				return
			}
		}
		if time.Since(began) > leaveTime {
			t.Fatalf("no prompt with %s was queued: %v", want, files)
		}
	}
}
