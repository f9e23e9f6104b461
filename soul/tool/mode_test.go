package tool

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"kimi-acp/fileop"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// What a mode makes of a call.
const (
	asks    = "asks"
	runs    = "runs"
	refused = "refused"
)

func TestModes(t *testing.T) {
	const (
		read      = `ReadFile {"path":"f"}`
		todo      = `SetTodoList {"todos":[]}`
		edit      = `WriteFile {"path":"g","content":"x"}`
		sensitive = `WriteFile {"path":".env","content":"x"}`
		command   = `Shell {"command":"ls"}`
	)
	for _, test := range []struct {
		mode Mode
		want map[string]string
	}{
		{ModeDefault, map[string]string{read: runs, todo: runs, edit: asks, sensitive: asks, command: asks}},
		{ModeAcceptEdits, map[string]string{read: runs, todo: runs, edit: runs, sensitive: asks, command: asks}},
		{ModePlan, map[string]string{read: runs, todo: runs, edit: refused, sensitive: refused, command: refused}},
		{ModeYolo, map[string]string{read: runs, todo: runs, edit: runs, sensitive: runs, command: runs}},
	} {
		for call, want := range test.want {
			t.Run(fmt.Sprintf("%s/%s", test.mode, call), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, _ := newShellWorld(t, nil)
					w.files.set("/w/f", "x")
					if err := w.executor.SetMode(test.mode); err != nil {
						t.Fatal(err)
					}
					if got := w.executor.Mode(); got != test.mode {
						t.Errorf("the mode is %q", got)
					}
					var name, args string
					if _, err := fmt.Sscanf(call, "%s", &name); err != nil {
						t.Fatal(err)
					}
					args = call[len(name)+1:]
					done := w.start(t.Context(), "1", name, args)
					synctest.Wait()
					got := runs
					if len(w.pending()) > 0 {
						got = asks
						w.answer("1", wire.ApprovalApprove, "")
					}
					v := <-done
					if v.IsError {
						got = refused
						mustContain(t, v.Message, "plan mode is on", "tell the user what you would do")
					}
					if got != want || want == refused && len(w.files.writes) > 0 {
						t.Errorf("it %s, want %s: %s", got, want, v.Message)
					}
				})
			})
		}
	}
}

// TestModeSettlesOpenRequests: a mode is in force for calls that wait already.
func TestModeSettlesOpenRequests(t *testing.T) {
	for _, test := range []struct {
		mode                     Mode
		edit, sensitive, command string
	}{
		{ModeDefault, asks, asks, asks},
		{ModeAcceptEdits, runs, asks, asks},
		{ModePlan, refused, refused, refused},
		{ModeYolo, runs, runs, runs},
	} {
		for name, deaf := range map[string]bool{"answered": false, "with an asker that cannot be answered": true} {
			t.Run(string(test.mode)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					w, ran := newShellWorld(t, func(o *Options) {
						if deaf {
							o.Asker = deafAsker{make(chan wire.ApprovalResponse)}
						}
					})
					calls := map[string]<-chan wire.ToolReturnValue{
						"edit":      w.start(ctx, "1", "WriteFile", `{"path":"g","content":"x"}`),
						"sensitive": w.start(ctx, "2", "WriteFile", `{"path":".env","content":"x"}`),
						"command":   w.start(ctx, "3", "Shell", `{"command":"ls"}`),
					}
					synctest.Wait()
					if err := w.executor.SetMode(test.mode); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					for call, want := range map[string]string{"edit": test.edit, "sensitive": test.sensitive, "command": test.command} {
						got := asks
						select {
						case v := <-calls[call]:
							got = runs
							if v.IsError {
								got = refused
								mustContain(t, v.Message, "plan mode is on")
								if v.Rejected {
									t.Error("a refusal by the mode counts as one by the user")
								}
							}
						default:
						}
						if got != want {
							t.Errorf("%s: it %s, want %s", call, got, want)
						}
					}
					if test.mode == ModePlan && len(w.files.writes)+len(*ran) > 0 {
						t.Errorf("wrote %q, ran %q", w.files.writes, *ran)
					}
					cancel()
					synctest.Wait()
				})
			})
		}
	}
}

// TestModeBetweenApprovalAndAction: what was approved does not begin any more when
// plan mode has come meanwhile.
func TestModeBetweenApprovalAndAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, yes)
		inside, leave := make(chan struct{}), make(chan struct{})
		w.runner.run = func(context.Context, proc.Command) (proc.Outcome, error) {
			close(inside)
			<-leave
			return proc.Outcome{}, nil
		}
		first := w.start(t.Context(), "1", "Shell", `{"command":"slow"}`)
		<-inside
		second := w.start(t.Context(), "2", "Shell", `{"command":"next"}`)
		edit := w.start(t.Context(), "3", "WriteFile", `{"path":"a","content":"x"}`)
		synctest.Wait()
		if err := w.executor.SetMode(ModePlan); err != nil {
			t.Fatal(err)
		}
		close(leave)
		if v := <-first; v.IsError {
			t.Errorf("what was running was stopped: %s", v.Message)
		}
		for _, done := range []<-chan wire.ToolReturnValue{second, edit} {
			if v := <-done; !v.IsError || brief(t, v) != "Plan mode" {
				t.Errorf("result %+v", v)
			}
		}
	})
}

// TestModesAndAnswers: a lasting rejection outweighs every mode, a lasting approval
// does not outweigh plan mode, and what the user answered stands.
func TestModesAndAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newShellWorld(t, nil)
		set := func(m Mode) {
			t.Helper()
			if err := w.executor.SetMode(m); err != nil {
				t.Fatal(err)
			}
		}
		edit := w.start(t.Context(), "1", "WriteFile", `{"path":"a","content":"x"}`)
		synctest.Wait()
		if !w.executor.RejectForSession(w.pending()["1"].ID) {
			t.Fatal("not open")
		}
		if v := <-edit; !v.Rejected {
			t.Errorf("result %+v", v)
		}
		set(ModeYolo)
		if v := w.call(t.Context(), "2", "WriteFile", `{"path":"a","content":"x"}`); !v.IsError || !v.Rejected {
			t.Errorf("yolo outweighs a lasting rejection: %+v", v)
		}
		set(ModeDefault)
		command := w.start(t.Context(), "3", "Shell", `{"command":"ls"}`)
		synctest.Wait()
		w.answer("3", wire.ApprovalApproveForSession, "")
		<-command
		set(ModePlan)
		if v := w.call(t.Context(), "4", "Shell", `{"command":"ls"}`); !v.IsError {
			t.Error("a lasting approval outweighs plan mode")
		}
		set(ModeDefault)
		if v := w.call(t.Context(), "5", "Shell", `{"command":"ls"}`); v.IsError {
			t.Errorf("the lasting approval is lost: %s", v.Message)
		}
		other := w.start(t.Context(), "6", "Shell", `{"command":"rm"}`)
		synctest.Wait()
		w.answer("6", wire.ApprovalReject, "use git")
		set(ModeYolo)
		if v := <-other; !v.IsError || v.Rejected {
			t.Errorf("the user's rejection was overruled, or counts as one without words: %+v", v)
		}
	})
	w := newWorld(t, nil)
	if err := w.executor.SetMode("turbo"); err == nil || w.executor.Mode() != ModeDefault {
		t.Errorf("an unknown mode: %v, the mode is %q", err, w.executor.Mode())
	}
}

// readOnlyLiar says that it only reads, and edits.
type readOnlyLiar struct{}

func (readOnlyLiar) Spec() llm.ToolSpec { return llm.ToolSpec{Name: "Liar"} }
func (readOnlyLiar) Effect() Effect     { return Asks }
func (readOnlyLiar) Run(ctx context.Context, c *Invocation) wire.ToolReturnValue {
	text := "x"
	r, err := c.Edit(ctx, "Edit file", fileop.Edit{Path: "a", Content: &text})
	if err != nil {
		return editFailed(ctx, r, err)
	}
	return c.edited(ctx, r, "Done.")
}

func TestPlanModeGoesByWhatIsDone(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Tools = []Tool{readOnlyLiar{}}; o.Asker = approveAll{} })
	if err := w.executor.SetMode(ModePlan); err != nil {
		t.Fatal(err)
	}
	if v := w.call(t.Context(), "1", "Liar", `{}`); !v.IsError || len(w.files.writes) > 0 {
		t.Errorf("result %+v, wrote %q", v, w.files.writes)
	}
}
