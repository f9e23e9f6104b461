package soul

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// tripwire counts the points at which a turn may be suspended and cancels it at one.
type tripwire struct {
	at     int64 // 0: never
	cancel context.CancelFunc
	passed atomic.Int64
}

func (w *tripwire) pass() {
	if w.passed.Add(1) == w.at {
		w.cancel()
	}
}

// suspending is a model each of whose deltas is a point of suspension.
type suspending struct {
	*flaky
	wire *tripwire
}

func (s suspending) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		s.wire.pass()
		for d, err := range s.flaky.Stream(ctx, req) {
			if !yield(d, err) {
				return
			}
			s.wire.pass()
		}
	}
}

// journey is a turn that goes through everything: a retry before anything was said, an
// answer that breaks off and is gone on with, calls side by side, one of which asks for
// approval, a fallback, and an end.
func journey(w *tripwire) (*stage, *wire.Wire) {
	down := &llm.Error{Kind: llm.KindServer, Status: 500, Message: "oops"}
	two := []llm.Delta{
		{Kind: llm.DeltaCall, Index: 0, Call: llm.ToolCall{ID: "a", Name: "Asks"}},
		{Kind: llm.DeltaCall, Index: 1, Call: llm.ToolCall{ID: "b", Name: "Slow"}},
	}
	first := &flaky{name: "first", attempts: []attempt{
		{nil, down},
		{texts(strings.Repeat("0123456789", 30)), broken},
		{append(texts(" and on"), two...), nil},
		{nil, down},
		{nil, down},
		{nil, down},
	}}
	second := &flaky{name: "second", attempts: []attempt{{texts("do", "ne"), nil}}}
	var bus *wire.Wire
	slow := func(ctx context.Context) wire.ToolReturnValue {
		w.pass()
		select {
		case <-time.After(time.Second):
			return ok("slept")
		case <-ctx.Done():
			return wire.FailedTool("stopped", "")
		}
	}
	s := play(tools{
		"Slow": func(ctx context.Context, _ string) wire.ToolReturnValue { return slow(ctx) },
		"Asks": func(ctx context.Context, _ string) wire.ToolReturnValue {
			if _, err := bus.Approve(ctx, wire.ApprovalRequest{ID: "r", ToolCallID: "a"}); err != nil {
				return wire.FailedTool("nobody answered", "")
			}
			return slow(ctx)
		},
	}, Config{Fallback: suspending{second, w}})
	bus = s.cfg.Wire
	bus.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
		w.pass()
		switch m := m.(type) {
		case wire.ApprovalRequest:
			bus.ResolveApproval(m.ID, wire.ApprovalApprove, "")
		case wire.StepRetry:
			// A point within the wait.
			time.AfterFunc(time.Duration(m.WaitS*float64(time.Second)/2), w.pass)
		}
	}))
	s.UseModel(suspending{first, w})
	return s, bus
}

// At whichever point a turn is cancelled, it ends as cancelled, soon, leaves a history
// that can be sent, and the next turn runs.
func TestCancelAtEveryPoint(t *testing.T) {
	var points int64
	synctest.Test(t, func(t *testing.T) {
		w := &tripwire{}
		s, _ := journey(w)
		out, err := s.Run(t.Context(), ask("x"))
		if err != nil || out.Stop != StopEndTurn || out.Steps != 2 {
			t.Fatalf("the whole journey ended with %+v, %v", out, err)
		}
		synctest.Wait()
		points = w.passed.Load()
	})
	if points < 30 {
		t.Fatalf("the journey has %d points only", points)
	}
	for at := int64(1); at <= points; at++ {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := &tripwire{at: at, cancel: cancel}
			s, _ := journey(w)
			began := time.Now()
			out, err := s.Run(ctx, ask("x"))
			// Behind the last delta there is nothing left to be cancelled.
			over := at >= points-4 && out.Stop == StopEndTurn && strings.HasSuffix(s.roles(), "assistant")
			if err != nil || out.Stop != StopCancelled && !over {
				t.Errorf("point %d: ended with %+v, %v", at, out, err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("point %d: took %v", at, took)
			}
			if why := unpaired(s.history.Messages()); why != "" {
				t.Errorf("point %d: %s in %s", at, why, s.roles())
			}
			if n := len(s.said); s.said[n-1] != "TurnEnd" {
				t.Errorf("point %d: said %s", at, s.transcript())
			}
			s.UseModel(&flaky{name: "third", attempts: []attempt{{texts("next"), nil}}})
			if out, err := s.Run(t.Context(), ask("y")); err != nil || out.Stop != StopEndTurn {
				t.Errorf("point %d: the next turn: %+v, %v", at, out, err)
			}
		})
	}
	t.Logf("%d points", points)
}

// unpaired says what is wrong with the calls and results of a history, "": nothing.
func unpaired(messages []llm.Message) string {
	open := map[string]bool{}
	for i, m := range messages {
		if m.Role == llm.RoleTool {
			if !open[m.ToolCallID] {
				return fmt.Sprintf("message %d answers no call", i)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Sprintf("message %d comes before the results of %v", i, open)
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("%v have no results", open)
	}
	return ""
}

// closing is a hook that has to agree and cannot, since the turn was cancelled.
type closing struct {
	event  string
	cancel context.CancelFunc
}

func (c closing) Ask(_ context.Context, event, _ string, _ map[string]any) (bool, string) {
	if event != c.event {
		return false, ""
	}
	c.cancel()
	return true, "A hook that has to agree failed: it was stopped"
}
func (closing) Tell(string, string, map[string]any) {}

// That a hook was stopped by a cancel is no word of its own: the turn is cancelled, and
// nothing that the hook did not say is told.
func TestACancelWhileHooksAreAsked(t *testing.T) {
	for _, c := range []struct{ event, said, roles string }{
		{HookUserPromptSubmit, "TurnBegin | TurnEnd", ""},
		{HookStop, "TurnBegin | StepBegin | text:one | StatusUpdate | TurnEnd", "user assistant"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := play(nil, Config{Hooks: closing{c.event, cancel}}, "text: one", "text: two")
		out, err := s.Run(ctx, ask("go"))
		if err != nil || out.Stop != StopCancelled {
			t.Errorf("%s: ended with %+v, %v", c.event, out, err)
		}
		if got := s.transcript(); got != c.said {
			t.Errorf("%s: said %s", c.event, got)
		}
		if got := s.roles(); got != c.roles {
			t.Errorf("%s: history %q", c.event, got)
		}
		cancel()
	}
}
