package soul

import (
	"context"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// outOfSteps runs a turn of one step that calls a tool, on a model whose second answer is
// what it says behind it.
func outOfSteps(ctx context.Context, model *flaky, last attempt) (*stage, Outcome, error) {
	s := play(tools{"Read": func(context.Context, string) wire.ToolReturnValue { return ok("read") }}, Config{MaxSteps: 1})
	args := `{}`
	model.attempts = []attempt{{deltas: []llm.Delta{
		begin(0, "a", "Read"),
		{Kind: llm.DeltaCallPart, Index: 0, Arguments: &args},
		{Kind: llm.DeltaFinish, Finish: llm.FinishToolCalls},
	}}, last, {deltas: texts("one too many")}}
	s.UseModel(model)
	out, err := s.Run(ctx, ask("go"))
	return s, out, err
}

// A turn that is out of steps asks the model once more, for words alone; what has no
// answer leaves no trace.
func TestOutOfStepsAsksForALastAnswer(t *testing.T) {
	args := `{}`
	for _, c := range []struct {
		name  string
		last  attempt
		roles string
		says  string // the end of what was said
	}{
		{"words", attempt{deltas: texts("Read one, two are left.")}, "user assistant+a tool:a user assistant", "text:Read one, two are left. | StatusUpdate | text:\n\nI stopped after 1 steps, which is as many as a turn may have. Send “continue” and I go on from here. | TurnEnd"},
		{"a call in spite of all", attempt{deltas: []llm.Delta{
			{Kind: llm.DeltaText, Text: "More."},
			begin(0, "b", "Read"),
			{Kind: llm.DeltaCallPart, Index: 0, Arguments: &args},
		}}, "user assistant+a tool:a user assistant", "failed b | StatusUpdate | text:\n\nI stopped after 1 steps, which is as many as a turn may have. Send “continue” and I go on from here. | TurnEnd"},
		{"refused", attempt{deltas: append(texts("no"), llm.Delta{Kind: llm.DeltaFinish, Finish: llm.FinishContentFilter})}, "user assistant+a tool:a", "I go on from here. | TurnEnd"},
		{"nothing", attempt{}, "user assistant+a tool:a", "StepBegin | StepInterrupted | text:I stopped after 1 steps, which is as many as a turn may have. Send “continue” and I go on from here. | TurnEnd"},
		{"out of reach", attempt{err: broken}, "user assistant+a tool:a", "StepBegin | StepInterrupted | text:I stopped after 1 steps, which is as many as a turn may have. Send “continue” and I go on from here. | TurnEnd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := &flaky{name: "m"}
			s, out, err := outOfSteps(t.Context(), model, c.last)
			if err != nil || out != (Outcome{StopMaxSteps, 1}) {
				t.Errorf("ended with %+v, %v", out, err)
			}
			if got := s.roles(); got != c.roles {
				t.Errorf("history %q, want %q", got, c.roles)
			}
			if got := s.transcript(); !strings.HasSuffix(got, c.says) {
				t.Errorf("said %q, want an end of %q", got, c.says)
			}
			if len(model.asked) != 2 {
				t.Fatalf("%d requests, want 2", len(model.asked))
			}
			first, last := model.asked[0], model.asked[1]
			if last.ToolChoice != llm.ToolChoiceNone || len(last.Tools) != len(first.Tools) || first.ToolChoice != "" {
				t.Errorf("tools %v, choice %q", last.Tools, last.ToolChoice)
			}
			if m := last.Messages[len(last.Messages)-1]; m.Role != llm.RoleUser || !strings.Contains(m.Content[0].Text, "call no more tools") {
				t.Errorf("it was asked %+v", m)
			}
		})
	}
}

// A last answer without end is cut off, and what there is of it stays.
func TestLastAnswerIsBounded(t *testing.T) {
	words := make([]string, 1000)
	for i := range words {
		words[i] = strings.Repeat("word ", 200)
	}
	s, out, err := outOfSteps(t.Context(), &flaky{name: "m"}, attempt{deltas: texts(words...)})
	if err != nil || out.Stop != StopMaxSteps {
		t.Errorf("ended with %+v, %v", out, err)
	}
	if n := len(s.LastWords()); n < concludeSize-1000 || n > concludeSize+1000 {
		t.Errorf("%d bytes stay of %d", n, 1000*1000)
	}
}

// A turn that is cancelled while the model says its last is cancelled, and asks no more.
func TestCancelOfTheLastAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	model := &flaky{name: "m"}
	s := play(tools{"Read": func(context.Context, string) wire.ToolReturnValue { return ok("read") }}, Config{MaxSteps: 1})
	args := `{}`
	model.attempts = []attempt{
		{deltas: []llm.Delta{begin(0, "a", "Read"), {Kind: llm.DeltaCallPart, Index: 0, Arguments: &args}}},
		{deltas: texts("I", "have", "said")},
	}
	s.UseModel(model)
	s.cfg.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
		if _, ok := m.(wire.ContentPart); ok {
			cancel()
		}
	}))
	out, err := s.Run(ctx, ask("go"))
	if err != nil || out.Stop != StopCancelled || len(model.asked) != 2 {
		t.Errorf("ended with %+v, %v after %d requests", out, err, len(model.asked))
	}
	if got := s.roles(); got != "user assistant+a tool:a" || strings.Contains(s.transcript(), "I stopped") {
		t.Errorf("history %q, said %q", got, s.transcript())
	}
}
