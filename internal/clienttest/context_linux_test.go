//go:build clients

package clienttest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
)

// commit makes the desk's folder a repository, and a workspace that is trusted, so that
// git is asked.
func (d desk) commit(t *testing.T, agent string) {
	t.Helper()
	for _, args := range [][]string{
		{"git", "init", "-q", "-b", "looked-at"},
		{"git", "add", "."},
		{"git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "Where it began"},
		{agent, "trust", "add", d.dir},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = d.dir, d.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

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
func (d desk) checkPrompt(t *testing.T, agent, asked string, s seen) {
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
		fmt.Sprintf("active file: a.go, cursor at line %d column %d", s.Active.Cursor.Line, s.Active.Cursor.Column),
		"selected: line 3 column 16 to line 3 column 22\n3| return\n",
		"unsaved changes (commands see the files as they are on disk): a.go\n",
		"a.go, from line 1 of 3, with unsaved changes\n1| package x\n2| \n3| func f() int { return oops }\n",
		"undefined: oops",
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
