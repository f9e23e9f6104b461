package wire_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/wire"
)

// asker is one way to ask, with the answer that a turn's end gives.
type asker struct {
	ask     func(ctx context.Context, w *wire.Wire, id string) (any, error)
	resolve func(w *wire.Wire, id string) bool
	answer  any
	ended   any
	id      string // the form of a generated id
}

const uuidForm = `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`

var askers = map[string]asker{
	"ApprovalRequest": {
		ask: func(ctx context.Context, w *wire.Wire, id string) (any, error) {
			r, err := w.Approve(ctx, wire.ApprovalRequest{ID: id})
			r.RequestID = "" // may be generated
			return r, err
		},
		resolve: func(w *wire.Wire, id string) bool {
			return w.ResolveApproval(id, wire.ApprovalApproveForSession, "well")
		},
		answer: wire.ApprovalResponse{Response: wire.ApprovalApproveForSession, Feedback: "well"},
		ended:  wire.ApprovalResponse{Response: wire.ApprovalReject},
		id:     uuidForm,
	},
	"QuestionRequest": {
		ask: func(ctx context.Context, w *wire.Wire, id string) (any, error) {
			return w.Ask(ctx, wire.QuestionRequest{ID: id})
		},
		resolve: func(w *wire.Wire, id string) bool {
			return w.ResolveQuestion(id, wire.QuestionAnswers{"q": "a"})
		},
		answer: wire.QuestionAnswers{"q": "a"},
		ended:  wire.QuestionAnswers{},
		id:     uuidForm,
	},
	"ToolCallRequest": {
		ask: func(ctx context.Context, w *wire.Wire, id string) (any, error) {
			return w.CallTool(ctx, wire.ToolCallRequest{ID: id, Name: "t"})
		},
		resolve: func(w *wire.Wire, id string) bool {
			return w.ResolveTool(id, wire.ToolReturnValue{Message: "done"})
		},
		answer: wire.ToolReturnValue{Message: "done"},
		ended: wire.ToolReturnValue{
			IsError: true, Message: "Agent turn ended before tool result was received.",
			Display: []wire.Block{{Type: wire.BlockBrief, Brief: &wire.BriefBlock{Text: "Turn ended"}}},
		},
		id: uuidForm,
	},
	"HookRequest": {
		ask: func(ctx context.Context, w *wire.Wire, id string) (any, error) {
			return w.CallHook(ctx, wire.HookRequest{ID: id})
		},
		resolve: func(w *wire.Wire, id string) bool {
			return w.ResolveHook(id, wire.HookDecision{Action: "block", Reason: "r"})
		},
		answer: wire.HookDecision{Action: "block", Reason: "r"},
		ended:  wire.HookDecision{Action: "allow"},
		id:     `^[0-9a-f]{12}$`,
	},
}

// outcome is what an asker was told.
type outcome struct {
	answer any
	err    error
}

// asking starts to ask; the channel gives the outcome.
func asking(ctx context.Context, w *wire.Wire, a asker, id string) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		answer, err := a.ask(ctx, w, id)
		out <- outcome{answer, err}
	}()
	synctest.Wait()
	return out
}

func wantOutcome(t *testing.T, got outcome, answer any, err error) {
	t.Helper()
	if diff := cmp.Diff(answer, got.answer); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if !errors.Is(got.err, err) {
		t.Errorf("error %v, want %v", got.err, err)
	}
}

// eachAsker runs f for each kind of request, with a Wire that is watched.
func eachAsker(t *testing.T, f func(t *testing.T, a asker, w *wire.Wire, view *collect)) {
	for name, a := range askers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wire.New()
				var view collect
				w.Attach(wire.Raw, &view)
				f(t, a, w, &view)
				if left := w.Pending(); len(left) != 0 {
					t.Errorf("left pending: %v", left)
				}
			})
		})
	}
}

func TestResolve(t *testing.T) {
	eachAsker(t, func(t *testing.T, a asker, w *wire.Wire, view *collect) {
		out := asking(t.Context(), w, a, "")
		if len(w.Pending()) != 1 || !cmp.Equal(view.got, []wire.Message{w.Pending()[0]}) {
			t.Fatalf("pending %v, seen %v", w.Pending(), view.got)
		}
		id := w.Pending()[0].RequestID()
		if !regexp.MustCompile(a.id).MatchString(id) {
			t.Errorf("id %q is not like %s", id, a.id)
		}
		if a.resolve(w, "other") {
			t.Error("another id was resolved")
		}
		for name, other := range askers {
			if name != view.got[0].WireType() && other.resolve(w, id) {
				t.Errorf("the answer to a %s was taken", name)
			}
		}
		if !a.resolve(w, id) {
			t.Error("not resolved")
		}
		if a.resolve(w, id) {
			t.Error("resolved twice")
		}
		wantOutcome(t, <-out, a.answer, nil)
		if r, ok := a.answer.(wire.ApprovalResponse); ok {
			r.RequestID = id
			if diff := cmp.Diff([]wire.Message{r}, view.got[1:]); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		} else if len(view.got) != 1 {
			t.Errorf("more was sent: %v", view.got[1:])
		}
	})
}

func TestAskerCancelled(t *testing.T) {
	eachAsker(t, func(t *testing.T, a asker, w *wire.Wire, view *collect) {
		ctx, cancel := context.WithCancel(t.Context())
		out := asking(ctx, w, a, "r")
		cancel()
		wantOutcome(t, <-out, a.ended, context.Canceled)
		if a.resolve(w, "r") {
			t.Error("resolved although nobody waits")
		}
		if _, ok := a.ended.(wire.ApprovalResponse); ok {
			want := wire.ApprovalResponse{RequestID: "r", Response: wire.ApprovalReject}
			if diff := cmp.Diff([]wire.Message{want}, view.got[1:]); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		}

		view.got = nil
		wantOutcome(t, <-asking(ctx, w, a, "r"), a.ended, context.Canceled)
		if len(view.got) != 0 {
			t.Errorf("sent although ctx had ended: %v", view.got)
		}
	})
}

// TestAnswerBeatsCancel ends ctx after the answer was taken and before the asker
// could look at it.
func TestAnswerBeatsCancel(t *testing.T) {
	eachAsker(t, func(t *testing.T, a asker, w *wire.Wire, _ *collect) {
		ctx, cancel := context.WithCancel(t.Context())
		w.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
			if r, ok := m.(wire.Request); ok && !a.resolve(w, r.RequestID()) {
				t.Error("not resolved from within Receive")
			}
			cancel()
		}))
		wantOutcome(t, <-asking(ctx, w, a, "r"), a.answer, nil)
	})
}

func TestEndTurn(t *testing.T) {
	eachAsker(t, func(t *testing.T, a asker, w *wire.Wire, view *collect) {
		first, second := asking(t.Context(), w, a, "1"), asking(t.Context(), w, a, "2")
		w.Send(wire.TurnEnd{})
		w.EndTurn()
		want := []wire.Message{}
		if _, ok := a.ended.(wire.ApprovalResponse); ok {
			for _, id := range []string{"1", "2"} {
				want = append(want, wire.ApprovalResponse{RequestID: id, Response: wire.ApprovalReject})
			}
		}
		if diff := cmp.Diff(want, view.got[3:]); diff != "" {
			t.Errorf("events when EndTurn returned (-want +got):\n%s", diff)
		}
		seen := len(view.got)
		wantOutcome(t, <-first, a.ended, nil)
		wantOutcome(t, <-second, a.ended, nil)
		if len(view.got) != seen {
			t.Errorf("sent again: %v", view.got[seen:])
		}

		third := asking(t.Context(), w, a, "1") // the next turn
		a.resolve(w, "1")
		wantOutcome(t, <-third, a.answer, nil)
	})
}

func TestEndTurnKeepsBackgroundApprovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire.New()
		background, foreground := "background_agent", "foreground_turn"
		kinds := map[string]*string{"b": &background, "f": &foreground, "n": nil}
		done := make(chan wire.ApprovalResponse, len(kinds))
		for id, kind := range kinds {
			go func() {
				r, _ := w.Approve(t.Context(), wire.ApprovalRequest{ID: id, SourceKind: kind})
				done <- r
			}()
		}
		synctest.Wait()
		w.EndTurn()
		<-done
		<-done
		if left := w.Pending(); len(left) != 1 || left[0].RequestID() != "b" {
			t.Fatalf("pending: %v", left)
		}
		w.Close()
		if r := <-done; r.RequestID != "b" || r.Response != wire.ApprovalReject {
			t.Errorf("at the end: %v", r)
		}
	})
}

func TestCloseAnswers(t *testing.T) {
	eachAsker(t, func(t *testing.T, a asker, w *wire.Wire, view *collect) {
		out := asking(t.Context(), w, a, "r")
		w.Close()
		wantOutcome(t, <-out, a.ended, nil)
		if _, ok := a.ended.(wire.ApprovalResponse); ok && len(view.got) != 2 {
			t.Errorf("the views got %v, want the request and its answer", view.got)
		}
		wantOutcome(t, <-asking(t.Context(), w, a, "s"), a.ended, nil)
	})
}

func TestDuplicateID(t *testing.T) {
	eachAsker(t, func(t *testing.T, a asker, w *wire.Wire, view *collect) {
		first := asking(t.Context(), w, a, "r")
		wantOutcome(t, <-asking(t.Context(), w, a, "r"), a.ended, wire.ErrDuplicateID)
		if len(view.got) != 1 {
			t.Errorf("the views got %v", view.got)
		}
		a.resolve(w, "r")
		wantOutcome(t, <-first, a.answer, nil)
	})
}

func TestInvalidApprovalIsReject(t *testing.T) {
	for in, want := range map[wire.Approval]wire.Approval{
		wire.ApprovalApprove:           wire.ApprovalApprove,
		wire.ApprovalApproveForSession: wire.ApprovalApproveForSession,
		wire.ApprovalReject:            wire.ApprovalReject,
		"Approve":                      wire.ApprovalReject,
		"":                             wire.ApprovalReject,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := wire.New()
			w.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
				if r, ok := m.(wire.Request); ok {
					w.ResolveApproval(r.RequestID(), in, "f")
				}
			}))
			got, err := w.Approve(t.Context(), wire.ApprovalRequest{ID: "r"})
			if err != nil || got != (wire.ApprovalResponse{RequestID: "r", Response: want, Feedback: "f"}) {
				t.Errorf("%q: got %v (%v)", in, got, err)
			}
		})
	}
}

type handler struct{ calls []wire.ToolCallRequest }

func (h *handler) Has(name string) bool { return name == "mine" }

func (h *handler) CallTool(ctx context.Context, req wire.ToolCallRequest) wire.ToolReturnValue {
	h.calls = append(h.calls, req)
	return wire.ToolReturnValue{IsError: ctx.Err() != nil, Message: "served"}
}

func TestToolHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire.New()
		var raw, whole collect
		w.Attach(wire.Raw, &raw)
		w.Attach(wire.Merged, &whole)
		h := &handler{}
		w.HandleTools(h)

		v, err := w.CallTool(t.Context(), wire.ToolCallRequest{ID: "1", Name: "mine"})
		if err != nil || v.IsError || v.Message != "served" {
			t.Errorf("got %v (%v)", v, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if v, err = w.CallTool(ctx, wire.ToolCallRequest{Name: "mine"}); err != nil || !v.IsError {
			t.Errorf("ctx ended: got %v (%v)", v, err)
		}
		if len(h.calls) != 2 || h.calls[0].ID != "1" || h.calls[1].ID == "" {
			t.Errorf("the handler was called with %v", h.calls)
		}
		if len(raw.got)+len(whole.got)+len(w.Pending()) != 0 {
			t.Errorf("a served call was shown: %v, %v, %v", raw.got, whole.got, w.Pending())
		}

		out := asking(t.Context(), w, askers["ToolCallRequest"], "2") // named "t"
		if len(raw.got) != 1 || len(whole.got) != 1 {
			t.Errorf("a call that goes out was not shown: %v, %v", raw.got, whole.got)
		}
		w.ResolveTool("2", wire.ToolReturnValue{Message: "done"})
		wantOutcome(t, <-out, wire.ToolReturnValue{Message: "done"}, nil)

		w.HandleTools(nil)
		w.Close()
		if v, _ = w.CallTool(t.Context(), wire.ToolCallRequest{Name: "mine"}); !v.IsError {
			t.Errorf("without a handler: %v", v)
		}
	})
}
