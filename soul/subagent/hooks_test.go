package subagent

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul"
	"kimi-acp/soul/tool"
)

// ear is hooks that note what they are called for, and are against every tool call.
type ear struct {
	mu    sync.Mutex
	heard []string
}

func (e *ear) Ask(_ context.Context, event, target string, _ map[string]any) (bool, string) {
	e.Tell(event, target, nil)
	return event == soul.HookPreToolUse, "not by an agent"
}

func (e *ear) Tell(event, target string, _ map[string]any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, strings.TrimSpace(event+" "+target))
}

// TestHooksOfAgents holds the tools of agents to the hooks of the session, which hear
// of its beginning and end, and not of its prompt.
func TestHooksOfAgents(t *testing.T) {
	e := &ear{}
	c := crew(t, func(o *Options) { o.Hooks = e }, `tool_call: {"id":"r","name":"ReadFile","arguments":"{\"path\":\"a\"}"}`, "text: "+long)
	r := c.Run(t.Context(), tool.AgentJob{Type: "explore", Prompt: "look"})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	want := []string{"SubagentStart explore", "PreToolUse ReadFile", "SubagentStop explore"}
	if diff := cmp.Diff(want, e.heard); diff != "" {
		t.Error(diff)
	}
}
