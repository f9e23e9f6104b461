package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// The numbers in the names of tests are those of the conformance checklist for
// agents. Section A: framing and JSON-RPC. What a whole process is needed for
// stands beside the program; every line that any test sees is held against the
// protocol by the editor's side.

func Test002EveryKindOfMessage(t *testing.T) {
	s := stage{scripts: []string{writeFile("w", "a.txt", "x"), "text: done"}}
	c := s.serve(t)
	c.Initialize(both)
	if got := c.NewSession(t.TempDir()).Prompt(acptest.Text("go")).Wait(); got != "end_turn" {
		t.Fatalf("ended with %s", got)
	}
	_, _ = c.Misuse("nope", nil).Wait()
	var requests, notifications, results, errors int
	for _, m := range fromAgent(t, c) {
		switch {
		case m.Method != "" && m.ID != nil:
			requests++
		case m.Method != "":
			notifications++
		case m.Error != nil:
			errors++
		default:
			results++
		}
	}
	if requests == 0 || notifications == 0 || results == 0 || errors == 0 {
		t.Errorf("%d requests, %d notifications, %d results, %d errors; want some of each", requests, notifications, results, errors)
	}
}

func Test003LinesHoldLineBreaksAndBinary(t *testing.T) {
	const text = "a\nb\rc\r\nd\u2028e\u2029f\x00g\x7fh\"\\\U0001f600"
	c := stage{newSoul: says(text).soul}.serve(t)
	c.Initialize(both)
	turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
	turn.Wait()
	if got := turn.Text(); got != text {
		t.Errorf("the text came as %q", got)
	}

	s := stage{scripts: []string{shell("s", `printf 'a\xff\xfe\x80b'`), "text: done"}}.session(t)
	turn = s.Prompt(acptest.Text("go"))
	turn.Wait()
	if got := turn.Calls()[0].Text(); !strings.Contains(got, "a\ufffd") || !strings.Contains(got, "b") {
		t.Errorf("binary output is shown as %q", got)
	}
}

func Test004To012WhatIsNoRequest(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"004 bad JSON", "{bad json\n", `{"id":null,"error":-32700}`},
		{"005 an empty batch", "[]\n", `{"id":null,"error":-32600}`},
		{"005 a batch is not run", `[{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"api-key"}}]` + "\n", `{"id":null,"error":-32600}`},
		{"005 a number", "1\n", `{"id":null,"error":-32600}`},
		{"005 a string", "\"x\"\n", `{"id":null,"error":-32600}`},
		{"005 null", "null\n", `{"id":null,"error":-32600}`},
		{"006 no method", `{"jsonrpc":"2.0","id":"a5"}` + "\n", `{"id":"a5","error":-32600}`},
		{"006 an empty method", `{"jsonrpc":"2.0","id":"a6","method":""}` + "\n", `{"id":"a6","error":-32600}`},
		{"007 no version", `{"id":"a8","method":"authenticate"}` + "\n", `{"id":"a8","error":-32600}`},
		{"007 version 1.0", `{"jsonrpc":"1.0","id":"a9","method":"authenticate"}` + "\n", `{"id":"a9","error":-32600}`},
		// Allowed by the letter; we refuse it and run nothing, since its answer
		// could not be told from that to a broken line.
		{"009 id null", `{"jsonrpc":"2.0","id":null,"method":"authenticate","params":{"methodId":"api-key"}}` + "\n", `{"id":null,"error":-32600}`},
		{"010 an unknown method", `{"jsonrpc":"2.0","id":"b1","method":"session/dance"}` + "\n", `{"id":"b1","error":-32601}`},
		{"010 an unknown notification", `{"jsonrpc":"2.0","method":"session/dance"}` + "\n", ``},
		{"011 an unknown extension", `{"jsonrpc":"2.0","id":"b2","method":"_x/y"}` + "\n", `{"id":"b2","error":-32601}`},
		{"011 an unknown extension notification", `{"jsonrpc":"2.0","method":"_x/y","params":{"a":1}}` + "\n", ``},
		{"012 a cancel of nothing", `{"jsonrpc":"2.0","method":"session/cancel","params":{}}` + "\n", ``},
		{"012 a cancel with bad params", `{"jsonrpc":"2.0","method":"session/cancel","params":[1]}` + "\n", ``},
		{"012 a prompt as a notification", `{"jsonrpc":"2.0","method":"session/prompt","params":{}}` + "\n", ``},
		{"015 blank lines, CRLF", "\n \r\n" + `{"jsonrpc":"2.0","id":"b3","method":"_x"}` + "\r\n\r\n", `{"id":"b3","error":-32601}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			editor := stage{}.serve(t)
			editor.Initialize(both)
			if got := codes(t, replies(t, editor, c.raw)); got != c.want {
				t.Errorf("answered %s, want %s", got, c.want)
			}
			editor.Request("authenticate", map[string]any{"methodId": "api-key"}).Result(nil)
		})
	}
}

// codes shortens answers to their ids and error codes.
func codes(t *testing.T, lines string) string {
	t.Helper()
	var out []string
	for line := range strings.Lines(lines) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		id := string(m.ID)
		if id == "" { // null decodes to nothing
			id = "null"
		}
		if m.Error == nil {
			out = append(out, fmt.Sprintf(`{"id":%s,"result":%s}`, id, m.Result))
			continue
		}
		out = append(out, fmt.Sprintf(`{"id":%s,"error":%d}`, id, m.Error.Code))
	}
	return strings.Join(out, " ")
}

func Test008IDsComeBackExactly(t *testing.T) {
	c := stage{}.serve(t)
	c.Initialize(both)
	for _, id := range []string{`"a b"`, `""`, `-7`, `9223372036854775807`, `"é\u00e9😀"`, `"1"`} {
		got := replies(t, c, `{"jsonrpc":"2.0","id":`+id+`,"method":"authenticate","params":{"methodId":"api-key"}}`+"\n")
		if want := `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` + "\n"; got != want {
			t.Errorf("answered %swant %s", got, want)
		}
	}
}

func Test013MethodsWithoutRequiredParams(t *testing.T) {
	c := stage{}.serve(t)
	agent := c.Initialize(both)
	offered := offers(t, agent, json.RawMessage("{}"))
	for _, method := range []string{"session/list", "logout"} {
		for _, params := range []any{nil, json.RawMessage("null"), map[string]any{}} {
			// Never the invalid params that leaving them out is elsewhere.
			call := c.Misuse(method, params)
			if offered[method] {
				call.Result(nil)
			} else {
				call.Fails(jsonrpc.CodeMethodNotFound)
			}
		}
	}
}

func Test014ParamsOfTheWrongKind(t *testing.T) {
	c := stage{}.serve(t)
	c.Misuse("initialize", []any{}).Fails(jsonrpc.CodeInvalidParams)
	c.Initialize(both)
	for _, method := range []string{"initialize", "authenticate", "session/new", "session/prompt"} {
		for _, params := range []any{nil, []any{1}, "text", 5, true} {
			c.Misuse(method, params).Fails(jsonrpc.CodeInvalidParams)
		}
	}
}

func Test016LineOverTheLimit(t *testing.T) {
	s := stage{scripts: []string{"text: fine"}, rpc: jsonrpc.Options{MaxMessage: 1 << 20}}.session(t)
	s.Prompt(acptest.Text(strings.Repeat("x", 2<<20))).Fails(jsonrpc.CodeInvalidRequest)
	if got := s.Prompt(acptest.Text("short")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
}

func Test017AnySplitOfTheInput(t *testing.T) {
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":"%d","method":"authenticate","params":{"methodId":"api-key"}}`+"\n", i)
	}
	c := stage{}.serve(t)
	c.Initialize(both)
	whole := replies(t, c, lines.String())
	from := len(c.Lines())
	for _, b := range []byte(lines.String()) {
		c.Raw([]byte{b})
	}
	fence(c)
	var pieces strings.Builder
	for _, line := range c.Lines()[from:] {
		if line.Direction == acptest.FromAgent && strings.Contains(line.Text, `"result"`) {
			pieces.WriteString(line.Text + "\n")
		}
	}
	if whole != pieces.String() || strings.Count(whole, "\n") != 100 {
		t.Errorf("in one write %d answers:\n%s\nin single bytes:\n%s", strings.Count(whole, "\n"), whole, pieces.String())
	}
}

func Test018AnswersThatAreWrong(t *testing.T) {
	for _, answer := range []string{`"result":{},"error":{"code":1,"message":"x"}`, `"error":"no"`, `"error":null`, `"a":1`} {
		t.Run(answer, func(t *testing.T) {
			c := stage{scripts: []string{writeFile("w", "a.txt", "x"), "text: told"}}.serve(t)
			c.Initialize(both)
			open := make(chan struct{})
			c.OnPermission = func(context.Context, acptest.Permission) acptest.Answer {
				close(open)
				return acptest.Answer{Silent: true}
			}
			dir := t.TempDir()
			turn := c.NewSession(dir).Prompt(acptest.Text("go"))
			<-open
			var id json.RawMessage
			for _, m := range fromAgent(t, c) {
				if m.Method == "session/request_permission" {
					id = m.ID
				}
			}
			c.Raw([]byte(`{"jsonrpc":"2.0","id":4711,"result":{}}` + "\n")) // nobody waits for it
			c.Raw([]byte(`{"jsonrpc":"2.0","id":` + string(id) + "," + answer + "}\n"))
			if got := turn.Wait(); got != "end_turn" || turn.Text() != "told" {
				t.Errorf("the turn ended with %s, said %q", got, turn.Text())
			}
			if got := turn.Calls()[0].Status; got != "failed" {
				t.Errorf("the call is %s", got)
			}
			if _, err := os.Stat(filepath.Join(dir, "a.txt")); err == nil {
				t.Error("the file was written")
			}
		})
	}
}

func Test019AnIDThatIsInUse(t *testing.T) {
	s := stage{scripts: []string{hangs, "text: next"}}
	c := s.serve(t)
	c.Initialize(both)
	session := c.NewSession(t.TempDir())
	prompt := `{"jsonrpc":"2.0","id":"dup","method":"session/prompt","params":{"sessionId":"` + session.ID + `","prompt":[{"type":"text","text":"hi"}]}}` + "\n"
	c.Raw([]byte(prompt))
	session.Until("the first turn", acptest.IsKind("agent_message_chunk"))
	if got := codes(t, replies(t, c, prompt)); got != `{"id":"dup","error":-32600}` {
		t.Errorf("the second was answered %s", got)
	}
	session.Cancel()
	if got := session.Prompt(acptest.Text("next")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
	count := 0
	for _, m := range fromAgent(t, c) {
		if string(m.ID) == `"dup"` && string(m.Result) == `{"stopReason":"cancelled"}` {
			count++
		}
	}
	if count != 1 {
		t.Errorf("the first was answered %d times", count)
	}
}

func Test021AnswersComeBeforeTheEnd(t *testing.T) {
	// More time than any answer needs: what is seen is that the end waits for them.
	c := stage{rpc: jsonrpc.Options{Linger: time.Minute}}.serve(t)
	initialize := c.Request("initialize", map[string]any{"protocolVersion": 1})
	made := c.Misuse("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}})
	c.Hangup()
	initialize.Result(nil)
	made.Result(nil)
	<-c.Ended()
}

func Test022SecretsStayOutOfLogs(t *testing.T) {
	var log safeBuffer
	s := stage{scripts: []string{"error: 500 the provider's words"}, log: &log, newSoul: configured(func(c *soul.Config) { c.Retry.Attempts = 1 })}
	c := s.serve(t)
	c.Initialize(both)
	var opened struct {
		SessionID string `json:"sessionId"`
	}
	c.Request("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{
		map[string]any{"name": "a", "command": "/bin/a", "args": []string{"--token=HUSH1"}, "env": []any{map[string]any{"name": "KEY", "value": "HUSH2"}}},
		map[string]any{"type": "http", "name": "b", "url": "https://x.test/HUSH3", "headers": []any{map[string]any{"name": "Authorization", "value": "Bearer HUSH4"}}},
	}}).Result(&opened)
	c.Misuse("session/prompt", map[string]any{"sessionId": opened.SessionID, "prompt": []any{acptest.Text("HUSH5")}}).Fails(jsonrpc.CodeInternal)
	c.Misuse("session/prompt", map[string]any{"sessionId": "HUSH6", "prompt": 5, "key": "HUSH7"}).Fails(-32002)
	replies(t, c, `{"jsonrpc":"2.0","id":3,"method":"session/new","params":"HUSH8"}`+"\n"+`{"HUSH9`+"\n")
	if log.String() == "" {
		t.Fatal("there is no log")
	}
	if i := strings.Index(log.String(), "HUSH"); i >= 0 {
		t.Errorf("the log holds what the editor sent: %s", log.String()[max(0, i-100):])
	}
	for _, m := range fromAgent(t, c) {
		if m.Error != nil && strings.Contains(m.Error.Message+string(m.Error.Data), "HUSH") && !strings.Contains(string(m.Error.Data), "HUSH6") {
			t.Errorf("an error repeats it: %+v", m.Error)
		}
	}
}

// A panic costs the request in which it happens, and no other one. (P24)
func Test023PanicsCostOneRequest(t *testing.T) {
	soulOf := map[string]soul.Soul{}
	s := stage{newSoul: func(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) {
		switch name := filepath.Base(spec.Roots[0]); name {
		case "new":
			panic("in NewSoul")
		default:
			return soulOf[name], nil
		}
	}}
	soulOf["status"] = behaving{status: func() soul.Status { panic("in Status") }}
	soulOf["commands"] = behaving{commands: func() []soul.Command { panic("in Commands") }}
	first := true
	soulOf["run"] = behaving{run: func(context.Context, soul.Input) (soul.Outcome, error) {
		if first {
			first = false
			panic("in Run")
		}
		return soul.Outcome{}, nil
	}}
	c := s.serve(t)
	c.Initialize(both)
	open := func(name string) *acptest.Session {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		return c.NewSession(dir)
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	c.Request("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}}).Fails(jsonrpc.CodeInternal)
	open("status").Prompt(acptest.Text("x")).Fails(jsonrpc.CodeInternal)
	open("commands").Prompt(acptest.Text("x")).Fails(jsonrpc.CodeInternal)
	run := open("run")
	if e := run.Prompt(acptest.Text("x")).Fails(jsonrpc.CodeInternal); strings.Contains(e.Message, "in Run") {
		t.Errorf("the panic is shown: %s", e.Message)
	}
	if got := run.Prompt(acptest.Text("x")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
}
