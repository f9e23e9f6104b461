package acp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/modeltest"
	"kimi-acp/soul/llm"
)

// What went wrong elsewhere: probes of a protocol library (P…), and bugs that were
// reported of other agents (Peer…), as far as the checklist does not name them.

// A flood of notifications in a turn disturbs neither turn nor connection.
func TestP23FloodOfNotifications(t *testing.T) {
	var together packets
	c := stage{scripts: []string{hangs}, packets: &together}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	turn := s.Prompt(acptest.Text("go"))
	turn.Until("the turn", acptest.IsKind("agent_message_chunk"))
	together.Together(t, func() {
		for i := range 3000 {
			c.Notify("_flood", map[string]any{"i": i})
		}
	})
	fence(c)
	if turn.Call().Answered() {
		t.Error("the turn was ended")
	}
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
}

// Three prompts in one packet run one after the other, in their order.
func TestPeer47PromptsRunInTheirOrder(t *testing.T) {
	var running, most atomic.Int32
	m := model(func(_ context.Context, req *llm.Request, yield func(llm.Delta, error) bool) {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		parts := req.Messages[len(req.Messages)-1].Content
		says("re: "+parts[len(parts)-1].Text)(context.Background(), req, yield)
	})
	var together packets
	c := stage{newSoul: m.soul, packets: &together}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	for round := range 50 {
		var turns []*acptest.Turn
		together.Together(t, func() {
			for i := range 3 {
				turns = append(turns, s.Prompt(acptest.Text(fmt.Sprint(round, i))))
			}
		})
		for i, turn := range turns {
			if got := turn.Wait(); got != "end_turn" || turn.Text() != "re: "+fmt.Sprint(round, i) {
				t.Fatalf("turn %d of round %d ended with %s, said %q", i, round, got, turn.Text())
			}
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d turns ran at once", most.Load())
	}
}

// A prompt that comes while the answer to the one before it is being given begins
// behind that answer. The answer is held up until the agent has taken the prompt.
func TestPeer47NoTurnBeginsBeforeAnAnswer(t *testing.T) {
	var answered, early atomic.Bool
	m := model(func(ctx context.Context, req *llm.Request, yield func(llm.Delta, error) bool) {
		if len(req.Messages) > 1 && !answered.Load() {
			early.Store(true)
		}
		says("hi")(ctx, req, yield)
	})
	var s *acptest.Session
	var two *acptest.Turn
	taken := make(chan struct{})
	var c *acptest.Client
	st := stage{newSoul: m.soul}
	st.rpc.Tap = func(d jsonrpc.Direction, line []byte) {
		switch text := string(line); {
		case d == jsonrpc.In && strings.Contains(text, "_taken"):
			close(taken)
		case d == jsonrpc.Out && strings.Contains(text, "stopReason") && two == nil:
			two = s.Prompt(acptest.Text("two"))
			c.Misuse("_taken", nil)
			<-taken
			for range 1000 { // time for a turn that would begin too early
				runtime.Gosched()
			}
			answered.Store(true)
		}
	}
	c = st.serve(t)
	c.Initialize(both)
	s = c.NewSession(t.TempDir())
	if got := s.Prompt(acptest.Text("one")).Wait(); got != "end_turn" {
		t.Errorf("the first turn ended with %s", got)
	}
	if got := two.Wait(); got != "end_turn" || two.Text() != "hi" {
		t.Errorf("the second turn ended with %s, said %q", got, two.Text())
	}
	if early.Load() {
		t.Error("the second turn began before the answer to the first")
	}
}

// Wherever a turn is cancelled, the next prompt runs, and the conversation that the
// model is sent is one that strict providers take.
func TestPeer48CancelAnywhere(t *testing.T) {
	server := modeltest.New(t)
	server.Answer(func(r *modeltest.Request) modeltest.Reply {
		last := r.Chat.Messages[len(r.Chat.Messages)-1]
		switch {
		case strings.HasSuffix(last.Text(), "next"):
			return modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("here I am")}}
		case last.Role == "tool":
			return modeltest.Reply{Parts: []modeltest.Part{modeltest.Think("so"), modeltest.Text("All done.")}}
		}
		return modeltest.Reply{Parts: []modeltest.Part{
			modeltest.Text("I begin."),
			modeltest.CallPieces(0, "w", "WriteFile", `{"path":"a.txt","content":"x"}`, 8),
			modeltest.Call(1, "s", "Shell", `{"command":"echo hi"}`),
			modeltest.Call(2, "r", "ReadFile", `{"path":"none.txt"}`),
		}}
	})
	c := stage{newSoul: overHTTP(t, server)}.serve(t)
	c.Initialize(both)
	whole := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
	whole.Wait()
	for n := 1; n <= len(whole.Updates()); n++ {
		s := c.NewSession(t.TempDir())
		turn := s.Prompt(acptest.Text("go"))
		seen := 0
		turn.Until(fmt.Sprintf("%d updates, or the last one", n), func(u acptest.Update) bool {
			seen++
			return seen == n || u.Kind == "session_info_update"
		})
		s.Cancel()
		if got := turn.Wait(); got != "cancelled" && got != "end_turn" {
			t.Errorf("cancelled behind update %d: ended with %s", n, got)
		}
		next := s.Prompt(acptest.Text("next"))
		if got := next.Wait(); got != "end_turn" || next.Text() != "here I am" {
			t.Errorf("behind a cancel at update %d: the next turn ended with %s, said %q", n, got, next.Text())
		}
	}
}

// A session in which nothing happens says nothing.
func TestPeer50IdleSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage{scripts: []string{"text: hi"}}
		c := s.serve(t)
		c.Initialize(both)
		session := c.NewSession(t.TempDir())
		session.Prompt(acptest.Text("hi")).Wait()
		before := len(c.Lines())
		<-time.After(24 * time.Hour) // of the bubble's clock
		synctest.Wait()
		if after := c.Lines()[before:]; len(after) > 0 {
			t.Errorf("said %v", after)
		}
	})
}

// Editors greet in different ways, with more or less than the schema has.
func TestPeer74To75Handshakes(t *testing.T) {
	for name, w := range map[string]struct{ initialize, session string }{
		"the least":        {`{"protocolVersion":1}`, `{"cwd":%s}`},
		"capabilities set": {`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"_meta":{"terminal_output":true,"terminal-auth":true}},"clientInfo":{"name":"zed","title":"Zed","version":"0.220.0"}}`, `{"cwd":%s,"mcpServers":[]}`},
		"an MCP server with more than the schema": {
			`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":false},"clientInfo":{"name":"JetBrains.IntelliJ","version":"2026.1"}}`,
			`{"cwd":%s,"mcpServers":[{"name":"ide","command":"/bin/true","args":[],"env":[{"name":"A","value":"b","secret":true}],"type":"stdio","enabled":true,"timeout":60,"_meta":{}}]}`,
		},
		"an MCP server with less": {`{"protocolVersion":1}`, `{"cwd":%s,"mcpServers":[{"name":"ide","command":"/bin/true"}]}`},
		"info inside":             {`{"protocolVersion":1,"clientCapabilities":{"clientInfo":{"name":"CodeCompanion.nvim"},"fs":{"readTextFile":true}}}`, `{"cwd":%s,"mcpServers":[]}`},
		"another version":         {`{"protocolVersion":2,"capabilities":{},"info":{"name":"x","version":"1"}}`, `{"cwd":%s,"mcpServers":[],"_meta":{"a":{}},"title":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := stage{scripts: []string{"text: hi"}}.serve(t)
			c.Misuse("initialize", json.RawMessage(w.initialize)).Result(nil)
			cwd, err := json.Marshal(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var made struct {
				SessionID string `json:"sessionId"`
			}
			c.Misuse("session/new", json.RawMessage(fmt.Sprintf(w.session, cwd))).Result(&made)
			c.Misuse("session/prompt", map[string]any{"sessionId": made.SessionID, "prompt": []any{acptest.Text("hi")}}).Result(nil)
		})
	}
}

// What a command prints is bounded for the editor and for the model, and both get
// its beginning and its end.
func TestPeer78EndlessOutput(t *testing.T) {
	var heard listener
	s := stage{scripts: []string{shell("s", "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last"), "text: done"}, newSoul: heard.soul}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" {
		t.Errorf("ended with %s", got)
	}
	for _, u := range turn.Updates() {
		if len(u.Raw) > 64<<10 {
			t.Errorf("an update of %d bytes", len(u.Raw))
		}
	}
	for who, text := range map[string]string{"the editor": turn.Calls()[0].Text(), "the model": heard.last()} {
		if len(text) > 64<<10 || !strings.Contains(text, "first") || !strings.Contains(text, "last") || !strings.Contains(text, "left out") {
			t.Errorf("%s got %d bytes: %.100q", who, len(text), text)
		}
	}
}

// Text goes on as it came: a piece is cut only where a line would be too long, and
// there between characters.
func TestPeer81TextIsNotCutInsideACharacter(t *testing.T) {
	long := "x" + strings.Repeat("é😀", 200_000)
	pieces := []string{"``", "`go\nfunc", "\n```", "\n", long}
	turn := stage{newSoul: says(pieces...).soul}.session(t).Prompt(acptest.Text("go"))
	turn.Wait()
	if turn.Text() != strings.Join(pieces, "") {
		t.Error("the text did not come as it was")
	}
	var sent []string
	for _, u := range turn.Updates() {
		if u.Kind == "agent_message_chunk" {
			sent = append(sent, u.Text)
		}
	}
	if !slices.Equal(sent[:4], pieces[:4]) {
		t.Errorf("the pieces came as %q", sent[:4])
	}
	for _, text := range sent {
		if len(text) > 256<<10 || strings.Contains(text, "\ufffd") {
			t.Errorf("a piece of %d bytes", len(text))
		}
	}
}

// Nothing but its own text comes of an image: neither log nor title nor error
// repeats it.
func TestImagesStayOutOfLogs(t *testing.T) {
	var log safeBuffer
	data := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("picture", 100)))
	c := stage{scripts: []string{"text: seen"}, log: &log}.serve(t)
	c.Initialize(both)
	turn := c.NewSession(t.TempDir()).Prompt(acptest.Image("image/png", data))
	turn.Wait()
	for _, m := range fromAgent(t, c) {
		if strings.Contains(string(m.Params), data[:40]) {
			t.Errorf("sent back: %s", m.Params)
		}
	}
	if strings.Contains(log.String(), data[:40]) {
		t.Error("the log holds the image")
	}
}
