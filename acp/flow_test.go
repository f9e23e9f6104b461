package acp_test

import (
	"log/slog"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	store "kimi-acp/soul/session"
	"kimi-acp/soul/skill"
)

// withSkills makes souls that know a flow, and answer from scripts of their own.
func withSkills(t *testing.T, d2 string, scripts ...string) func(acp.SoulSpec, llm.Provider) (soul.Soul, error) {
	t.Helper()
	f, err := skill.ParseD2(d2)
	if err != nil {
		t.Fatal(err)
	}
	model := scripted.New(scripts, llm.Model{Name: "scripted", ContextSize: 100_000})
	return func(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) {
		return soul.New(soul.Config{
			SessionID: spec.SessionID, Provider: model, Wire: spec.Wire, Tools: spec.Executor.Specs(), Edits: spec.Edits, Session: spec.Session,
			System: "test", Logger: slog.New(slog.DiscardHandler),
			Skills: func() []skill.Skill {
				return []skill.Skill{{Name: "review", Description: "Looks at it twice", Text: "the text", Flow: f}}
			},
		}), nil
	}
}

// TestFlowInAnEditor walks a flow with an edit in it, and loads the session in
// another process, which shows the same.
func TestFlowInAnEditor(t *testing.T) {
	sessions, cwd := store.NewStore(t.TempDir()), t.TempDir()
	st := stage{
		options: acp.Options{Sessions: sessions},
		newSoul: withSkills(t, "BEGIN -> write -> good\nwrite: Write it.\ngood: Is it good?\ngood -> write: No\ngood -> END: Yes",
			`tool_call: {"id":"w","name":"WriteFile","arguments":"{\"path\":\"a.txt\",\"content\":\"hi\\n\"}"}`, "text: Written.", "text: It is. <choice>Yes</choice>"),
	}
	c := st.serve(t)
	c.Initialize(both)
	s := c.NewSession(cwd)
	announced := s.Until("the commands", acptest.IsKind("available_commands_update"))
	if list := string(announced.Raw); !strings.Contains(list, `{"name":"flow:review","description":"Looks at it twice","input":{"hint":"[continue|what to do]"}}`) || !strings.Contains(list, `"skill:review"`) {
		t.Errorf("the editor knows %s", list)
	}
	turn := s.Prompt(acptest.Text("/flow:review"))
	if reason := turn.Wait(); reason != "end_turn" {
		t.Errorf("the turn ended with %s", reason)
	}
	want := "\n\n**Step 1: Write it.**\n\nWritten.\n\n**Step 2: Is it good?**\n\nIt is. <choice>Yes</choice>"
	if got := turn.Text(); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if calls := turn.Calls(); len(calls) != 1 || calls[0].Status != "completed" {
		t.Errorf("the calls are %+v", calls)
	}
	id := s.ID
	c.Close()

	c = stage{options: acp.Options{Sessions: sessions}, newSoul: st.newSoul}.serve(t)
	c.Initialize(both)
	s = c.LoadSession(id, cwd)
	said, prompts := "", 0
	for _, u := range s.Updates() {
		switch u.Kind {
		case "agent_message_chunk":
			said += u.Text
		case "user_message_chunk":
			prompts++
		}
	}
	if said != want || prompts != 1 {
		t.Errorf("the load shows %q behind %d prompts", said, prompts)
	}
}

func TestFlowIsCancelledInAnEditor(t *testing.T) {
	s := stage{newSoul: withSkills(t, "BEGIN -> a -> b -> END\na: One.\nb: Two.", "text: Done.", hangs)}.session(t)
	turn := s.Prompt(acptest.Text("/flow:review"))
	turn.Until("the second step", func(u acptest.Update) bool { return strings.Contains(u.Text, "Step 2") })
	s.Cancel()
	if reason := turn.Wait(); reason != "cancelled" {
		t.Errorf("the turn ended with %s", reason)
	}
	if want := "The flow `review` was stopped. It stands at “Two.”; `/flow:review continue` goes on from there."; !strings.HasSuffix(turn.Text(), want) {
		t.Errorf("said %q", turn.Text())
	}
}
