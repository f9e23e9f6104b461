package tool

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/background"
	"kimi-acp/soul/wire"
)

// detached is a world in which commands run in the background until release is closed.
func detached(t *testing.T, change func(*Options)) (w *world, tasks *background.Tasks, release chan struct{}) {
	release = make(chan struct{})
	tasks = background.New(background.Options{})
	t.Cleanup(tasks.Close)
	w = newWorld(t, func(o *Options) {
		o.Tasks = tasks
		o.Detached = &fakeRunner{run: func(ctx context.Context, c proc.Command) (proc.Outcome, error) {
			c.Raw([]byte("listening\x1b[1m on 80\x1b[0m\n"))
			select {
			case <-release:
				return proc.Outcome{ExitCode: 3}, nil
			case <-ctx.Done():
				return proc.Outcome{ExitCode: -1}, ctx.Err()
			}
		}}
		if change != nil {
			change(o)
		}
	})
	return w, tasks, release
}

const serveCall = `{"command":"make serve","run_in_background":true,"description":"serve"}`

func TestDetachedCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, tasks, release := detached(t, nil)
		done := w.start(t.Context(), "1", "Shell", serveCall)
		synctest.Wait()
		r := w.pending()["1"]
		if r.Action != "run background command" || !strings.Contains(r.Description, "Run command `make serve`") || !strings.Contains(r.Description, "in the background") {
			t.Errorf("the request is %+v", r)
		}
		w.answer("1", wire.ApprovalApprove, "")
		v := <-done
		list := tasks.List(true)
		if v.IsError || len(list) != 1 || !strings.Contains(v.Output.Text, "task_id: "+list[0].ID+"\n") {
			t.Fatalf("%+v; %+v", v, list)
		}
		id := list[0].ID
		if b := v.Display[1].BackgroundTask; b == nil || *b != (wire.BackgroundTaskBlock{TaskID: id, Kind: "bash", Status: "running", Description: "serve"}) {
			t.Errorf("display %+v", v.Display)
		}
		synctest.Wait()
		out := w.call(t.Context(), "2", "TaskOutput", `{"task_id":"`+id+`"}`)
		mustContain(t, out.Output.Text, "retrieval_status: not_ready\n", "command: make serve\n", "[output]\nlistening on 80\n")
		began := time.Now()
		out = w.call(t.Context(), "3", "TaskOutput", `{"task_id":"`+id+`","block":true,"timeout":5}`)
		mustContain(t, out.Output.Text, "retrieval_status: timeout\n", "running_for: 5s\n")
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("waited %v", took)
		}
		wait := w.start(t.Context(), "4", "WaitFor", `{}`)
		synctest.Wait()
		close(release)
		v = <-wait
		mustContain(t, v.Message, "1 of 1 task over.")
		mustContain(t, v.Output.Text, "status: failed\n", "exit_code: 3\n", "reason: it failed with exit code 3\n")
		if news := tasks.Untold(9); news != nil {
			t.Errorf("the model knows by the result, and is told again: %+v", news)
		}
		if l := w.call(t.Context(), "5", "TaskList", `{}`).Output.Text; l != "active_background_tasks: 0\n" {
			t.Errorf("the list: %q", l)
		}
		mustContain(t, w.call(t.Context(), "6", "TaskList", `{"active_only":false}`).Output.Text, "background_tasks: 1\n\n[1]\ntask_id: "+id)
	})
}

func TestTaskStop(t *testing.T) {
	w, tasks, _ := detached(t, yes)
	w.call(t.Context(), "1", "Shell", serveCall)
	id := tasks.List(true)[0].ID
	v := w.call(t.Context(), "2", "TaskStop", `{"task_id":"`+id+`","reason":"port is taken"}`)
	mustContain(t, v.Message, "Stopped "+id)
	mustContain(t, v.Output.Text, "status: killed\n", "reason: port is taken\n")
	mustContain(t, w.call(t.Context(), "3", "TaskStop", `{"task_id":"`+id+`"}`).Message, "over before")
}

// TestDetachedRefusals: the rules are those of the foreground, and nothing is begun.
func TestDetachedRefusals(t *testing.T) {
	for _, c := range []struct {
		name, tool, args, want string
		change                 func(*Options, *Executor)
	}{
		{name: "no description", tool: "Shell", args: `{"command":"ls","run_in_background":true,"description":" "}`, want: "`description` must say"},
		{name: "rejected", tool: "Shell", args: serveCall, want: "user's approval"},
		{name: "unknown", tool: "TaskOutput", args: `{"task_id":"bash-00000000"}`, want: "no task of that id"},
		{name: "unknown", tool: "TaskStop", args: `{"task_id":"bash-00000000"}`, want: "no task of that id"},
		{name: "unknown", tool: "WaitFor", args: `{"task_ids":["bash-00000000"]}`, want: "no task of that id: bash-00000000"},
	} {
		t.Run(c.tool+" "+c.name, func(t *testing.T) {
			w, tasks, _ := detached(t, func(o *Options) { o.Asker = nil })
			v := w.call(t.Context(), "1", c.tool, c.args)
			if !v.IsError || len(tasks.List(false)) != 0 {
				t.Errorf("%+v", v)
			}
			mustContain(t, v.Message, c.want)
		})
	}
	t.Run("plan mode", func(t *testing.T) {
		w, tasks, _ := detached(t, yes)
		if err := w.executor.SetMode(ModePlan); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Shell", "TaskStop"} {
			args := map[string]string{"Shell": serveCall, "TaskStop": `{"task_id":"bash-00000000"}`}[name]
			mustContain(t, w.call(t.Context(), "1", name, args).Message, "plan mode is on")
		}
		if len(tasks.List(false)) != 0 {
			t.Error("something was started")
		}
	})
	t.Run("too many", func(t *testing.T) {
		w, _, _ := detached(t, yes)
		for range 4 {
			w.call(t.Context(), "1", "Shell", serveCall)
		}
		mustContain(t, w.call(t.Context(), "5", "Shell", serveCall).Message, "as many tasks run as may: 4")
	})
	t.Run("nothing in the background", func(t *testing.T) {
		w := newWorld(t, yes)
		for name, args := range map[string]string{"Shell": serveCall, "TaskList": `{}`, "TaskOutput": `{"task_id":"a"}`, "TaskStop": `{"task_id":"a"}`, "WaitFor": `{}`} {
			mustContain(t, w.call(t.Context(), "1", name, args).Message, "nothing can go on in the background")
		}
	})
}

// TestWaitingEndsWithTheTurn: a cancel at each place that waits for tasks.
func TestWaitingEndsWithTheTurn(t *testing.T) {
	for _, c := range []struct{ tool, args string }{
		{"WaitFor", `{}`},
		{"TaskOutput", `{"task_id":"%","block":true}`},
		{"Shell", serveCall}, // waits for its approval
	} {
		t.Run(c.tool, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, tasks, _ := detached(t, nil)
				first := w.start(t.Context(), "1", "Shell", serveCall)
				synctest.Wait()
				w.answer("1", wire.ApprovalApprove, "")
				<-first
				id := tasks.List(true)[0].ID
				ctx, cancel := context.WithCancel(t.Context())
				done := w.start(ctx, "2", c.tool, strings.ReplaceAll(c.args, "%", id))
				synctest.Wait()
				cancel()
				mustContain(t, (<-done).Message, "interrupted")
				if n := tasks.Active(); n != 1 {
					t.Errorf("%d tasks run: a cancelled turn ends none and starts none", n)
				}
			})
		})
	}
}

// The turn is cancelled while a task that was stopped still ends: the task ends all the
// same, and the model has to know.
func TestTaskStopThatIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := background.New(background.Options{})
		defer tasks.Close()
		release := make(chan struct{})
		task, err := tasks.Start(t.Context(), background.Spec{Kind: background.Command, Description: "serve"}, func(context.Context, io.Writer) background.Ending {
			<-release
			return background.Ending{}
		})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, func(o *Options) { o.Tasks = tasks })
		ctx, cancel := context.WithCancel(t.Context())
		done := w.start(ctx, "1", "TaskStop", `{"task_id":"`+task.ID+`"}`)
		synctest.Wait()
		cancel()
		v := <-done
		if want := "The call was interrupted. " + task.ID + " was asked to end, and ends by itself."; !v.IsError || v.Message != want {
			t.Errorf("the model is told %q, want %q", v.Message, want)
		}
		close(release)
	})
}
