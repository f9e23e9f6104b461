package run

import (
	"testing"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// A turn that can ask about code can start agents as well.
func TestAgentsBesideQuestionsAboutCode(t *testing.T) {
	o := turn(folder(t),
		called("a", "Agent", map[string]any{"description": "look", "prompt": "What is there?"}),
		"text: Two files.", "text: Two files, a.txt and another.", "text: done")
	o.Code = func(*fileop.Operator) Code { return Code{Close: func() {}} }
	var results []string
	o.Views = []View{{wire.Raw, wire.ViewFunc(func(m wire.Message) {
		if r, ok := m.(wire.ToolResult); ok {
			results = append(results, r.ReturnValue.Message)
		}
	})}}
	r, err := Turn(t.Context(), o)
	if err != nil || r.Err != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if len(results) != 1 || results[0] != "The agent is done." {
		t.Errorf("results %q", results)
	}
}
