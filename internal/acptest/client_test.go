package acptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/acptest"
)

const (
	announce = `"tool_call","toolCallId":"c-1","title":"Edit","kind":"edit","rawInput":{"n":9007199254740993}`
	mayI     = `{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"c-1","title":"Edit a"},"options":[{"optionId":"o1","name":"Allow","kind":"allow_once"},{"optionId":"o2","name":"Reject","kind":"reject_once"}]}}`
	finished = `"tool_call_update","toolCallId":"c-1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"done"}},{"type":"diff","path":"/w/a","oldText":null,"newText":"x"}]`
)

var rewrite = flag.Bool("update", false, "write testdata anew")

func TestConversation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	quoted, err := json.Marshal(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("on disk\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := connect(t, func(a *agent) {
		a.begin()
		a.say(update(`"agent_thought_chunk","content":{"type":"text","text":"hm"}`), chunk("Hel"), chunk("lo"))
		a.say(update(announce), mayI)
		a.want(`"o1"`)
		a.say(update(`"tool_call_update","toolCallId":"c-1","status":"in_progress"`))
		a.say(`{"jsonrpc":"2.0","id":"r","method":"fs/read_text_file","params":{"sessionId":"s-1","path":` + string(quoted) + `,"line":2,"limit":1}}`)
		a.want(`"content":"in buffer\n"`)
		a.say(`{"jsonrpc":"2.0","id":"w","method":"fs/write_text_file","params":{"sessionId":"s-1","path":` + string(quoted) + `,"content":"new"}}`)
		a.want(`"result":{}`)
		a.say(update(finished), ended)
	})
	c.Buffers.Set(path, "first\nin buffer\nlast\n")
	c.OnWrite = func(_, text string) (string, error) { return text + "\n", nil }
	s, turn := prompt(c, acptest.Capabilities{ReadTextFile: true, WriteTextFile: true}, dir)
	if got := turn.Wait(); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
	if got, want := turn.Thoughts()+"|"+turn.Text(), "hm|Hello"; got != want {
		t.Errorf("thoughts and text %q, want %q", got, want)
	}
	calls := turn.Calls()
	if len(calls) != 1 {
		t.Fatalf("%d tool calls, want 1", len(calls))
	}
	call := calls[0]
	if call.Title != "Edit" || call.Kind != "edit" || call.Text() != "done" || len(call.Diffs()) != 1 || string(call.RawInput) != `{"n":9007199254740993}` {
		t.Errorf("the folded call is %+v", call)
	}
	if diff := cmp.Diff([]string{"pending", "in_progress", "completed"}, call.Statuses); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]acptest.Write{{Session: s.ID, Path: path, Text: "new"}}, c.Writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if disk, err := os.ReadFile(path); err != nil || string(disk) != "new\n" {
		t.Errorf("on disk %q, %v, want what OnWrite made of it", disk, err)
	}
	if text, open := c.Buffers.Text(path); !open || text != "new\n" {
		t.Errorf("the buffer has %q, %v", text, open)
	}
	if len(s.Updates()) != len(turn.Updates()) {
		t.Errorf("the session has %d updates, the turn %d", len(s.Updates()), len(turn.Updates()))
	}
	const file = "testdata/conversation.txt"
	if *rewrite {
		if err := os.WriteFile(file, []byte(c.Transcript()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), c.Transcript()); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

func TestLoadAndResume(t *testing.T) {
	c := connect(t, func(a *agent) {
		a.want("initialize")
		a.say(initialized)
		a.want("session/load")
		a.say(chunk("replayed"), `{"jsonrpc":"2.0","id":1,"result":{}}`)
		a.want("session/resume")
		a.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		a.say(update(`"session_info_update","title":"t"`))
	})
	if agent := c.Initialize(acptest.Capabilities{}); agent.AgentInfo.Name != "fake" || agent.ProtocolVersion != 1 {
		t.Errorf("the agent is %+v", agent)
	}
	s := c.LoadSession("s-1", t.TempDir())
	if updates := s.Updates(); len(updates) != 1 || updates[0].Text != "replayed" {
		t.Errorf("the replay is %+v", updates)
	}
	s = c.ResumeSession("s-1", s.Cwd)
	s.Until("the title", acptest.IsKind("session_info_update"))
}

func TestPermissionAnswers(t *testing.T) {
	tests := []struct {
		name   string
		answer func(context.Context, acptest.Permission) acptest.Answer
		want   string // in the client's answer
	}{
		{"default", nil, `"optionId":"o1"`},
		{"reject", acptest.Choose("reject_once"), `"optionId":"o2"`},
		{"kind that is not offered", acptest.Choose("allow_always"), `"outcome":"cancelled"`},
		{"from the request", func(_ context.Context, p acptest.Permission) acptest.Answer {
			return acptest.Answer{OptionID: p.CallID + p.Title + p.Session}
		}, `"optionId":"c-1Edit as-1"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connect(t, func(a *agent) {
				a.begin()
				a.say(update(announce), mayI)
				if !a.want(tt.want) {
					return
				}
				a.say(update(finished), ended)
			})
			c.OnPermission = tt.answer
			_, turn := prompt(c, acptest.Capabilities{}, t.TempDir())
			turn.Wait()
		})
	}
}

func TestCancelAnswersPermissions(t *testing.T) {
	asked := make(chan struct{})
	c := connect(t, func(a *agent) {
		a.begin()
		a.say(update(announce), mayI)
		a.want("session/cancel")
		a.want(`"outcome":"cancelled"`)
		a.say(update(`"tool_call_update","toolCallId":"c-1","status":"failed"`), strings.Replace(ended, "end_turn", "cancelled", 1))
	})
	c.OnPermission = func(ctx context.Context, _ acptest.Permission) acptest.Answer {
		close(asked)
		<-ctx.Done()
		return acptest.Answer{OptionID: "o1"} // too late
	}
	s, turn := prompt(c, acptest.Capabilities{}, t.TempDir())
	<-asked
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("stop reason %q", got)
	}
}

func TestHandlers(t *testing.T) {
	ask := func(id, method string) string {
		return `{"jsonrpc":"2.0","id":"` + id + `","method":"` + method + `","params":{}}`
	}
	c := connect(t, func(a *agent) {
		a.begin()
		a.say(ask("1", "_silent"), ask("2", "_plain"))
		a.want(`"code":-32603,"message":"no way"`)
		a.say(ask("3", "_chosen"))
		a.want(`"code":-32002`)
		a.say(ask("4", "_waits"), `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"4"}}`)
		a.want(`"code":-32800`)
		a.say(ask("5", "_unknown"))
		a.want(`"code":-32601`)
		a.say(`{"jsonrpc":"2.0","id":"6","method":"fs/read_text_file","params":{"sessionId":"s-1","path":"/no/such/file"}}`)
		a.want(`"code":-32002`)
		a.say(`{"jsonrpc":"2.0","id":"7","method":"fs/write_text_file","params":{"sessionId":"s-1","path":"/no/such/file","content":"x"}}`)
		a.want(`refused by the user`)
		a.say(ended)
	})
	c.Handle("_silent", func(context.Context, json.RawMessage) (any, error) { return nil, acptest.ErrSilent })
	c.Handle("_plain", func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("no way") })
	c.Handle("_chosen", func(context.Context, json.RawMessage) (any, error) {
		return nil, &acptest.Error{Code: -32002, Message: "gone"}
	})
	c.Handle("_waits", func(ctx context.Context, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	c.OnWrite = func(string, string) (string, error) { return "", errors.New("refused by the user") }
	_, turn := prompt(c, acptest.Capabilities{ReadTextFile: true, WriteTextFile: true}, t.TempDir())
	turn.Wait()
	if strings.Contains(c.Transcript(), `"message":"no answer"`) {
		t.Error("a silent handler was answered for")
	}
}

func TestRawAndMisuse(t *testing.T) {
	c := connect(t, func(a *agent) {
		a.want("initialize")
		a.say(initialized)
		a.want("{broken")
		a.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
		a.want("session/prompt")
		a.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such session"}}`)
		a.want("session/new")
		a.say(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}`)
	})
	c.Initialize(acptest.Capabilities{})
	c.Raw([]byte("\n{bro"))
	c.Raw([]byte("ken\n"))
	if err := c.Misuse("session/prompt", map[string]any{"sessionId": "x"}).Fails(-32602); err.Message != "no such session" {
		t.Errorf("error %v", err)
	}
	c.NewSession(t.TempDir())
}

func TestSecondTurn(t *testing.T) {
	c := connect(t, func(a *agent) {
		a.begin()
		a.want("session/prompt")
		a.say(chunk("one"), ended, chunk("two"), strings.Replace(ended, `"id":2`, `"id":3`, 1))
	})
	s, first := prompt(c, acptest.Capabilities{}, t.TempDir())
	second := s.Prompt(acptest.Text("more"), acptest.Link("file:///a", "a"))
	second.Wait()
	if first.Text() != "one" || second.Text() != "two" {
		t.Errorf("turns have %q and %q", first.Text(), second.Text())
	}
	if !first.Call().Answered() {
		t.Error("the first turn is not answered")
	}
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrote := 0
		c := connect(t, func(a *agent) {
			a.begin()
			for range 5 {
				a.say(chunk("x"))
				wrote++
			}
			a.say(ended)
		})
		c.Initialize(acptest.Capabilities{})
		s := c.NewSession(t.TempDir())
		c.Pause()
		turn := s.Prompt(acptest.Text("hello"))
		synctest.Wait()
		if wrote > 2 {
			t.Errorf("the agent got rid of %d lines while nobody read", wrote)
		}
		c.Resume()
		turn.Wait()
		if turn.Text() != "xxxxx" {
			t.Errorf("text %q", turn.Text())
		}
	})
}
