package tool

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

// failingAsker reaches nobody.
type failingAsker struct{}

func (failingAsker) Approve(context.Context, wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	return wire.ApprovalResponse{}, errors.New("the editor is gone")
}
func (failingAsker) ResolveApproval(string, wire.Approval, string) bool { return false }

// newShellWorld runs each command by noting it.
func newShellWorld(t *testing.T, change func(*Options)) (*world, *[]string) {
	w := newWorld(t, change)
	ran := &[]string{}
	w.runner.run = func(_ context.Context, c proc.Command) (proc.Outcome, error) {
		*ran = append(*ran, c.Shell) // commands run one at a time
		return proc.Outcome{}, nil
	}
	return w, ran
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name           string
		response       wire.Approval
		feedback       string
		runs           bool
		message, brief string
	}{
		{"approve", wire.ApprovalApprove, "", true, "", ""},
		{"approve for session", wire.ApprovalApproveForSession, "", true, "", ""},
		{"reject", wire.ApprovalReject, "", false, "The user rejected this call, and nothing was done. Do not try to reach the same by other means; stop here", "Rejected by user"},
		{"reject with feedback", wire.ApprovalReject, "use make", false, "go on as the user says: use make", "Rejected: use make"},
		{"an unknown answer", "perhaps", "", false, "The user rejected this call", "Rejected by user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, ran := newShellWorld(t, nil)
				done := w.start(t.Context(), "1", "Shell", `{"command":"ls"}`)
				synctest.Wait()
				if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(w.pending()["1"].ID) {
					t.Errorf("the request's id is %q", w.pending()["1"].ID)
				}
				w.answer("1", c.response, c.feedback)
				v := <-done
				if v.Rejected != (!c.runs && c.feedback == "") {
					t.Errorf("rejected without words: %v", v.Rejected)
				}
				if (len(*ran) == 1) != c.runs || v.IsError == c.runs {
					t.Errorf("ran %q, result %+v", *ran, v)
				}
				if !c.runs {
					mustContain(t, v.Message, c.message)
					if brief(t, v) != c.brief {
						t.Errorf("the brief is %q, want %q", brief(t, v), c.brief)
					}
				}
			})
		})
	}
}

func TestNobodyToAsk(t *testing.T) {
	for name, asker := range map[string]Asker{"no asker": nil, "the asker fails": failingAsker{}} {
		t.Run(name, func(t *testing.T) {
			w, ran := newShellWorld(t, func(o *Options) { o.Asker = asker })
			v := w.call(t.Context(), "1", "Shell", `{"command":"ls"}`)
			if !v.IsError || len(*ran) != 0 || brief(t, v) != "Not approved" {
				t.Errorf("ran %q, result %+v", *ran, v)
			}
			mustContain(t, v.Message, "could not be asked")
		})
	}
}

func TestCancelWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, ran := newShellWorld(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		shell := w.start(ctx, "1", "Shell", `{"command":"ls"}`)
		write := w.start(ctx, "2", "WriteFile", `{"path":"a","content":"x"}`)
		synctest.Wait()
		queued := w.start(ctx, "3", "WriteFile", `{"path":"a","content":"y"}`)
		synctest.Wait()
		cancel()
		for _, done := range []<-chan wire.ToolReturnValue{shell, write, queued} {
			if v := <-done; !v.IsError || brief(t, v) != "Interrupted" {
				t.Errorf("result %+v", v)
			}
		}
		if len(*ran) != 0 || len(w.files.writes) != 0 || len(w.pending()) != 0 {
			t.Errorf("ran %q, wrote %q, open %v", *ran, w.files.writes, w.pending())
		}
		// An interruption is not an answer: the next call is asked for again, and
		// the path is free.
		again := w.start(t.Context(), "4", "WriteFile", `{"path":"a","content":"z"}`)
		synctest.Wait()
		w.answer("4", wire.ApprovalApprove, "")
		if v := <-again; v.IsError {
			t.Error(v.Message)
		}
	})
}

func TestSessionAnswersCoverTheirKeyOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, ran := newShellWorld(t, nil)
		first := w.start(t.Context(), "1", "Shell", `{"command":"ls"}`)
		synctest.Wait()
		w.answer("1", wire.ApprovalApproveForSession, "")
		<-first
		if v := w.call(t.Context(), "2", "Shell", `{"command":"ls"}`); v.IsError {
			t.Error(v.Message)
		}
		other := w.start(t.Context(), "3", "Shell", `{"command":"ls -l"}`)
		edit := w.start(t.Context(), "4", "WriteFile", `{"path":"a","content":"x"}`)
		synctest.Wait()
		if r := w.pending()["4"]; r.Action != "edit file" || r.Scope != "edits in this workspace" {
			t.Errorf("the request is %+v", r)
		}
		w.answer("3", wire.ApprovalReject, "")
		w.answer("4", wire.ApprovalApproveForSession, "")
		<-other
		<-edit
		if v := w.call(t.Context(), "5", "StrReplaceFile", `{"path":"a","edit":{"old":"x","new":"y"}}`); v.IsError {
			t.Error(v.Message)
		}
		if len(*ran) != 2 || len(w.files.writes) != 2 {
			t.Errorf("ran %q, wrote %q", *ran, w.files.writes)
		}
	})
}

// TestSessionAnswerSettlesOpenRequests: what one answer covers is not asked again.
func TestSessionAnswerSettlesOpenRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, ran := newShellWorld(t, nil)
		a := w.start(t.Context(), "a", "WriteFile", `{"path":"a","content":"x"}`)
		b := w.start(t.Context(), "b", "WriteFile", `{"path":"b","content":"x"}`)
		shell := w.start(t.Context(), "s", "Shell", `{"command":"ls"}`)
		synctest.Wait()
		w.answer("a", wire.ApprovalApproveForSession, "")
		if v := <-a; v.IsError {
			t.Error(v.Message)
		}
		if v := <-b; v.IsError {
			t.Error(v.Message)
		}
		synctest.Wait()
		if open := w.pending(); len(open) != 1 || open["s"].ID == "" {
			t.Errorf("open: %v", open)
		}
		w.answer("s", wire.ApprovalReject, "")
		<-shell
		if len(*ran) != 0 {
			t.Errorf("ran %q", *ran)
		}
	})
}

func TestRejectForSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newShellWorld(t, nil)
		a := w.start(t.Context(), "a", "WriteFile", `{"path":"a","content":"x"}`)
		b := w.start(t.Context(), "b", "WriteFile", `{"path":"b","content":"x"}`)
		synctest.Wait()
		id := w.pending()["a"].ID
		if !w.executor.RejectForSession(id) {
			t.Fatal("the open request was not found")
		}
		for _, done := range []<-chan wire.ToolReturnValue{a, b} {
			if v := <-done; !v.IsError || brief(t, v) != "Rejected by user" {
				t.Errorf("result %+v", v)
			}
		}
		if v := w.call(t.Context(), "c", "WriteFile", `{"path":"c","content":"x"}`); !v.IsError || brief(t, v) != "Rejected by user" {
			t.Errorf("a later edit: %+v", v)
		}
		if w.executor.RejectForSession(id) || w.executor.RejectForSession("unknown") {
			t.Error("a request that is not open was rejected")
		}
		if len(w.files.writes) != 0 {
			t.Errorf("wrote %q", w.files.writes)
		}
	})
}

// deafAsker cannot be answered in the user's place, as when a request has not
// reached the Wire yet.
type deafAsker struct{ answers chan wire.ApprovalResponse }

func (a deafAsker) Approve(ctx context.Context, _ wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	select {
	case r := <-a.answers:
		return r, nil
	case <-ctx.Done():
		return wire.ApprovalResponse{Response: wire.ApprovalApprove}, ctx.Err()
	}
}
func (deafAsker) ResolveApproval(string, wire.Approval, string) bool { return false }

func TestLastingRejectionOutweighsLateApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := deafAsker{make(chan wire.ApprovalResponse)}
		a := newApprovals(asker)
		results := make(chan error, 2)
		for _, id := range []string{"1", "2"} {
			go func() {
				results <- a.ask(t.Context(), wire.ApprovalRequest{ID: id}, Action{Key: "key"}, (*Caller)(nil).waits)
			}()
		}
		synctest.Wait()
		if !a.rejectForSession("1") {
			t.Fatal("the request is not open")
		}
		for range 2 {
			asker.answers <- wire.ApprovalResponse{Response: wire.ApprovalApprove}
			var rejected *RejectedError
			if err := <-results; !errors.As(err, &rejected) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestOneOffActionsAreNeverRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		a := w.executor.approvals
		ask := func(id string) <-chan error {
			done := make(chan error, 1)
			go func() {
				c := &Invocation{ID: id, executor: w.executor}
				done <- c.Approve(t.Context(), Action{Name: "once", Scope: "all the world"})
			}()
			synctest.Wait()
			return done
		}
		first := ask("1")
		if scope := w.pending()["1"].Scope; scope != "" {
			t.Errorf("a lasting answer is offered for %q", scope)
		}
		w.answer("1", wire.ApprovalApproveForSession, "")
		if err := <-first; err != nil {
			t.Error(err)
		}
		second := ask("2")
		if !a.rejectForSession(w.pending()["2"].ID) {
			t.Fatal("the second action was not asked for")
		}
		if err := <-second; err == nil {
			t.Error("a rejected action was approved")
		}
		third := ask("3")
		w.answer("3", wire.ApprovalApprove, "")
		if err := <-third; err != nil {
			t.Error(err)
		}
	})
}
