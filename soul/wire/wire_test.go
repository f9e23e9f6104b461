package wire_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/wire"
)

func TestRawAndMergedOrder(t *testing.T) {
	w := wire.New()
	var got []string
	note := func(stream string) wire.ViewFunc {
		return func(m wire.Message) {
			what := m.WireType()
			if c, ok := m.(wire.ContentPart); ok {
				what = c.Part.Text
			}
			got = append(got, stream+" "+what)
		}
	}
	w.Attach(wire.Raw, note("raw"))
	w.Attach(wire.Merged, note("merged"))
	for _, e := range []wire.Event{
		wire.TurnBegin{}, text("a"), wire.ToolProgress{}, text("b"), think(""), wire.StepBegin{N: 1}, text("c"),
	} {
		w.Send(e)
	}
	w.Flush()
	w.Flush()
	w.Send(text("d"))
	w.Close()
	want := []string{
		"merged TurnBegin", "raw TurnBegin",
		"raw a", "raw ", "raw b", // the second is the local message
		"merged ab", "raw ",
		"merged ", "merged StepBegin", "raw StepBegin",
		"raw c", "merged c",
		"raw d", "merged d",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAttachDetachClose(t *testing.T) {
	w := wire.New()
	var early, late, after collect
	w.Send(wire.StepBegin{N: 1})
	detachEarly := w.Attach(wire.Raw, &early)
	w.Send(wire.StepBegin{N: 2})
	w.Attach(wire.Raw, &late)
	w.Send(wire.StepBegin{N: 3})
	detachEarly()
	detachEarly()
	w.Send(wire.StepBegin{N: 4})
	w.Close()
	w.Close()
	detachAfter := w.Attach(wire.Raw, &after)
	w.Send(wire.StepBegin{N: 5})
	w.Flush()
	detachAfter()

	for name, tt := range map[string]struct {
		view collect
		want []wire.Message
	}{
		"early": {early, []wire.Message{wire.StepBegin{N: 2}, wire.StepBegin{N: 3}}},
		"late":  {late, []wire.Message{wire.StepBegin{N: 3}, wire.StepBegin{N: 4}}},
		"after": {after, nil},
	} {
		if diff := cmp.Diff(tt.want, tt.view.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDetachDuringDelivery lets a view detach itself and the one after it.
func TestDetachDuringDelivery(t *testing.T) {
	w := wire.New()
	var detachFirst, detachSecond func()
	first, second, third := 0, 0, 0
	detachFirst = w.Attach(wire.Raw, wire.ViewFunc(func(wire.Message) {
		first++
		detachFirst()
		detachSecond()
	}))
	detachSecond = w.Attach(wire.Raw, wire.ViewFunc(func(wire.Message) { second++ }))
	w.Attach(wire.Raw, wire.ViewFunc(func(wire.Message) { third++ }))
	w.Send(wire.TurnEnd{})
	w.Send(wire.TurnEnd{})
	if first != 1 || second != 0 || third != 2 {
		t.Errorf("received %d, %d, %d times, want 1, 0, 2", first, second, third)
	}
}

// TestOneOrderForAll sends from four goroutines and checks that three views agree.
func TestOneOrderForAll(t *testing.T) {
	const senders, each = 4, 200
	w := wire.New()
	q := wire.NewQueue(3)
	var a, b, c collect
	w.Attach(wire.Raw, &a)
	w.Attach(wire.Raw, q)
	w.Attach(wire.Merged, &c)

	var consumer, sending sync.WaitGroup
	consumer.Go(func() {
		for {
			m, err := q.Next(t.Context())
			if err != nil {
				return
			}
			b.Receive(m)
		}
	})
	for s := range senders {
		sending.Go(func() {
			for n := range each {
				w.Send(wire.StepRetry{N: s, NextAttempt: n})
			}
		})
	}
	sending.Wait()
	w.Close()
	q.Close()
	consumer.Wait()

	if len(a.got) != senders*each {
		t.Fatalf("%d messages of %d", len(a.got), senders*each)
	}
	if diff := cmp.Diff(a.got, b.got); diff != "" {
		t.Errorf("queue (-direct +queue):\n%s", diff)
	}
	if diff := cmp.Diff(a.got, c.got); diff != "" {
		t.Errorf("merged (-direct +merged):\n%s", diff)
	}
	var next [senders]int
	for _, m := range a.got {
		r := m.(wire.StepRetry)
		if r.NextAttempt != next[r.N] {
			t.Fatalf("sender %d: message %d came instead of %d", r.N, r.NextAttempt, next[r.N])
		}
		next[r.N]++
	}
}

// TestBlockedView checks that resolving, detaching and listing get past a view
// that is stuck.
func TestBlockedView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire.New()
		stuck := wire.NewQueue(0)
		var other collect
		w.Attach(wire.Raw, &other)
		detach := w.Attach(wire.Raw, stuck)
		done := make(chan wire.ApprovalResponse, 1)
		go func() {
			answer, _ := w.Approve(t.Context(), wire.ApprovalRequest{ID: "r"})
			done <- answer
		}()
		synctest.Wait() // the request is stuck on its way

		if got := w.Pending(); len(got) != 1 || got[0].RequestID() != "r" {
			t.Errorf("pending: %v", got)
		}
		if !w.ResolveApproval("r", wire.ApprovalApprove, "") {
			t.Error("the request could not be resolved")
		}
		detach()
		w.HandleTools(nil)
		stuck.Close()
		if answer := <-done; answer.Response != wire.ApprovalApprove {
			t.Errorf("answered %v", answer)
		}
		if len(other.got) != 2 {
			t.Errorf("the other view got %d messages, want the request and its answer", len(other.got))
		}
	})
}
