package acp_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// Section H of the checklist: updates and tool calls. Much of it is held against
// every line of every test by the editor's side: that a call is announced before
// it is spoken of, that its status moves forward, that paths are absolute, lines
// count from 1 and members are those of the schema.

// updatesOf gives the raw updates of a kind in a turn.
func updatesOf(turn *acptest.Turn, kind string) []string {
	var all []string
	for _, u := range turn.Updates() {
		if u.Kind == kind {
			all = append(all, string(u.Raw))
		}
	}
	return all
}

// Models use an id again in another turn, and even within one; editors never see
// it twice. (Peers, number 55.)
func Test095CallIDsAreUnique(t *testing.T) {
	s := stage{scripts: []string{
		readFile("call_0", "a.txt") + readFile("call_0", "a.txt") + readFile("", "a.txt"), readFile("call_0", "a.txt"), "text: one",
		readFile("call_0", "a.txt") + readFile("call_0~2", "a.txt"), "text: two",
	}}.session(t)
	one, two := s.Prompt(acptest.Text("one")), s.Prompt(acptest.Text("two"))
	one.Wait()
	two.Wait()
	seen := map[string]bool{}
	calls := slices.Concat(one.Calls(), two.Calls())
	for _, call := range calls {
		if seen[call.ID] || call.Title == "" {
			t.Errorf("the id %q, title %q", call.ID, call.Title)
		}
		seen[call.ID] = true
	}
	if len(calls) != 6 {
		t.Errorf("%d calls were shown, want 6", len(calls))
	}
}

func Test096StatusesMoveForward(t *testing.T) {
	s := stage{scripts: []string{
		writeFile("w", "a.txt", "x\n") + readFile("missing", "none.txt") + shell("ok", "true") + shell("bad", "exit 3") + toolCall("unknown", "Dance", nil),
		"text: done",
	}}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	want := map[string]string{
		"w": "[pending in_progress completed]", "missing": "[pending in_progress failed]",
		"ok": "[pending in_progress completed]", "bad": "[pending in_progress failed]", "unknown": "[pending failed]",
	}
	kinds := map[string]string{"w": "edit", "missing": "read", "ok": "execute", "bad": "execute", "unknown": "other"}
	for _, call := range turn.Calls() {
		if got := fmt.Sprint(call.Statuses); got != want[call.ID] || call.Kind != kinds[call.ID] {
			t.Errorf("%s: %s, a call of kind %s; want %s, %s", call.ID, got, call.Kind, want[call.ID], kinds[call.ID])
		}
	}
}

// membersOf names the members of an update that are not always there.
func membersOf(t *testing.T, raw string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "sessionUpdate")
	delete(m, "toolCallId")
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func Test097UpdatesCarryWhatChanged(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         []string // the announcement and the updates, by their members
	}{
		{"arguments at once", readFile("r", "a.txt"), []string{"kind locations name rawInput status title", "status", "content rawOutput status"}},
		{
			"arguments in pieces", "tool_call: {\"id\":\"r\",\"name\":\"ReadFile\"}\ntool_call_part: {\"path\":\ntool_call_part: \"a.txt\"}",
			[]string{"kind name status title", "locations rawInput title", "status", "content rawOutput status"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := stage{scripts: []string{c.script, "text: done"}}.serve(t)
			e.Initialize(both)
			s := e.NewSession(t.TempDir())
			put(t, s.Cwd, "a.txt", "one\n")
			turn := s.Prompt(acptest.Text("go"))
			turn.Wait()
			var got []string
			for _, raw := range append(updatesOf(turn, "tool_call"), updatesOf(turn, "tool_call_update")...) {
				got = append(got, membersOf(t, raw))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if call := turn.Calls()[0]; string(call.RawInput) != `{"path":"a.txt"}` || call.Title != "Read `a.txt`" {
				t.Errorf("the call is %+v", call)
			}
		})
	}
}

// A list of contents that is empty is sent as one, and replaces what was there. (P16)
func Test097EmptyContent(t *testing.T) {
	s := stage{scripts: []string{toolCall("t", "SetTodoList", map[string]any{"todos": []any{}}) + shell("s", "true"), "text: done"}}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	for _, raw := range updatesOf(turn, "tool_call_update") {
		if strings.Contains(raw, `"content":null`) {
			t.Errorf("sent %s", raw)
		}
	}
}

func Test098DiffsAreTheRealChange(t *testing.T) {
	c := stage{scripts: []string{
		editFile("edit", "a.txt", "two", "2"), writeFile("new", "sub/b.txt", "fresh\n"), writeFile("over", "a.txt", ""), "text: done",
	}}.serve(t)
	c.OnWrite = func(_, text string) (string, error) { return strings.ReplaceAll(text, "2", "2 "), nil } // a formatter
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	path := put(t, s.Cwd, "a.txt", "one\ntwo\nthree\n")
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	str := func(s string) *string { return &s }
	for i, want := range []struct {
		path string
		old  *string
		new  string
	}{
		{path, str("one\ntwo\nthree\n"), "one\n2 \nthree\n"},
		{filepath.Join(s.Cwd, "sub", "b.txt"), nil, "fresh\n"},
		{path, str("one\n2 \nthree\n"), ""},
	} {
		call := turn.Calls()[i]
		if len(call.Diffs()) != 1 {
			t.Errorf("%s: the content is %+v", call.ID, call.Content)
			continue
		}
		got := call.Diffs()[0]
		if got.Path != want.path || fmt.Sprint(deref(got.OldText)) != fmt.Sprint(deref(want.old)) || got.NewText != want.new {
			t.Errorf("%s: %s from %q to %q; want %s from %q to %q", call.ID, got.Path, deref(got.OldText), got.NewText, want.path, deref(want.old), want.new)
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return "(no file)"
	}
	return *s
}

func Test099To102Locations(t *testing.T) {
	c := stage{scripts: []string{
		toolCall("r", "ReadFile", map[string]any{"path": "a.txt", "line_offset": 3}) + toolCall("end", "ReadFile", map[string]any{"path": "a.txt", "line_offset": -2}),
		editFile("e", "a.txt", "four", "4"), "text: done",
	}}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	path := put(t, s.Cwd, "a.txt", "one\ntwo\nthree\nfour\n")
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	want := map[string]string{"r": path + ":3", "end": path + ":0", "e": path + ":4"}
	for _, call := range turn.Calls() {
		var got []string
		for _, l := range call.Locations {
			line := 0
			if l.Line != nil {
				line = *l.Line
			}
			got = append(got, fmt.Sprintf("%s:%d", l.Path, line))
		}
		if strings.Join(got, " ") != want[call.ID] {
			t.Errorf("%s: at %s, want %s", call.ID, got, want[call.ID])
		}
	}
}

// Without a terminal of the editor's, commands are shown by their output.
func Test100OutputWithoutTerminals(t *testing.T) {
	turn := stage{scripts: []string{shell("s", "echo hi"), "text: done"}}.session(t).Prompt(acptest.Text("go"))
	turn.Wait()
	if got := turn.Calls()[0]; got.Text() != "```\nhi\n```" || got.Content[0].Type != "content" {
		t.Errorf("shown as %+v", got.Content)
	}
}

// (P14)
func Test101RawInputIsExact(t *testing.T) {
	const args = `{"a":9007199254740993,"b":12345678901234567890,"c":1.0,"d":"<&>"}`
	quoted, _ := json.Marshal(args)
	s := stage{scripts: []string{`tool_call: {"id":"x","name":"Dance","arguments":` + string(quoted) + `}`, "text: done"}}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	if got := string(turn.Calls()[0].RawInput); got != args {
		t.Errorf("rawInput is %s, want %s", got, args)
	}
}

// (P13 for the entries)
func Test103Plans(t *testing.T) {
	todo := func(id string, items ...any) string {
		return toolCall(id, "SetTodoList", map[string]any{"todos": append([]any{}, items...)})
	}
	item := func(title, status string) any { return map[string]any{"title": title, "status": status} }
	s := stage{scripts: []string{
		todo("1", item("look", "done"), item("think", "in_progress"), item("act", "pending")), todo("2"), "text: done",
	}}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	want := []string{
		`{"sessionUpdate":"plan","entries":[{"content":"look","priority":"medium","status":"completed"},{"content":"think","priority":"medium","status":"in_progress"},{"content":"act","priority":"medium","status":"pending"}]}`,
		`{"sessionUpdate":"plan","entries":[]}`,
	}
	if got := updatesOf(turn, "plan"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// (P13 for the commands)
func Test104ListsAreNeverNull(t *testing.T) {
	s := stage{newSoul: func(acp.SoulSpec, llm.Provider) (soul.Soul, error) { return behaving{}, nil }}.session(t)
	got := s.Until("the commands", acptest.IsKind("available_commands_update"))
	if string(got.Raw) != `{"sessionUpdate":"available_commands_update","availableCommands":[]}` {
		t.Errorf("sent %s", got.Raw)
	}
}

func Test105MessageIDs(t *testing.T) {
	s := stage{scripts: []string{
		"think: hm\nthink: hm\ntext: one\ntext: two\n" + readFile("r", "a.txt"), "text: three", "text: four",
	}}.session(t)
	one, two := s.Prompt(acptest.Text("go")), s.Prompt(acptest.Text("on"))
	one.Wait()
	two.Wait()
	var got []string
	names := map[string]string{}
	for _, u := range slices.Concat(one.Updates(), two.Updates()) {
		if !strings.HasSuffix(u.Kind, "_chunk") {
			continue
		}
		if u.MessageID == "" {
			t.Errorf("no messageId in %s", u.Raw)
		}
		if names[u.MessageID] == "" {
			names[u.MessageID] = string(rune('a' + len(names)))
		}
		got = append(got, u.Text+":"+names[u.MessageID])
	}
	if want := "[hm:a hm:a one:b two:b three:c four:d]"; fmt.Sprint(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func Test106UsageAtTheEndOfATurn(t *testing.T) {
	s := stage{scripts: []string{"text: done\nusage: {\"input_other\":90,\"input_cache_read\":7,\"output\":10}"}}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	if got, want := fmt.Sprint(updatesOf(turn, "usage_update")), `[{"sessionUpdate":"usage_update","used":107,"size":100000}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func Test107TitleAfterTheFirstExchange(t *testing.T) {
	s := stage{scripts: []string{"text: one", "text: two"}}.session(t)
	for _, c := range []struct{ prompt, title string }{
		{"/help", ""},
		{"  Fix the\n\tparser, please: it fails on every second line of input\n", "Fix the parser, please: it fails on every second…"},
		{"Another thing", ""},
	} {
		turn := s.Prompt(acptest.Text(c.prompt))
		turn.Wait()
		got := strings.Join(updatesOf(turn, "session_info_update"), " ")
		if c.title == "" && got != "" || !strings.Contains(got, c.title) {
			t.Errorf("%q: %s, want the title %q", c.prompt, got, c.title)
		}
	}
}

func Test108NoticesOnlyWhereTheyAreTaken(t *testing.T) {
	for _, taken := range []bool{true, false} {
		s := stage{
			scripts: []string{"error: 503 busy", "text: done"},
			newSoul: configured(func(c *soul.Config) {
				c.Retry = soul.RetryPolicy{Attempts: 2, Base: time.Microsecond, Cap: time.Microsecond}
			}),
		}
		c := s.serve(t)
		if taken {
			c.AllowDrafts()
		}
		c.Initialize(acptest.Capabilities{Notices: taken})
		turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
		if got := turn.Wait(); got != "end_turn" {
			t.Errorf("ended with %s", got)
		}
		if got := len(updatesOf(turn, "notice")); got != map[bool]int{true: 1}[taken] {
			t.Errorf("notices taken %v: %d were sent", taken, got)
		}
	}
}

func Test109UnknownMetaIsHarmless(t *testing.T) {
	meta := map[string]any{"traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01", "tracestate": 7, "x": []any{nil}}
	c := stage{scripts: []string{"text: done"}}.serve(t)
	c.Misuse("initialize", map[string]any{"protocolVersion": 1, "_meta": meta}).Result(nil)
	var made struct {
		SessionID string `json:"sessionId"`
	}
	c.Request("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}, "_meta": meta}).Result(&made)
	c.Request("session/prompt", map[string]any{"sessionId": made.SessionID, "_meta": meta, "prompt": []any{map[string]any{"type": "text", "text": "x", "_meta": meta}}}).Result(nil)
}
