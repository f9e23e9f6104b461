package acp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// sentBytes is a model request as far as a provider's cache compares it.
type sentBytes struct {
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
}

// TestRequestsGrowAtTheirEndOnly holds that what a model was sent once is sent again
// with the same bytes, whatever the editor tells meanwhile: only so do providers find
// it in their cache.
func TestRequestsGrowAtTheirEndOnly(t *testing.T) {
	server := modeltest.New(t)
	blocked := make(chan struct{})
	var core *soul.Builtin
	var tools []llm.ToolSpec
	make := overHTTP(t, server)
	c := stage{newSoul: func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
		s, err := make(spec, p)
		core, tools = s.(*soul.Builtin), spec.Executor.Specs()
		return s, err
	}, options: withMoment()}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	put(t, s.Cwd, "a.txt", "one\n")
	look := func(n int) {
		file := "file://" + filepath.Join(s.Cwd, fmt.Sprintf("f%d.go", n/3)) // now and then another file
		told(c, s, "_kimi/editor_state", map[string]any{
			"activeDocument": map[string]any{"uri": file, "cursor": at{"line": n, "character": 0}},
			"openDocuments":  []any{map[string]any{"uri": file, "isDirty": n%2 == 0}},
		}).Result(&struct{}{})
	}
	modes := []string{"plan", "default", "accept-edits", "yolo"}
	for n := range 20 {
		look(n)
		if n == 9 { // a server's tools, which came up late
			core.UseTools(append(slices.Clip(tools), llm.ToolSpec{Name: "mcp__tickets__find", Description: "Finds tickets.", Parameters: json.RawMessage(`{"type":"object"}`)}))
		}
		switch n {
		case 7: // a call of a tool, and its answer
			server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "r", "ReadFile", `{"path":"a.txt"}`)}},
				modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("read")}})
		case 12: // a cancel after something was said
			server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "e", "EditorContext", `{"part":"editor"}`)}},
				modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("thinking"), modeltest.Gate(blocked)}})
		default:
			server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text(fmt.Sprint("answer ", n))}})
		}
		if n%2 == 1 {
			c.Request("session/set_mode", map[string]any{"sessionId": s.ID, "modeId": modes[n%len(modes)]}).Result(&struct{}{})
		}
		turn := s.Prompt(acptest.Text(fmt.Sprint("prompt ", n)))
		if n == 12 {
			turn.Until("the second step", acptest.IsKind("agent_message_chunk"))
			// This one waits in the queue until the cancel.
			server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("queued")}})
			queued := s.Prompt(acptest.Text("queued"))
			s.Cancel()
			if got := turn.Wait(); got != "cancelled" {
				t.Fatalf("prompt %d ended with %s", n, got)
			}
			close(blocked)
			turn = queued
		}
		if got := turn.Wait(); got != "end_turn" {
			t.Fatalf("prompt %d ended with %s", n, got)
		}
		if n == 5 {
			s.Prompt(acptest.Text("/context")).Wait()
		}
	}
	var before sentBytes
	contexts := 0
	for i, r := range server.Requests() {
		var now sentBytes
		if err := json.Unmarshal(r.Body, &now); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if !bytes.Equal(before.Tools, now.Tools) {
				t.Errorf("request %d: the tools have changed", i)
			}
			if len(now.Messages) <= len(before.Messages) {
				t.Errorf("request %d has %d messages after %d", i, len(now.Messages), len(before.Messages))
			}
			for n := range min(len(before.Messages), len(now.Messages)) {
				if !bytes.Equal(before.Messages[n], now.Messages[n]) {
					t.Fatalf("request %d: message %d was\n%s\nand is\n%s", i, n, before.Messages[n], now.Messages[n])
				}
			}
		}
		before = now
	}
	for _, m := range before.Messages {
		contexts += bytes.Count(m, []byte(`\u003ccontext\u003e`)) + bytes.Count(m, []byte(`<context>`))
	}
	if contexts < 20 {
		t.Errorf("%d contexts were told in 21 prompts, each with a change", contexts)
	}
	t.Logf("%d requests, %d messages, %d contexts", len(server.Requests()), len(before.Messages), contexts)

	// A compaction ends what a cache holds, so then the late tool is told.
	server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("The sum of it.")}}, modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("on")}})
	s.Prompt(acptest.Text("/compact")).Wait()
	s.Prompt(acptest.Text("go on")).Wait()
	all := server.Requests()
	for i, r := range all {
		if has, want := bytes.Contains(r.Body, []byte("mcp__tickets__find")), i == len(all)-1; has != want {
			t.Errorf("request %d of %d names the late tool: %v", i, len(all), has)
		}
	}
}

// TestSessionsKeepTheirContextApart holds that nothing of one session's project is
// told in another one.
func TestSessionsKeepTheirContextApart(t *testing.T) {
	const canary = "canary-of-the-first"
	server := modeltest.New(t)
	options := acp.Options{Moment: func(spec acp.MomentSpec) (*contextprovider.Moment, error) {
		return withMoment(
			contextprovider.Registration{Provider: contextprovider.Files{Windows: spec.Files, Readable: spec.Readable}},
			contextprovider.Registration{Provider: contextprovider.Tree{Walker: spec.Files, Always: true}},
		).Moment(spec)
	}}
	c := stage{newSoul: overHTTP(t, server), options: options}.serve(t)
	c.Initialize(acptest.Capabilities{})
	one, two := c.NewSession(t.TempDir()), c.NewSession(t.TempDir())
	put(t, one.Cwd, canary+".go", "package a // "+canary+"\n")
	put(t, two.Cwd, "b.go", "package b\n")
	told(c, one, "_kimi/editor_state", map[string]any{
		"activeDocument": map[string]any{
			"uri": "file://" + filepath.Join(one.Cwd, canary+".go"), "cursor": at{"line": 0, "character": 0}, "selectedText": canary,
			"selections": []any{map[string]any{"start": at{"line": 0, "character": 0}, "end": at{"line": 0, "character": 5}}},
		},
	}).Result(&struct{}{})
	for range 3 {
		server.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("ok")}}, modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("ok")}})
		a := one.Prompt(acptest.Text("first"), acptest.Link("file://"+filepath.Join(one.Cwd, canary+".go"), "x"))
		b := two.Prompt(acptest.Text("second"), acptest.Link("file://"+filepath.Join(one.Cwd, canary+".go"), "x"), acptest.Text("b.go:1"))
		a.Wait()
		b.Wait()
	}
	said := false
	for i, r := range server.Requests() {
		var sent sentBytes
		if err := json.Unmarshal(r.Body, &sent); err != nil {
			t.Fatal(err)
		}
		body := ""
		for _, m := range sent.Messages {
			body += string(m)
		}
		switch {
		case strings.Contains(body, `"second"`):
			// The link that the user gave names the file, and that is all.
			if strings.Contains(body, "package a") || strings.Contains(body, "active file") {
				t.Errorf("request %d of the second session tells of the first: %s", i, body)
			}
		default:
			said = said || strings.Contains(body, "package a") && strings.Contains(body, "active file")
		}
	}
	if !said {
		t.Error("the first session was not told of its own file")
	}
}

var _ contextprovider.Walker = (*fileop.Operator)(nil)
