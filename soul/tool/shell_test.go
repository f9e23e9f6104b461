package tool

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

func TestShellResults(t *testing.T) {
	for _, c := range []struct {
		name             string
		outcome          proc.Outcome
		err              error
		message, brief   string
		failed, noRunner bool
	}{
		{name: "success", outcome: proc.Outcome{Output: "ok\n"}, message: "Command executed successfully."},
		{name: "exit code", outcome: proc.Outcome{ExitCode: 2, Output: "no\n"}, message: "The command failed with exit code 2.", brief: "Exit code 2", failed: true},
		{name: "signal", outcome: proc.Outcome{ExitCode: -1, Signal: "SIGKILL"}, message: "The command was ended by the signal SIGKILL.", brief: "Ended by SIGKILL", failed: true},
		{name: "timeout", outcome: proc.Outcome{TimedOut: true, ExitCode: -1, Signal: "SIGTERM", Output: "half"}, message: "did not end within 7 seconds", brief: "Stopped after 7 seconds", failed: true},
		{name: "cut", outcome: proc.Outcome{Output: "a…z", Truncated: true, Bytes: 123456}, message: "Command executed successfully. The output of 123456 bytes was truncated: its middle is left out."},
		{name: "left over", outcome: proc.Outcome{Leftover: true}, message: "in the background were ended"},
		{name: "unended", outcome: proc.Outcome{Leftover: true, Unended: true}, message: "may still run"},
		{name: "not started", err: errors.New("no shell"), message: "no shell.", brief: "no shell.", failed: true},
		{name: "no runner", noRunner: true, message: "commands cannot be run in this session.", brief: "commands cannot be run in this session.", failed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got proc.Command
			w := newWorld(t, func(o *Options) {
				yes(o)
				o.Runner.(*fakeRunner).run = func(_ context.Context, cmd proc.Command) (proc.Outcome, error) {
					got = cmd
					return c.outcome, c.err
				}
				if c.noRunner {
					o.Runner = nil
				}
			})
			v := w.call(t.Context(), "1", "Shell", `{"command":"make","timeout":7}`)
			mustContain(t, v.Message, c.message)
			if v.IsError != c.failed || v.Output.Text != c.outcome.Output {
				t.Errorf("failed %v, output %q", v.IsError, v.Output.Text)
			}
			switch {
			case c.failed && brief(t, v) != c.brief:
				t.Errorf("the brief is %q, want %q", brief(t, v), c.brief)
			case !c.failed && len(v.Display) != 0:
				t.Errorf("display: %+v", v.Display)
			case c.noRunner:
				return
			}
			if got.Shell != "make" || got.Dir != "/w" || got.Timeout != 7*time.Second || !slices.Equal(got.Env, []string{"GIT_TERMINAL_PROMPT=0", "PAGER=cat", "TERM=dumb"}) {
				t.Errorf("the command is %+v", got)
			}
		})
	}
}

func TestShellAsksAndTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.runner.run = func(_ context.Context, c proc.Command) (proc.Outcome, error) {
			c.Output("a")
			c.Output("ab")
			return proc.Outcome{Output: "ab"}, nil
		}
		done := w.start(t.Context(), "1", "Shell", `{"command":"echo ok"}`)
		synctest.Wait()
		r := w.pending()["1"]
		if r.Sender != "Shell" || r.Action != "run command" || r.Description != "Run command `echo ok`" || r.Scope != "this exact command" {
			t.Errorf("the request is %+v", r)
		}
		if len(r.Display) != 1 || *r.Display[0].Shell != (wire.ShellBlock{Language: "bash", Command: "echo ok"}) {
			t.Errorf("the request shows %+v", r.Display)
		}
		if got := w.told("1"); got != "waits+input" {
			t.Errorf("before the answer: %s", got)
		}
		w.answer("1", wire.ApprovalApprove, "")
		if v := <-done; v.IsError || v.Output.Text != "ab" {
			t.Errorf("result %+v", v)
		}
		if got := w.told("1"); got != "waits+input runs runs+a runs+ab" {
			t.Errorf("progress: %s", got)
		}
	})
}

func TestShellInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, yes)
		w.runner.run = func(ctx context.Context, _ proc.Command) (proc.Outcome, error) {
			<-ctx.Done()
			return proc.Outcome{ExitCode: -1, Output: "so far", Duration: time.Second}, ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		running := w.start(ctx, "1", "Shell", `{"command":"sleep 9"}`)
		synctest.Wait()
		waiting := w.start(ctx, "2", "Shell", `{"command":"sleep 8"}`)
		synctest.Wait()
		cancel()
		v := <-running
		mustContain(t, v.Message, "What it did until then stays done")
		if !v.IsError || v.Output.Text != "so far" || brief(t, v) != "Interrupted" {
			t.Errorf("result %+v", v)
		}
		v = <-waiting
		mustContain(t, v.Message, "before it had done anything")
		if !v.IsError || brief(t, v) != "Interrupted" {
			t.Errorf("result %+v", v)
		}
		if got := w.told("2"); got != "waits+input" {
			t.Errorf("the second command was told as %s", got)
		}
	})
}

func TestShellRefusesBeforeAsking(t *testing.T) {
	w := newWorld(t, nil)
	for _, args := range []string{`{"command":" \n"}`, `{"command":"ls\u0000"}`} {
		// A call that asks would never return: nobody answers.
		if v := w.call(t.Context(), "1", "Shell", args); !v.IsError || brief(t, v) != "Invalid arguments" {
			t.Errorf("%s: %+v", args, v)
		}
	}
}

// While a command that was interrupted may still write, no other change begins.
func TestChangesWaitForACommandThatTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(t, func(o *Options) {
			yes(o)
			o.Runner.(*fakeRunner).run = func(ctx context.Context, cmd proc.Command) (proc.Outcome, error) {
				if cmd.Shell != "slow" {
					return proc.Outcome{}, nil
				}
				cancel()
				return proc.Outcome{ExitCode: -1, Duration: 1, Gone: gone}, ctx.Err()
			}
		})
		v := w.call(ctx, "1", "Shell", `{"command":"slow"}`)
		mustContain(t, v.Message, "It did not end at once")
		next := w.start(t.Context(), "2", "Shell", `{"command":"quick"}`)
		synctest.Wait()
		if len(next) != 0 {
			t.Error("the next command did not wait")
		}
		close(gone)
		if v := <-next; v.IsError {
			t.Errorf("the next command: %s", v.Message)
		}
	})
}
