package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/modeltest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Section G of the checklist: cancellation. That the answer to a turn that was
// cancelled is a stop reason, and never an error, is held against every turn by
// the editor's side. (P18)

func Test083CancelWhileTheModelSpeaks(t *testing.T) {
	s := stage{scripts: []string{hangs, "text: on we go"}}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	turn.Until("the model", acptest.IsKind("agent_message_chunk"))
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" || turn.Text() != "I think" {
		t.Errorf("ended with %s, said %q", got, turn.Text())
	}
	if got := s.Prompt(acptest.Text("next")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
}

// opened opens a session whose first turn waits for a permission to write a.txt.
func opened(t *testing.T, c *acptest.Client, answer acptest.Answer) (*acptest.Session, *acptest.Turn) {
	t.Helper()
	asking := make(chan struct{}, 1)
	c.OnPermission = func(ctx context.Context, _ acptest.Permission) acptest.Answer {
		asking <- struct{}{}
		if !answer.Silent {
			<-ctx.Done()
		}
		return answer
	}
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	turn := s.Prompt(acptest.Text("write"))
	<-asking
	return s, turn
}

func Test085To086CancelWhileAPermissionIsOpen(t *testing.T) {
	for name, answer := range map[string]acptest.Answer{
		"085 the editor answers cancelled": {},
		"086 the editor never answers":     {Silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := stage{scripts: []string{writeFile("w", "a.txt", "x"), "text: never"}}.serve(t)
			s, turn := opened(t, c, answer)
			s.Cancel()
			if got := turn.Wait(); got != "cancelled" || turn.Text() != "" {
				t.Errorf("ended with %s, said %q", got, turn.Text())
			}
			if calls := turn.Calls(); len(calls) != 1 || calls[0].Status != "failed" {
				t.Errorf("the calls are %+v", calls)
			}
			if _, err := os.Stat(filepath.Join(s.Cwd, "a.txt")); err == nil || len(c.Writes()) != 0 {
				t.Error("the file was written")
			}
		})
	}
}

// An answer of cancelled means the turn, also when no cancel came before it.
func Test085AnswerCancelledAlone(t *testing.T) {
	c := stage{scripts: []string{writeFile("w", "a.txt", "x"), "text: never"}}.serve(t)
	c.OnPermission = func(context.Context, acptest.Permission) acptest.Answer { return acptest.Answer{} }
	c.Initialize(both)
	turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("write"))
	if got := turn.Wait(); got != "cancelled" || turn.Text() != "" {
		t.Errorf("ended with %s, said %q", got, turn.Text())
	}
}

// A cancel that comes in one packet with its prompt finds the turn, every time. (P20)
func Test087CancelInTheSamePacket(t *testing.T) {
	const sessions, prompts = 20, 50
	var scripts []string
	for range sessions * prompts {
		scripts = append(scripts, "sleep: 1h\ntext: never")
	}
	var together packets
	c := stage{scripts: scripts, packets: &together}.serve(t)
	c.Initialize(both)
	lost := 0
	for range sessions {
		s := c.NewSession(t.TempDir())
		for range prompts {
			var turn *acptest.Turn
			together.Together(t, func() {
				turn = s.Prompt(acptest.Text("go"))
				s.Cancel()
			})
			if turn.Wait() != "cancelled" {
				lost++
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d cancels were lost", lost, sessions*prompts)
	}
}

func Test088CancelBehindATurn(t *testing.T) {
	c := stage{scripts: []string{"text: one", "text: two"}}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	s.Cancel() // before there ever was a turn
	s.Prompt(acptest.Text("one")).Wait()
	before := len(fromAgent(t, c))
	s.Cancel()
	fence(c)
	if after := len(fromAgent(t, c)); after != before+1 { // the fence's own answer
		t.Errorf("%d lines came of it", after-before-1)
	}
	if turn := s.Prompt(acptest.Text("two")); turn.Wait() != "end_turn" || turn.Text() != "two" {
		t.Error("the next turn was hit")
	}
}

func Test089TwoCancelsAndTwoSessions(t *testing.T) {
	c := stage{scripts: []string{hangs, hangs}}.serve(t)
	c.Initialize(both)
	a, b := c.NewSession(t.TempDir()), c.NewSession(t.TempDir())
	one, other := a.Prompt(acptest.Text("a")), b.Prompt(acptest.Text("b"))
	one.Until("turn a", acptest.IsKind("agent_message_chunk"))
	other.Until("turn b", acptest.IsKind("agent_message_chunk"))
	a.Cancel()
	a.Cancel()
	if got := one.Wait(); got != "cancelled" {
		t.Errorf("a ended with %s", got)
	}
	fence(c)
	if other.Call().Answered() {
		t.Error("b was hit")
	}
	b.Cancel()
	if got := other.Wait(); got != "cancelled" {
		t.Errorf("b ended with %s", got)
	}
}

// A call whose arguments still stream is closed before the answer. (That every
// call is closed by then, in any test, is held by the editor's side.)
func Test090CallsAreClosedBeforeTheAnswer(t *testing.T) {
	server := modeltest.New(t)
	server.Push(modeltest.Reply{Parts: []modeltest.Part{
		modeltest.Delta(`{"tool_calls":[{"index":0,"id":"w","type":"function","function":{"name":"WriteFile","arguments":"{\"path\":\"a.t"}}]}`),
		modeltest.Stall(),
	}}, modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("next")}})
	s := stage{newSoul: overHTTP(t, server)}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	turn.Until("the call", acptest.IsKind("tool_call"))
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
	if calls := turn.Calls(); len(calls) != 1 || calls[0].Status != "failed" || calls[0].Text() == "" {
		t.Errorf("the calls are %+v", calls)
	}
	if !server.Requests()[0].Gone() {
		t.Error("the model was left to speak on")
	}
	if got := s.Prompt(acptest.Text("next")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
}

// A soul that leaves calls open, and says by an error that it was cancelled, looks
// to the editor like any other. (P18)
func Test090SoulThatLeavesThingsOpen(t *testing.T) {
	s := stage{newSoul: func(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) {
		return behaving{run: func(ctx context.Context, _ soul.Input) (soul.Outcome, error) {
			for _, id := range []string{"one", "two"} {
				spec.Wire.Send(wire.ToolCall{Call: llm.ToolCall{ID: id, Name: "Shell"}})
			}
			<-ctx.Done()
			return soul.Outcome{}, fmt.Errorf("the turn: %w", ctx.Err())
		}}, nil
	}}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	turn.Until("the calls", func(u acptest.Update) bool { return u.CallID == "two" })
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
	for _, call := range turn.Calls() {
		if call.Status != "failed" || call.Text() == "" {
			t.Errorf("the call %s is %s: %s", call.ID, call.Status, call.Text())
		}
	}
}

// Open in version 1: a prompt cancelled as a request is answered like one that was
// cancelled as a turn.
func Test091CancelRequest(t *testing.T) {
	c := stage{scripts: []string{hangs, hangs, "text: next"}}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	turn := s.Prompt(acptest.Text("go"))
	turn.Until("the turn", acptest.IsKind("agent_message_chunk"))
	c.Notify("$/cancel_request", map[string]any{"requestId": 4711})
	c.Notify("$/cancel_request", map[string]any{"requestId": string(turn.Call().ID())}) // a string is another id
	fence(c)
	if turn.Call().Answered() {
		t.Fatal("a cancel of another request ended the turn")
	}
	c.Notify("$/cancel_request", map[string]any{"requestId": turn.Call().ID()})
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
	// The same with a string for an id, and for a turn that waits its time.
	c.Raw([]byte(`{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"` + s.ID + `","prompt":[{"type":"text","text":"hi"}]}}` + "\n"))
	// It runs, and has taken its script, before it is cancelled.
	said := 0
	s.Until("the turn with a string for an id", func(u acptest.Update) bool {
		if u.Kind == "agent_message_chunk" {
			said++
		}
		return said == 2
	})
	waiting := s.Prompt(acptest.Text("/clear"))
	c.Notify("$/cancel_request", map[string]any{"requestId": waiting.Call().ID()})
	c.Notify("$/cancel_request", map[string]any{"requestId": "p"})
	if got := waiting.Wait(); got != "cancelled" || strings.Contains(waiting.Text(), "cleared") {
		t.Errorf("the turn that waited ended with %s, said %q", got, waiting.Text())
	}
	found := false
	for _, m := range fromAgent(t, c) {
		found = found || string(m.ID) == `"p"` && string(m.Result) == `{"stopReason":"cancelled"}`
	}
	if !found {
		t.Error("the prompt with a string for an id was not answered cancelled")
	}
	if got := s.Prompt(acptest.Text("next")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
}

func Test091CancelOfAnotherRequest(t *testing.T) {
	c := stage{}.serve(t)
	c.Initialize(both)
	made := c.Request("session/new", newSession(t.TempDir()))
	c.Notify("$/cancel_request", map[string]any{"requestId": made.ID()})
	if _, err := made.Wait(); err != nil && err.Code != jsonrpc.CodeCancelled {
		t.Errorf("answered %v", err)
	}
}

// What we still wait for from the editor is called off with the turn.
func Test092OwnRequestsAreCancelled(t *testing.T) {
	t.Run("a permission", func(t *testing.T) {
		c := stage{scripts: []string{writeFile("w", "a.txt", "x")}}.serve(t)
		s, turn := opened(t, c, acptest.Answer{Silent: true})
		s.Cancel()
		turn.Wait()
		fence(c)
		if got, want := asked(t, c, "$/cancel_request"), idsOf(t, c, "session/request_permission"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("called off %s, want %s", got, want)
		}
	})
	t.Run("a file", func(t *testing.T) {
		c := stage{scripts: []string{readFile("r", "a.txt")}}.serve(t)
		reading := make(chan struct{})
		c.Handle("fs/read_text_file", func(ctx context.Context, _ json.RawMessage) (any, error) {
			close(reading)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		c.Initialize(both)
		s := c.NewSession(t.TempDir())
		put(t, s.Cwd, "a.txt", "x")
		turn := s.Prompt(acptest.Text("go"))
		<-reading
		s.Cancel()
		if got := turn.Wait(); got != "cancelled" {
			t.Errorf("ended with %s", got)
		}
		if got, want := asked(t, c, "$/cancel_request"), idsOf(t, c, "fs/read_text_file"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("called off %s, want %s", got, want)
		}
	})
}

// idsOf gives the ids of the agent's requests as parameters of a cancel.
func idsOf(t *testing.T, c *acptest.Client, method string) []string {
	t.Helper()
	var all []string
	for _, m := range fromAgent(t, c) {
		if m.Method == method {
			all = append(all, `{"requestId":`+string(m.ID)+`}`)
		}
	}
	return all
}

// The server refuses conversations that strict providers refuse, such as those
// with a call that nothing answers. (Peers, number 60.)
func Test093HistoryAfterACancel(t *testing.T) {
	server := modeltest.New(t)
	server.Push(modeltest.Reply{Parts: []modeltest.Part{
		modeltest.Text("I write both."),
		modeltest.Call(0, "one", "ReadFile", `{"path":"here.txt"}`),
		modeltest.Call(1, "two", "WriteFile", `{"path":"a.txt","content":"x"}`),
	}}, modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("I see.")}})
	c := stage{newSoul: overHTTP(t, server)}.serve(t)
	s, turn := opened(t, c, acptest.Answer{})
	turn.Until("the first call to end", acptest.HasStatus("failed")) // there is no here.txt
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
	if got := s.Prompt(acptest.Text("and now?")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
	var told []string
	for _, m := range server.Requests()[1].Chat.Messages {
		if m.ToolCallID != "" {
			told = append(told, m.ToolCallID+": "+m.Text())
		}
	}
	if len(told) != 2 || !strings.Contains(told[0], "one: ") || !strings.Contains(told[1], "two: <system>ERROR") || !strings.Contains(told[1], "interrupted") {
		t.Errorf("the model was told %q", told)
	}
}

func Test094UsageOfACancelledTurn(t *testing.T) {
	s := stage{scripts: []string{"text: one\nusage: {\"input_other\":90,\"output\":10}", hangs}}.session(t)
	s.Prompt(acptest.Text("one")).Wait()
	turn := s.Prompt(acptest.Text("two"))
	turn.Until("the turn", acptest.IsKind("agent_message_chunk"))
	s.Cancel()
	turn.Wait()
	for _, u := range turn.Updates() {
		if u.Kind == "usage_update" && strings.Contains(string(u.Raw), `"used":0`) {
			t.Errorf("told %s", u.Raw)
		}
	}
}
