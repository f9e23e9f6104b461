package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	store "kimi-acp/soul/session"
)

// The schema has no archive yet, so what is asked of it is not judged.
func TestArchive(t *testing.T) {
	s := kept(t, "text: one", "text: two", "text: three", "text: four")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	c.Misuse("session/archive", map[string]any{"sessionId": se.ID}).Fails(jsonrpc.CodeMethodNotFound) // nobody asked for it
	c.Close()
	c = s.serve(t)
	var agent acptest.Agent
	c.Request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{
		"fs": map[string]any{"readTextFile": true, "writeTextFile": true}, "_meta": map[string]any{"kimi": map[string]any{"archive": true}},
	}}).Result(&agent)
	if !strings.Contains(string(agent.AgentCapabilities), `"session/archive","session/unarchive"`) {
		t.Errorf("offered is %s", agent.AgentCapabilities)
	}
	dir := t.TempDir()
	a, b := c.NewSession(dir), c.NewSession(dir)
	a.Prompt(acptest.Text("a")).Wait()
	b.Prompt(acptest.Text("b")).Wait()
	c.Request("session/set_title", map[string]any{"sessionId": a.ID, "title": "Mine"}).Result(nil)
	tell := func(method, id string) {
		t.Helper()
		var raw json.RawMessage
		if c.Misuse(method, map[string]any{"sessionId": id}).Result(&raw); string(raw) != "{}" {
			t.Errorf("%s gives %s", method, raw)
		}
	}
	listed := func(archived string) (ids string) {
		t.Helper()
		params := map[string]any{}
		if archived != "" {
			params["archived"] = archived
		}
		var got struct {
			Sessions []struct {
				SessionID, Title string
				Meta             struct{ Kimi struct{ Archived bool } } `json:"_meta"`
			}
		}
		c.Misuse("session/list", params).Result(&got)
		for _, one := range got.Sessions {
			name := map[string]string{a.ID: "a", b.ID: "b"}[one.SessionID]
			if name == "a" && one.Title != "Mine" {
				t.Errorf("the title is %q", one.Title)
			}
			if one.Meta.Kimi.Archived {
				name += "+"
			}
			ids += name
		}
		return ids
	}
	want := func(when, left, all, alone string) {
		t.Helper()
		for archived, want := range map[string]string{"": left, "exclude": left, "include": all, "only": alone} {
			if got := listed(archived); got != want {
				t.Errorf("%s, %q lists %s, want %s", when, archived, got, want)
			}
		}
	}
	want("at first", "ba", "ba", "")
	for range 2 { // it is closed by the first
		tell("session/archive", a.ID)
		want("archived", "b", "ba+", "a+")
	}
	c.Misuse("session/prompt", map[string]any{"sessionId": a.ID, "prompt": []any{acptest.Text("x")}}).Fails(-32002)
	again := c.LoadSession(a.ID, dir)
	again.Prompt(acptest.Text("still here?")).Wait()
	want("spoken in", "b", "a+b", "a+")
	for range 2 { // it is open
		tell("session/unarchive", a.ID)
		want("taken out", "ab", "ab", "")
	}
	if got := again.Prompt(acptest.Text("go on")).Wait(); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	tell("session/archive", b.ID)
	tell("session/unarchive", b.ID) // it is closed
	want("both", "ab", "ab", "")
	for _, method := range []string{"session/archive", "session/unarchive"} {
		c.Misuse(method, map[string]any{"sessionId": "no-such"}).Fails(-32002)
		c.Misuse(method, map[string]any{}).Fails(jsonrpc.CodeInvalidParams)
	}
	c.Misuse("session/list", map[string]any{"archived": "some"}).Fails(jsonrpc.CodeInvalidParams)
	// Another program has it.
	kept, err := s.options.Sessions.Create(dir, "held")
	if err != nil {
		t.Fatal(err)
	}
	c.Misuse("session/archive", map[string]any{"sessionId": "held"}).Fails(jsonrpc.CodeInvalidRequest)
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
	if page, err := s.options.Sessions.List(store.ListOptions{Archived: store.ArchivedAlone}); err != nil || len(page.Sessions) != 0 {
		t.Errorf("in the archive are %+v, %v", page, err)
	}
}
