package acp_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
)

// Turns are taken back whole, also by another process than the one that ran them:
// what was said, the plan, and the files.
func TestRewindInAnotherProcess(t *testing.T) {
	s := kept(t,
		editFile("e1", "a.txt", "one", "ONE")+todos("t1", map[string]any{"title": "first", "status": "pending"}), "text: done",
		editFile("e2", "a.txt", "three", "THREE")+todos("t2", map[string]any{"title": "second", "status": "pending"}), "text: done",
		"text: nothing to do",
	)
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	put(t, se.Cwd, "a.txt", "one\ntwo\nthree\n")
	for _, text := range []string{"first", "second", "third"} {
		se.Prompt(acptest.Text(text)).Wait()
	}
	c.Close()
	var heard listener
	s.newSoul = heard.soul
	c = s.again(t, "text: I see")
	se = c.ResumeSession(se.ID, se.Cwd)
	c.Misuse("_kimi/session/rewind", map[string]any{"sessionId": se.ID, "turns": 0}).Fails(-32602)
	var card struct{ Text string }
	c.Request("_kimi/session/rewind", map[string]any{"sessionId": se.ID, "turns": 2}).Result(&card)
	for _, want := range []string{"last 2 turns", "“second”", "The plan is as it was", "`a.txt`: as it was before"} {
		if !strings.Contains(card.Text, want) {
			t.Errorf("the card says %q, want %q in it", card.Text, want)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(se.Cwd, "a.txt")); err != nil || string(raw) != "ONE\ntwo\nthree\n" {
		t.Errorf("the file holds %q, %v", raw, err)
	}
	se.Prompt(acptest.Text("and now?")).Wait()
	got := heard.last()
	if !strings.HasPrefix(got, "user [first]") || strings.Contains(got, "third") || !strings.Contains(got, "took back") || !strings.Contains(got, "[and now?]") {
		t.Errorf("the model was asked %q", got)
	}
	c.Close()
	c = s.again(t)
	if got := picture(t, c.LoadSession(se.ID, se.Cwd).Updates()); !strings.Contains(got, `plan {"entries":[{"content":"first"`) {
		t.Errorf("loaded it is\n%s", got)
	}
}

// Steps are taken back as turns are, in the process that ran them and in another one.
func TestRewindSteps(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		s := kept(t, editFile("e1", "a.txt", "one", "ONE"), "text: done",
			editFile("e2", "a.txt", "two", "TWO"), editFile("e3", "a.txt", "three", "THREE"), "text: done", "text: I see")
		var heard listener
		s.newSoul = heard.soul
		c := s.again(t)
		se := c.NewSession(t.TempDir())
		put(t, se.Cwd, "a.txt", "one\ntwo\nthree\n")
		se.Prompt(acptest.Text("first")).Wait()
		se.Prompt(acptest.Text("second")).Wait()
		if elsewhere {
			c.Close()
			c = s.again(t, "text: I see")
			se = c.ResumeSession(se.ID, se.Cwd)
		}
		for _, steps := range []any{0, -1, "x", 1.5} {
			c.Misuse("_kimi/session/rewind", map[string]any{"sessionId": se.ID, "steps": steps}).Fails(-32602)
		}
		c.Misuse("_kimi/session/rewind", map[string]any{"sessionId": se.ID, "steps": 1, "turns": -1}).Fails(-32602)
		var card struct{ Text string }
		c.Request("_kimi/session/rewind", map[string]any{"sessionId": se.ID, "steps": 2}).Result(&card)
		if !strings.Contains(card.Text, "The last 2 steps are taken back") || !strings.Contains(card.Text, "`a.txt`: as it was before") {
			t.Errorf("the card says %q", card.Text)
		}
		if raw, err := os.ReadFile(filepath.Join(se.Cwd, "a.txt")); err != nil || string(raw) != "ONE\nTWO\nthree\n" {
			t.Errorf("elsewhere %v: the file holds %q, %v", elsewhere, raw, err)
		}
		se.Prompt(acptest.Text("and now?")).Wait()
		if got := heard.last(); strings.Contains(got, "THREE") || !strings.Contains(got, "[second]") || !strings.Contains(got, "took back the last 2 steps") {
			t.Errorf("the model was asked %q", got)
		}
		c.Close()
	}
}

// A session that nobody talks to lets go, and comes back with the next prompt; another
// program may have it in between.
func TestParkedSessions(t *testing.T) {
	s := kept(t, "text: one", "text: three")
	s.options.ParkAfter = time.Millisecond
	s.options.Events = &soul.EventBus{}
	var spoken atomic.Bool
	paused := make(chan struct{}, 10)
	stop := s.options.Events.Subscribe(func(e soul.BusEvent) {
		// It is parked before its first prompt too.
		m, ok := e.Payload.(soul.SessionMoved)
		if spoken.Load() && ok && m.To == soul.SessionPaused {
			paused <- struct{}{}
		}
		if ok && m.To == soul.SessionActive {
			spoken.Store(true)
		}
	})
	defer stop()
	var heard listener
	s.newSoul = heard.soul
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("a")).Wait()
	<-paused
	other := s.again(t, "text: two")
	other.LoadSession(se.ID, se.Cwd).Prompt(acptest.Text("b")).Wait()
	other.Close()
	se.Prompt(acptest.Text("c")).Wait()
	if got, want := heard.last(), "user [a]\nassistant [one]\nuser [b]\nassistant [two]\nuser [c]\n"; got != want {
		t.Errorf("the model was asked %q, want %q", got, want)
	}
}
