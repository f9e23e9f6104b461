package soul

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/soul/llm"
)

// hanging is a model that never answers: each call ends when its time is over.
type hanging struct {
	name  string
	calls int
}

func (h *hanging) Model() llm.Model { return llm.Model{Name: h.name, ContextSize: 100_000} }

func (h *hanging) Stream(context.Context, *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		h.calls++
		if h.calls > 100 {
			panic("the step is repeated without end")
		}
		time.Sleep(2 * time.Minute)
		yield(llm.Delta{}, &llm.Error{Kind: llm.KindTimeout, Message: "no answer in time"})
	}
}

// Two models that fail slowly: the rest of the first one's circuit is over whenever the
// second one has failed, so the two must not be asked in turn for ever.
func TestTwoModelsThatFailSlowlyEndTheStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &hanging{name: "first"}, &hanging{name: "second"}
		s := play(nil, Config{Fallback: second})
		s.UseModel(first)
		if _, err := s.Run(t.Context(), ask("x")); err == nil {
			t.Error("the turn went well")
		}
		if n := DefaultRetry.Attempts; first.calls+second.calls > 2*n {
			t.Errorf("%d and %d requests, more than %d for each model", first.calls, second.calls, n)
		}
	})
}
