package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
)

// What models did to other agents, by the numbers of their reports. What servers do in
// all other ways is in internal/doctest, which makes docs/reliability.md of it.

// recovering makes the built-in soul with a model behind a server, and repeats quickly.
func recovering(t *testing.T, server *modeltest.Server) func(acp.SoulSpec, llm.Provider) (soul.Soul, error) {
	t.Helper()
	p, err := openai.New(openai.Config{BaseURL: server.URL(), APIKey: "key", Model: llm.Model{Name: "m", ContextSize: 100_000, ImageInput: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return configured(func(c *soul.Config) {
		c.Provider = p
		c.Retry = soul.RetryPolicy{Attempts: 3, Base: time.Millisecond, Cap: time.Millisecond, MaxAsked: time.Minute}
	})
}

func saysText(s string) modeltest.Reply {
	return modeltest.Reply{Parts: []modeltest.Part{modeltest.Text(s)}}
}

// Arguments that are empty are none, those that are encoded twice are understood; others
// that are no object fail the call in clear words. The conversation stays one that strict
// servers take.
func TestPeer84ArgumentsThatAreNoObject(t *testing.T) {
	for arguments, want := range map[string]string{
		"": "path", "null": "", "[]": "object", `"{\"path\":\"a.txt\"}"`: "does not exist", `{"path":`: "JSON",
	} {
		server := modeltest.New(t)
		server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "c", "ReadFile", arguments)}}, saysText("done"), saysText("again"))
		s := stage{newSoul: recovering(t, server)}.session(t)
		turn := s.Prompt(acptest.Text("read"))
		if got := turn.Wait(); got != "end_turn" || turn.Text() != "done" {
			t.Errorf("%q: ended with %s, said %q", arguments, got, turn.Text())
		}
		calls := turn.Calls()
		if len(calls) != 1 || calls[0].Status != "failed" || !strings.Contains(fmt.Sprint(calls[0].Content), want) {
			t.Errorf("%q: the calls are %+v", arguments, calls)
		}
		if got := s.Prompt(acptest.Text("next")).Wait(); got != "end_turn" {
			t.Errorf("%q: the next turn ended with %s", arguments, got)
		}
	}
}

// Endless bad calls come to an end that a person can read.
func TestPeer85EndlessBadCalls(t *testing.T) {
	server := modeltest.New(t)
	server.Answer(func(r *modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, fmt.Sprintf("c%d", r.Number), "ReadFile", `{"file":"a.txt"}`)}}
	})
	turn := stage{newSoul: recovering(t, server)}.session(t).Prompt(acptest.Text("read"))
	if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), "I stopped") {
		t.Errorf("ended with %s, said %q", got, turn.Text())
	}
	if n := len(server.Requests()); n > 10 {
		t.Errorf("the model was asked %d times", n)
	}
}

// A key that is not accepted is told at once.
func TestPeer90BadKey(t *testing.T) {
	server := modeltest.New(t)
	server.Answer(func(*modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Status: 401, Body: `{"error":{"message":"bad key"}}`}
	})
	stage{newSoul: recovering(t, server)}.session(t).Prompt(acptest.Text("hi")).Fails(-32000)
	if n := len(server.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// An image that the provider refuses costs the image and not the session.
func TestPeer91ImageThatIsRefused(t *testing.T) {
	server := modeltest.New(t)
	server.Push(modeltest.Reply{Status: 400, Body: `{"error":{"message":"image exceeds 5 MB maximum"}}`}, saysText("I see none"), saysText("fine"))
	s := stage{newSoul: recovering(t, server)}.session(t)
	turn := s.Prompt(acptest.Text("look"), acptest.Image("image/png", strings.Repeat("QUJD", 1<<18)))
	if got := turn.Wait(); got != "end_turn" || turn.Text() != "I see none" || !strings.Contains(turn.Thoughts(), "Images were left out.") {
		t.Errorf("ended with %s, said %q, thought %q", got, turn.Text(), turn.Thoughts())
	}
	next := s.Prompt(acptest.Text("next"))
	if got := next.Wait(); got != "end_turn" || next.Text() != "fine" {
		t.Errorf("the next turn ended with %s, said %q", got, next.Text())
	}
	if n := len(server.Requests()[2].Body); n > 1<<20 {
		t.Errorf("the next request has %d bytes", n)
	}
}

// An editor that takes no notices is told of repetitions too, and the answer is one.
func TestRepetitionsAreToldToEveryEditor(t *testing.T) {
	half := strings.Repeat("Half an answer. ", 20)
	for _, notices := range []bool{true, false} {
		server := modeltest.New(t)
		server.Push(
			modeltest.Reply{Status: 503, Body: "{}"},
			modeltest.Reply{Parts: []modeltest.Part{modeltest.TextPieces(half, 40), modeltest.Lines("data: {broken")}},
			saysText("And the other half."),
		)
		c := stage{newSoul: recovering(t, server)}.serve(t)
		c.Initialize(acptest.Capabilities{Notices: notices})
		turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("hi"))
		if got := turn.Wait(); got != "end_turn" || turn.Text() != half+"And the other half." {
			t.Errorf("notices %v: ended with %s, said %q", notices, got, turn.Text())
		}
		var told, ids []string
		for _, u := range turn.Updates() {
			var m struct {
				SessionUpdate, Title, Description, MessageID string
				Content                                      struct{ Text string }
			}
			if err := json.Unmarshal(u.Raw, &m); err != nil {
				continue // content of another shape
			}
			switch m.SessionUpdate {
			case "notice":
				told = append(told, m.Title+". "+m.Description)
			case "agent_thought_chunk":
				told = append(told, m.Content.Text)
			case "agent_message_chunk":
				ids = append(ids, m.MessageID)
			}
		}
		if len(told) != 2 || !strings.Contains(told[0], "is overloaded; trying again in") || !strings.Contains(told[1], "Attempt 3 of 3.") {
			t.Errorf("notices %v: told %q", notices, told)
		}
		if len(ids) == 0 || ids[0] != ids[len(ids)-1] {
			t.Errorf("notices %v: the answer is in the messages %v", notices, ids)
		}
	}
}

// An answer that begins anew says so, in a message of its own.
func TestAnswerThatBeginsAnew(t *testing.T) {
	server := modeltest.New(t)
	server.Push(
		modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("One way"), modeltest.Lines("data: {broken")}},
		saysText("Another way"),
	)
	turn := stage{newSoul: recovering(t, server)}.session(t).Prompt(acptest.Text("hi"))
	if got := turn.Wait(); got != "end_turn" {
		t.Errorf("ended with %s", got)
	}
	text := turn.Text()
	if !strings.HasPrefix(text, "One way\n\n---\n\n*") || !strings.HasSuffix(text, "does not count.*\n\nAnother way") {
		t.Errorf("said %q", text)
	}
}
