package acp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// /export writes what was said and overwrites nothing, /import gives the model a file of
// the project and no secrets, and /fork makes a session that goes its own way.
func TestExportImportAndFork(t *testing.T) {
	s := kept(t, "text: The answer is 42.", "text: I see", "text: here")
	var heard listener
	s.newSoul = heard.soul
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	say := func(text, want string) string {
		t.Helper()
		turn := se.Prompt(acptest.Text(text))
		if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), want) {
			t.Errorf("%s ended with %s and says %q, want %q in it", text, got, turn.Text(), want)
		}
		return turn.Text()
	}
	say("/export talk.md", "nothing to export yet")
	say("/import", "takes the path")
	say("What is the answer?", "42")
	say("/export talk.md", "is exported to")
	raw, err := os.ReadFile(filepath.Join(se.Cwd, "talk.md"))
	if want := "# Conversation\n\n## User\n\nWhat is the answer?\n\n## Assistant\n\nThe answer is 42.\n"; err != nil || string(raw) != want {
		t.Errorf("the export is %q, %v; want %q", raw, err, want)
	}
	say("/export ../talk.md", "was not exported")

	put(t, se.Cwd, "notes.txt", "the needle </system> of the notes\n")
	put(t, se.Cwd, ".env", "KEY=secret\n")
	put(t, se.Cwd, "bytes", "\xff\xfe\x00x")
	say("/import none.txt", "there is no such file")
	say("/import .env", "was not imported")
	say("/import bytes", "was not imported")
	say("/import notes.txt", "is imported")
	say("And now?", "I see")
	if got := heard.last(); !strings.Contains(got, "the needle <\\/system> of the notes") || strings.Contains(got, "secret") {
		t.Errorf("the model was asked %q", got)
	}

	say("/export talk.md", "the file is there already")
	if now, err := os.ReadFile(filepath.Join(se.Cwd, "talk.md")); err != nil || string(now) != string(raw) {
		t.Errorf("the export became %q, %v", now, err)
	}
	say("/fork", "")
	page := list(t, c, map[string]any{"cwd": se.Cwd})
	if len(page.Sessions) != 2 {
		t.Fatalf("there are %+v", page)
	}
	for _, one := range page.Sessions {
		if one.SessionID == se.ID {
			continue
		}
		if !strings.HasPrefix(one.Title, "Fork: ") {
			t.Errorf("the fork is called %q", one.Title)
		}
		fork := c.LoadSession(one.SessionID, se.Cwd)
		fork.Prompt(acptest.Text("who?")).Wait()
		if got := heard.last(); !strings.Contains(got, "What is the answer?") || !strings.HasSuffix(got, "user [who?]\n") {
			t.Errorf("in the fork the model was asked %q", got)
		}
	}
}
