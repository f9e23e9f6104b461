package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
)

// compactions is how an editor saw compactions, and what was told of the usage.
func compactions(updates []acptest.Update) (seen string, used []int) {
	for _, u := range updates {
		var m struct {
			CompactionID, Status string
			Used                 int
		}
		if json.Unmarshal(u.Raw, &m) != nil {
			continue
		}
		switch u.Kind {
		case "compaction_update":
			seen += m.CompactionID + " " + m.Status + "\n"
		case "usage_update":
			used = append(used, m.Used)
		}
	}
	return seen, used
}

// A provider that finds the conversation too long, and /compact: the editor sees the
// compaction, the usage goes down, and the work goes on with what was said first.
func TestPeersCompaction(t *testing.T) {
	for _, taken := range []bool{true, false} {
		server := modeltest.New(t)
		c := stage{newSoul: overHTTP(t, server)}.serve(t)
		if taken {
			c.AllowDrafts()
		}
		c.Initialize(acptest.Capabilities{ReadTextFile: true, WriteTextFile: true, Compaction: taken})
		s := c.NewSession(t.TempDir())
		put(t, s.Cwd, "a.txt", strings.Repeat("some line\n", 500))
		say := func(text string) modeltest.Reply {
			return modeltest.Reply{Parts: []modeltest.Part{modeltest.Text(text)}}
		}
		read := modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "r", "ReadFile", `{"path":"a.txt"}`)}}
		prompt := func(text string, replies ...modeltest.Reply) *acptest.Turn {
			t.Helper()
			server.Push(replies...)
			turn := s.Prompt(acptest.Text(text))
			if got := turn.Wait(); got != "end_turn" {
				t.Fatalf("%q ended with %s", text, got)
			}
			return turn
		}
		prompt("The port is 4711.", say("Noted."))
		for range 8 {
			prompt("Read a.txt. "+strings.Repeat("It matters. ", 200), read, say("It has lines. "+strings.Repeat("Many lines. ", 200)))
		}
		tooLong := modeltest.Reply{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`}
		_, before := compactions(s.Updates())
		turn := prompt("Read it again.", read, tooLong, say("## Goal\nRead files."), say("Done."))
		seen, used := compactions(turn.Updates())
		want := ""
		if taken {
			want = "compaction-1 in_progress\ncompaction-1 completed\n"
		}
		if seen != want || turn.Text() != "Done." {
			t.Errorf("taken %v: the editor saw %q and %q", taken, seen, turn.Text())
		}
		if last := used[len(used)-1]; last >= before[len(before)-1]/2 {
			t.Errorf("the usage was %d and is %d", before[len(before)-1], last)
		}
		prompt("/compact ports", say("## Goal\nRead files, with ports."))
		prompt("What is the port?", say("4711"))
		requests := server.Requests()
		last := requests[len(requests)-1].Chat.Messages
		if got := last[1].Text(); !strings.Contains(got, "The port is 4711.") || !strings.Contains(got, "with ports") || !strings.Contains(got, "a.txt: read") {
			t.Errorf("the model was sent %s", got)
		}
		// Loaded again it looks the same.
		live, _ := compactions(s.Updates())
		c.Request("session/close", map[string]any{"sessionId": s.ID}).Result(&struct{}{})
		if got, _ := compactions(c.LoadSession(s.ID, s.Cwd).Updates()); got != live+live { // both are of this editor
			t.Errorf("loaded, the editor saw %q, and live %q", got, live)
		}
	}
}

func TestCancelledCompaction(t *testing.T) {
	server := modeltest.New(t)
	c := stage{newSoul: overHTTP(t, server)}.serve(t)
	c.AllowDrafts()
	c.Initialize(acptest.Capabilities{Compaction: true})
	s := c.NewSession(t.TempDir())
	for range 3 {
		server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text(strings.Repeat("words ", 500))}})
		s.Prompt(acptest.Text("Tell me more.")).Wait()
	}
	server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Stall()}})
	turn := s.Prompt(acptest.Text("/compact"))
	if _, err := server.Await(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
	if seen, _ := compactions(turn.Updates()); seen != "compaction-1 in_progress\ncompaction-1 cancelled\n" {
		t.Errorf("the editor saw %q", seen)
	}
	server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("all there")}})
	s.Prompt(acptest.Text("And?")).Wait()
	if n := len(server.Requests()[4].Chat.Messages); n != 8 {
		t.Errorf("%d messages were sent", n)
	}
}
