package acp_test

import (
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	store "kimi-acp/soul/session"
)

// TestGoalInAnEditor works on a goal for two rounds, which are told as notices, is
// stopped in the second, and goes on in another process.
func TestGoalInAnEditor(t *testing.T) {
	sessions, cwd := store.NewStore(t.TempDir()), t.TempDir()
	first := stage{options: acp.Options{Sessions: sessions}, scripts: []string{"text: Half of it.", "text: The rest is missing. <verdict>open</verdict>", hangs}}
	c := first.serve(t)
	c.Initialize(both)
	s := c.NewSession(cwd)
	turn := s.Prompt(acptest.Text("/goal do all of it"))
	turn.Until("the second round", func(u acptest.Update) bool { return strings.Contains(u.Text, "round 2 of 20") })
	s.Cancel()
	if reason := turn.Wait(); reason != "cancelled" {
		t.Errorf("the turn ended with %s", reason)
	}
	if got, want := turn.Text(), "Half of it."; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "The goal is paused (2 of 20 rounds). It was stopped. `/goal resume` goes on with it.") {
		t.Errorf("said %q", got)
	}
	if got := turn.Thoughts(); !strings.Contains(got, "Goal: round 2 of 20. The rest is missing.") {
		t.Errorf("told %q", got)
	}
	id := s.ID
	c.Close()

	c = stage{options: acp.Options{Sessions: sessions}, scripts: []string{"text: The rest.", "text: All there. <verdict>reached</verdict>"}}.serve(t)
	c.Initialize(both)
	turn = c.LoadSession(id, cwd).Prompt(acptest.Text("/goal resume"))
	if reason := turn.Wait(); reason != "end_turn" || turn.Text() != "The rest.\n\nThe goal is reached (3 of 20 rounds): All there." {
		t.Errorf("ended with %s, said %q", reason, turn.Text())
	}
}
