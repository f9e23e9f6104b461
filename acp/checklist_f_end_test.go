package acp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"

	"kimi-acp/acp"
)

// Section F of the checklist: how turns end.

// overHTTP makes the built-in soul with a model behind a server.
func overHTTP(t *testing.T, server *modeltest.Server) func(acp.SoulSpec, llm.Provider) (soul.Soul, error) {
	t.Helper()
	p, err := openai.New(openai.Config{BaseURL: server.URL(), APIKey: "key", Model: llm.Model{Name: "m", ContextSize: 100_000}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return configured(func(c *soul.Config) { c.Provider, c.Retry.Attempts = p, 1 })
}

func Test080StopReasons(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"cut off", "text: long\nfinish: length", "max_tokens"},
		{"cut off in a call", writeFile("w", "a.txt", "x") + "finish: length", "max_tokens"},
		{"out of steps", readFile("r", "a.txt"), "max_turn_requests"},
		{"refused", "text: I\nfinish: content_filter", "refusal"},
		{"done", "text: done", "end_turn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stage{scripts: []string{c.script}, newSoul: configured(func(c *soul.Config) { c.MaxSteps = 1 })}.session(t)
			if got := s.Prompt(acptest.Text("go")).Wait(); got != c.want {
				t.Errorf("ended with %s, want %s", got, c.want)
			}
		})
	}
}

func Test080RefusedPromptLeavesTheContext(t *testing.T) {
	var heard listener
	s := stage{scripts: []string{"text: hello", "text: no\nfinish: content_filter", "text: fine"}, newSoul: heard.soul}.session(t)
	for _, p := range []struct{ text, want string }{{"hi", "end_turn"}, {"something bad", "refusal"}, {"something good", "end_turn"}} {
		if got := s.Prompt(acptest.Text(p.text)).Wait(); got != p.want {
			t.Errorf("%s: ended with %s, want %s", p.text, got, p.want)
		}
	}
	if got, want := heard.last(), "user [hi]\nassistant [hello]\nuser [something good]\n"; got != want {
		t.Errorf("the model was asked %q, want %q", got, want)
	}
}

func Test081ProviderFailures(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		code   int
		say    string // words of advice
	}{
		{401, `{"error":{"message":"bad key"}}`, -32000, "KIMI_API_KEY"},
		{402, `{"error":{"message":"no money"}}`, -32603, "top it up"},
		{403, `{"error":{"message":"not you"}}`, -32603, "your account"},
		{404, `{"error":{"message":"no such model"}}`, -32603, "KIMI_MODEL_NAME"},
		{429, `{"error":{"message":"slow down"}}`, -32603, "wait"},
		{500, `oops`, -32603, "again"},
		{503, ``, -32603, "again"},
	} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			server := modeltest.New(t)
			server.Push(modeltest.Reply{Status: c.status, Body: c.body}, modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("back again")}})
			s := stage{newSoul: overHTTP(t, server)}.session(t)
			e := s.Prompt(acptest.Text("one")).Fails(c.code)
			if !strings.Contains(e.Message, c.say) || !strings.Contains(string(e.Data), fmt.Sprint(c.status)) {
				t.Errorf("said %q with %s", e.Message, e.Data)
			}
			turn := s.Prompt(acptest.Text("two"))
			if got := turn.Wait(); got != "end_turn" || turn.Text() != "back again" {
				t.Errorf("the next turn ended with %s, said %q", got, turn.Text())
			}
		})
	}
}

// Whatever the model does, and at whichever stage, a prompt has one answer, what
// was shown is closed, and the session goes on. (Peers, number 51.)
func Test081FailureAtEveryStage(t *testing.T) {
	call := modeltest.CallPieces(0, "c", "ReadFile", `{"path":"a.txt"}`, 4)
	for _, c := range []struct {
		name    string
		replies []modeltest.Reply
		calls   int
	}{
		{"before the first byte", []modeltest.Reply{{DropAfter: 1}}, 0},
		{"in the text", []modeltest.Reply{{Parts: []modeltest.Part{modeltest.Text("half an")}, DropAfter: 300}}, 0},
		{"without an end", []modeltest.Reply{{Parts: []modeltest.Part{modeltest.Text("half an"), modeltest.Lines("data: {broken")}}}, 0},
		{"in a call", []modeltest.Reply{{Parts: []modeltest.Part{modeltest.Text("I read"), call, modeltest.Lines("data: {broken")}}}, 1},
		{"after a tool", []modeltest.Reply{{Parts: []modeltest.Part{call}}, {Status: 500, Body: "oops"}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := modeltest.New(t)
			server.Push(c.replies...)
			server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("back again")}})
			s := stage{newSoul: overHTTP(t, server)}.session(t)
			one := s.Prompt(acptest.Text("one"))
			one.Fails(jsonInternal)
			if calls := one.Calls(); len(calls) != c.calls {
				t.Errorf("%d calls were shown, want %d", len(calls), c.calls)
			}
			two := s.Prompt(acptest.Text("two"))
			if got := two.Wait(); got != "end_turn" || two.Text() != "back again" {
				t.Errorf("the next turn ended with %s, said %q", got, two.Text())
			}
		})
	}
}

const jsonInternal = -32603

// A fault that is ours and no provider's is told without its text.
func Test081FaultOfOurs(t *testing.T) {
	s := stage{newSoul: func(acp.SoulSpec, llm.Provider) (soul.Soul, error) {
		return behaving{run: func(context.Context, soul.Input) (soul.Outcome, error) {
			return soul.Outcome{}, fmt.Errorf("reading /home/me/secret: %w", context.DeadlineExceeded)
		}}, nil
	}}.session(t)
	if e := s.Prompt(acptest.Text("x")).Fails(jsonInternal); strings.Contains(e.Message, "secret") || !strings.Contains(e.Message, "log") {
		t.Errorf("said %q", e.Message)
	}
}

func Test082SlashCommands(t *testing.T) {
	var heard listener
	s := stage{scripts: []string{"text: what?", "text: a path"}, newSoul: heard.soul}.session(t)
	for _, c := range []struct {
		blocks []acptest.Block
		say    string
	}{
		{[]acptest.Block{acptest.Text("/help")}, "/status"},
		{[]acptest.Block{acptest.Text(" /help with this\n"), acptest.Link("file:///a.go", "a.go")}, "/status"},
		{[]acptest.Block{acptest.Resource("file:///a.go", "x"), acptest.Text("/status")}, "tokens"},
	} {
		turn := s.Prompt(c.blocks...)
		if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), c.say) {
			t.Errorf("%v: ended with %s, said %q", c.blocks, got, turn.Text())
		}
	}
	if n := heard.calls(); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	// What is no command of ours is text: it may be a path.
	for i, text := range []string{"/foo bar", "/usr/bin/env is missing"} {
		if got := s.Prompt(acptest.Text(text)).Wait(); got != "end_turn" {
			t.Errorf("%s: ended with %s", text, got)
		}
		if heard.calls() != i+1 || !strings.Contains(heard.last(), "user ["+text+"]\n") {
			t.Errorf("%s: the model was asked %q", text, heard.last())
		}
	}
}
