package soul

import (
	"slices"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// A model that calls tools although it was asked for words: each call that was shown is
// closed on the Wire, also one that was held back behind an unfinished one.
func TestConcludeClosesEachCallThatItShows(t *testing.T) {
	args := `{"a":`
	model := &flaky{name: "m", attempts: []attempt{{deltas: []llm.Delta{
		begin(0, "a", "Read"),
		{Kind: llm.DeltaCallPart, Index: 0, Arguments: &args},
		begin(1, "b", "Read"),
		{Kind: llm.DeltaText, Text: "done"},
		{Kind: llm.DeltaFinish, Finish: llm.FinishToolCalls},
	}}}}
	w := wire.New()
	var open []string
	w.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
		switch m := m.(type) {
		case wire.ToolCall:
			open = append(open, m.Call.ID)
		case wire.ToolResult:
			open = slices.DeleteFunc(open, func(id string) bool { return id == m.ToolCallID })
		}
	}))
	b := New(Config{Wire: w, Provider: model})
	if said, err := b.Conclude(t.Context(), "say it"); err != nil || !said {
		t.Fatal(said, err)
	}
	if len(open) != 0 {
		t.Errorf("calls %v were shown and never closed", open)
	}
	if got := b.LastWords(); got != "done" {
		t.Errorf("said %q", got)
	}
}
