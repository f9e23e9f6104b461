//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
)

// What a model was sent once is sent again with the same bytes, whatever the editor tells
// meanwhile, and in another process that goes on with the session: only so does a
// provider find it in its cache.
func TestRequestsGrowAtTheirEndOnlyAcrossProcesses(t *testing.T) {
	const turns, resumed = 20, 11
	model := modeltest.New(t)
	dir, share := t.TempDir(), t.TempDir()
	env := []string{"KIMI_BASE_URL=" + model.URL(), "KIMI_API_KEY=of-no-use", "KIMI_MODEL_NAME=served", "KIMI_SHARE_DIR=" + share}
	c := start(t, env)
	c.Initialize(acptest.Capabilities{})
	s := c.NewSession(dir)
	for n := range turns {
		if n == resumed {
			c.Close()
			c = start(t, env)
			c.Initialize(acptest.Capabilities{})
			s = c.LoadSession(s.ID, dir)
		}
		file := "file://" + filepath.Join(dir, fmt.Sprintf("f%d.go", n/3)) // now and then another file
		c.Request("_kimi/editor_state", map[string]any{
			"sessionId":      s.ID,
			"activeDocument": map[string]any{"uri": file, "cursor": map[string]int{"line": n / 2, "character": 0}},
		}).Result(nil)
		if n%4 == 1 { // a call of a tool, and its answer
			model.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, fmt.Sprint("g", n), "Glob", `{"pattern":"*.go"}`)}})
		}
		model.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text(fmt.Sprint("answer ", n))}})
		if got := s.Prompt(acptest.Text(fmt.Sprint("prompt ", n))).Wait(); got != "end_turn" {
			t.Fatalf("prompt %d ended with %s", n, got)
		}
	}
	type sent struct {
		Messages []json.RawMessage `json:"messages"`
		Tools    json.RawMessage   `json:"tools"`
	}
	var before sent
	for i, r := range model.Requests() {
		var now sent
		if err := json.Unmarshal(r.Body, &now); err != nil {
			t.Fatal(err)
		}
		if i > 0 && !bytes.Equal(before.Tools, now.Tools) {
			t.Errorf("request %d: the tools have changed", i)
		}
		if len(now.Messages) <= len(before.Messages) {
			t.Fatalf("request %d has %d messages after %d", i, len(now.Messages), len(before.Messages))
		}
		for n, m := range before.Messages {
			if !bytes.Equal(m, now.Messages[n]) {
				t.Fatalf("request %d: message %d was\n%s\nand is\n%s", i, n, m, now.Messages[n])
			}
		}
		before = now
	}
	contexts := 0
	for _, m := range before.Messages {
		contexts += bytes.Count(m, []byte(`\u003ccontext\u003e`)) + bytes.Count(m, []byte(`<context>`))
	}
	if contexts < turns/2 {
		t.Errorf("%d contexts were told in %d prompts", contexts, turns)
	}
	t.Logf("%d requests of two processes, %d messages, %d contexts", len(model.Requests()), len(before.Messages), contexts)
}
