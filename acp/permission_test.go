package acp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// TestPermissionFitsOnItsLine: however large a change or a command is, its question is
// at most 64 KiB, says what it leaves out, and the answer is for the whole.
func TestPermissionFitsOnItsLine(t *testing.T) {
	var old, text strings.Builder
	for i := range 4000 {
		line := fmt.Sprintf("%d: %s\n", i, strings.Repeat("word ", 20))
		old.WriteString(line)
		if i%20 == 10 {
			line = "changed " + line
		}
		text.WriteString(line)
	}
	long := "true # " + strings.Repeat("words and more ", 5000)
	c := stage{scripts: []string{writeFile("w", "a.txt", text.String()) + shell("s", long), "text: done"}}.serve(t)
	c.Initialize(acptest.Capabilities{})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(old.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c.NewSession(dir).Prompt(acptest.Text("go")).Wait()
	requests := asked(t, c, "session/request_permission")
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	for _, r := range requests {
		t.Logf("a question of %d bytes", len(r))
		if len(r) > 64<<10-200 { // what the envelope takes
			t.Errorf("the question is %d bytes long", len(r))
		}
		if !strings.Contains(r, "not shown") {
			t.Errorf("it does not say what is left out: %s", r)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != text.String() {
		t.Errorf("the file has %d bytes, want %d: %v", len(got), text.Len(), err)
	}
}

// TestRejectedWithFeedback: what the user wants instead reaches the model, and the
// turn goes on.
func TestRejectedWithFeedback(t *testing.T) {
	c := stage{scripts: []string{writeFile("w", "a.txt", "x"), "text: so be it"}}.serve(t)
	c.OnPermission = func(context.Context, acptest.Permission) acptest.Answer {
		rawAnswer(t, c, "session/request_permission", `"result":{"outcome":{"outcome":"selected","optionId":"reject_once"},"_meta":{"feedback":"put it into b.txt"}}`)
		return acptest.Answer{Silent: true}
	}
	c.Initialize(both)
	turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" || turn.Text() != "so be it" {
		t.Errorf("ended with %s, said %q", got, turn.Text())
	}
	if got := turn.Calls()[0].Text(); !strings.Contains(got, "go on as the user says: put it into b.txt") {
		t.Errorf("the model is told %q", got)
	}
}

// TestGuardedQuestionsSayWhy: the change stands in the question, and beside it the
// reason for it.
func TestGuardedQuestionsSayWhy(t *testing.T) {
	c := stage{scripts: []string{writeFile("w", ".git/hooks/pre-commit", "x"), "text: done"}}.serve(t)
	c.Initialize(both)
	c.NewSession(t.TempDir()).Prompt(acptest.Text("go")).Wait()
	requests := asked(t, c, "session/request_permission")
	if len(requests) != 1 || !strings.Contains(requests[0], "git runs what stands there") || strings.Contains(requests[0], "allow_always") {
		t.Errorf("asked %s", requests)
	}
}
