package acp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	store "kimi-acp/soul/session"
)

// queued lists the prompts that are kept of a session.
func queued(t *testing.T, share, id string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(share, "acp", "sessions", id, "queue", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// crowded is a session in which a command runs and two prompts wait.
func crowded(t *testing.T, s *stage, share string) (*acptest.Client, *acptest.Session, []*acptest.Turn) {
	t.Helper()
	s.options.Sessions = store.NewStore(share)
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	first := se.Prompt(acptest.Text("go"))
	first.Until("the command", func(u acptest.Update) bool { return u.CallID == "sleep" && u.Status == "in_progress" })
	turns := []*acptest.Turn{first, se.Prompt(acptest.Text("second")), se.Prompt(acptest.Text("third"))}
	c.Request("session/list", map[string]any{}).Result(nil) // behind it both are taken
	return c, se, turns
}

// The folder of the sessions is copied while two prompts wait, as a kill would leave it:
// the next process tells of them, and runs each once, in their order.
func TestQueueOutlivesAKill(t *testing.T) {
	s := kept(t, "text: I look.\n"+shell("sleep", "sleep 1000"), "text: two", "text: three")
	share := t.TempDir()
	_, se, turns := crowded(t, &s, share)
	files := queued(t, share, se.ID)
	if len(files) != 2 {
		t.Fatalf("kept are %v", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(share)); err != nil {
		t.Fatal(err)
	}
	se.Cancel()
	for _, turn := range turns {
		turn.Wait()
	}
	if files := queued(t, share, se.ID); len(files) != 0 {
		t.Errorf("after they have run, kept are %v", files)
	}

	var heard listener
	s.newSoul, s.options.Sessions = heard.soul, store.NewStore(copied)
	c := s.again(t, "text: hello", "text: two", "text: three", "text: more")
	again := c.LoadSession(se.ID, se.Cwd)
	turn := again.Prompt(acptest.Text("and now?"))
	turn.Wait()
	if got := turn.Text(); !strings.Contains(got, "2 prompts were waiting when the program ended") {
		t.Errorf("the first turn said %q", got)
	}
	turn = again.Prompt(acptest.Text("/queue"))
	turn.Wait()
	if got := turn.Text(); !strings.Contains(got, "1. second\n2. third\n") {
		t.Errorf("/queue says %q", got)
	}
	turn = again.Prompt(acptest.Text("/queue run"))
	if got := turn.Wait(); got != "end_turn" || !strings.HasSuffix(turn.Text(), "twothree") {
		t.Errorf("/queue run ended with %s, said %q", got, turn.Text())
	}
	if got := heard.last(); !strings.HasSuffix(got, "user [second]\nassistant [two]\nuser [third]\n") {
		t.Errorf("the model was asked %q", got)
	}
	if files := queued(t, copied, se.ID); len(files) != 0 {
		t.Errorf("kept are %v", files)
	}
	turn = again.Prompt(acptest.Text("/queue run"))
	turn.Wait()
	if got := turn.Text(); got != "No prompt was left waiting." {
		t.Errorf("once more it says %q", got)
	}
	live := picture(t, again.Updates())
	c.Close()
	if got := picture(t, s.again(t).LoadSession(se.ID, se.Cwd).Updates()); !strings.Contains(got, "second") || !strings.Contains(live, "second") {
		t.Errorf("loaded it is\n%s\nand it was\n%s", got, live)
	}
}

// When the editor leaves, what waits is left to the next process, and forgotten there
// when the user says so.
func TestQueueOutlivesTheEditor(t *testing.T) {
	s := kept(t, "text: I look.\n"+shell("sleep", "sleep 1000"), "text: two", "text: three")
	share := t.TempDir()
	c, se, _ := crowded(t, &s, share)
	c.Close()
	if files := queued(t, share, se.ID); len(files) != 2 {
		t.Fatalf("kept are %v", files)
	}
	again := s.again(t).LoadSession(se.ID, se.Cwd)
	turn := again.Prompt(acptest.Text("/queue clear"))
	turn.Wait()
	if got := turn.Text(); got != "2 prompts are forgotten." {
		t.Errorf("/queue clear says %q", got)
	}
	if files := queued(t, share, se.ID); len(files) != 0 {
		t.Errorf("kept are %v", files)
	}
}
