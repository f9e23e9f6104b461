package acp_test

import (
	"slices"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// answerTo is the place of the answer to a call among the lines.
func answerTo(c *acptest.Client, call *acptest.Call) int {
	return slices.IndexFunc(c.Lines(), func(l acptest.Line) bool {
		return l.Direction == acptest.FromAgent && strings.Contains(l.Text, `"id":`+string(call.ID())+`,"result"`)
	})
}

// What is sent behind the opening of a session, without waiting for the answer, is
// served after it and in its order.
func TestWhatFollowsAnOpeningWaitsForIt(t *testing.T) {
	for _, method := range []string{"session/load", "session/resume"} {
		t.Run(method, func(t *testing.T) {
			s := kept(t, "text: first", "text: second")
			c := s.again(t)
			se := c.NewSession(t.TempDir())
			se.Prompt(acptest.Text("a")).Wait()
			c.Close()

			c = s.again(t)
			calls := []*acptest.Call{
				c.Request(method, openIn(se.ID, se.Cwd)),
				c.Request("session/set_mode", map[string]any{"sessionId": se.ID, "modeId": "plan"}),
				c.Request("session/prompt", map[string]any{"sessionId": se.ID, "prompt": []acptest.Block{acptest.Text("b")}}),
			}
			for _, call := range calls {
				call.Result(nil)
			}
			if load, turn := answerTo(c, calls[0]), answerTo(c, calls[2]); load > turn {
				t.Errorf("the prompt was answered with line %d and the opening with line %d", turn, load)
			}
			calls = []*acptest.Call{
				c.Request("session/close", map[string]any{"sessionId": se.ID}),
				c.Request(method, openIn(se.ID, se.Cwd)),
				c.Request("session/delete", map[string]any{"sessionId": se.ID}),
			}
			for _, call := range calls {
				call.Result(nil)
			}
			c.Misuse(method, openIn(se.ID, se.Cwd)).Fails(-32002)
		})
	}
}

// A cancel behind a prompt behind a load finds the prompt.
func TestACancelBehindALoadFindsItsPrompt(t *testing.T) {
	s := kept(t, "text: first")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("a")).Wait()
	c.Close()

	s.scripts = []string{shell("call_0", "sleep 100")} // a model begins anew with its process
	c = s.again(t)
	load := c.Request("session/load", openIn(se.ID, se.Cwd))
	turn := c.Request("session/prompt", map[string]any{"sessionId": se.ID, "prompt": []acptest.Block{acptest.Text("b")}})
	c.Notify("session/cancel", map[string]any{"sessionId": se.ID})
	load.Result(nil)
	var result struct{ StopReason string }
	turn.Result(&result)
	if result.StopReason != "cancelled" {
		t.Errorf("the turn ended with %q", result.StopReason)
	}
}

// What waits for a session that cannot be opened is answered as well.
func TestWhatFollowsAnOpeningThatFails(t *testing.T) {
	c := kept(t).again(t)
	const none = "00000000-0000-4000-8000-000000000000"
	load := c.Misuse("session/load", openIn(none, t.TempDir()))
	turn := c.Misuse("session/prompt", map[string]any{"sessionId": none, "prompt": []acptest.Block{acptest.Text("b")}})
	load.Fails(-32002)
	turn.Fails(-32002)
}

// What an editor tells of its user while a session is opened, however often, takes no
// prompt's room.
func TestAPromptBehindALoadAndManyMovesOfTheCursor(t *testing.T) {
	s := kept(t, "text: first")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("a")).Wait()
	c.Close()

	opening := make(chan struct{})
	s.newSoul = func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
		<-opening
		return builtin(spec, p)
	}
	c = s.again(t, "text: second")
	load := c.Request("session/load", openIn(se.ID, se.Cwd))
	for range 100 {
		c.Notify("_kimi/editor_state", map[string]any{"sessionId": se.ID, "activeDocument": nil})
	}
	turn := c.Request("session/prompt", map[string]any{"sessionId": se.ID, "prompt": []acptest.Block{acptest.Text("b")}})
	list(t, c, map[string]any{}) // by now all of them wait
	close(opening)
	load.Result(nil)
	turn.Result(nil)
}
