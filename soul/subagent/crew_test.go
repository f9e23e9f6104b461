package subagent

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// crew is a Crew that keeps nothing, whose model has a script.
func crew(t *testing.T, change func(*Options), scripts ...string) *Crew {
	t.Helper()
	bus := wire.New()
	t.Cleanup(bus.Close)
	model := scripted.New(scripts, llm.Model{Name: "m", ContextSize: 100_000})
	o := Options{
		Wire:     bus,
		Executor: tool.NewExecutor(tool.Options{Cwd: "/w", Asker: bus}),
		Types:    Types(),
		Model:    func() llm.Provider { return model },
		System:   func() string { return "test" },
		WorkDir:  "/w",
	}
	if change != nil {
		change(&o)
	}
	return New(o)
}

var long = strings.Repeat("word ", minAnswer/5+1)

func TestJobsThatCannotBegin(t *testing.T) {
	for _, c := range []struct {
		name string
		job  tool.AgentJob
		want string
	}{
		{"type", tool.AgentJob{Type: "cook"}, `there is no agent type "cook"; there are coder, explore, plan`},
		{"agent", tool.AgentJob{Type: "coder", Resume: "a0000000"}, `there is no agent "a0000000" in this session`},
		{"model", tool.AgentJob{Type: "coder", Model: "big"}, `the model "big" cannot be chosen in this session; leave ` + "`model` out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := crew(t, nil).Run(t.Context(), c.job)
			if r.AgentID != "" || r.Err == nil || r.Err.Error() != c.want {
				t.Errorf("%+v", r)
			}
		})
	}
	refuses := func(o *Options) {
		o.Choose = func(string) (llm.Provider, error) { return nil, errors.New("no key") }
	}
	if r := crew(t, refuses).Run(t.Context(), tool.AgentJob{Type: "coder", Model: "big"}); r.Err == nil || r.Err.Error() != `the model "big" cannot be used: no key` {
		t.Errorf("%+v", r)
	}
	none := func(o *Options) { o.Model = func() llm.Provider { return nil } }
	if r := crew(t, none).Run(t.Context(), tool.AgentJob{Type: "coder"}); r.Err == nil || r.Err.Error() != "no model is set up" {
		t.Errorf("%+v", r)
	}
	if _, _, err := crew(t, nil).Detach(t.Context(), tool.AgentJob{Type: "coder"}); err == nil {
		t.Error("it went to a background that there is not")
	}
}

// A short answer is asked for once more, a long one is not; an agent that is kept nowhere
// can be resumed all the same.
func TestAnswers(t *testing.T) {
	c := crew(t, nil, "text: yes", "text: yes, in a.go:3", "text: "+long)
	r := c.Run(t.Context(), tool.AgentJob{Type: "plan", Prompt: "is it?"})
	if r.Err != nil || r.Text != "yes, in a.go:3" || r.Resumed {
		t.Fatalf("%+v", r)
	}
	again := c.Run(t.Context(), tool.AgentJob{Type: "coder", Prompt: "/why", Resume: r.AgentID})
	if again.Err != nil || again.Text != strings.TrimSpace(long) || !again.Resumed || again.Type != "plan" {
		t.Errorf("%+v", again)
	}
}

func TestRunsThatFail(t *testing.T) {
	for _, c := range []struct {
		name, script, want, text string
	}{
		{"cut", "text: half\nfinish: length", "its answer was cut off at the model's limit", "half"},
		{"refused", "text: no\nfinish: content_filter", "the provider refused the content", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := crew(t, nil, c.script).Run(t.Context(), tool.AgentJob{Type: "coder", Prompt: "x"})
			if r.AgentID == "" || r.Err == nil || r.Err.Error() != c.want || r.Text != c.text {
				t.Errorf("%+v", r)
			}
		})
	}
}

// An agent whose time is over says what it found; one that is interrupted does not get
// to say anything.
func TestTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := crew(t, nil, "text: I look\nsleep: 1h\ntext: never", "text: half of it")
		r := c.Run(t.Context(), tool.AgentJob{Type: "explore", Prompt: "x", Timeout: time.Minute})
		if !errors.Is(r.Err, errTime) || r.Text != "half of it" {
			t.Errorf("%+v", r)
		}
		c = crew(t, nil, "text: I look\nsleep: 1h\ntext: never")
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if r := c.Run(ctx, tool.AgentJob{Type: "explore", Prompt: "x"}); !errors.Is(r.Err, errInterrupted) {
			t.Errorf("%+v", r)
		}
	})
}

// No more agents work at once than may, and one that waits can be cancelled.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := crew(t, nil, "text: a\nsleep: 1h", "text: a\nsleep: 1h", "text: a\nsleep: 1h", "text: a\nsleep: 1h")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan tool.AgentReport, maxAtOnce+1)
		for range maxAtOnce + 1 {
			go func() { done <- c.Run(ctx, tool.AgentJob{Type: "coder", Prompt: "x"}) }()
		}
		synctest.Wait()
		if n := len(c.busy); n != maxAtOnce {
			t.Errorf("%d work", n)
		}
		cancel()
		waited := 0
		for range maxAtOnce + 1 {
			if r := <-done; r.AgentID == "" {
				waited++
			}
		}
		if waited != 1 || len(c.busy) != 0 {
			t.Errorf("%d waited, %d are still busy", waited, len(c.busy))
		}
	})
}

// In the background an agent's task holds what it did, and is resumed only when it is
// over. Stopping the task ends the agent.
func TestDetach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := background.New(background.Options{})
		defer tasks.Close()
		c := crew(t, func(o *Options) { o.Tasks = tasks }, "text: I look\nsleep: 10s\ntext: and find", "text: "+long, "text: again\nsleep: 1h")
		task, names, err := c.Detach(t.Context(), tool.AgentJob{Type: "explore", What: "look", Prompt: "x", Call: "c"})
		if err != nil || task.Kind != background.Agent || task.AgentID != names.AgentID || names.Type != "explore" {
			t.Fatalf("%+v, %+v, %v", task, names, err)
		}
		if r := c.Run(t.Context(), tool.AgentJob{Resume: names.AgentID}); r.Err == nil || !strings.Contains(r.Err.Error(), "is at work") {
			t.Errorf("resumed at work: %+v", r)
		}
		over, err := tasks.Wait(t.Context(), []string{task.ID}, true)
		if err != nil || over[0].Status != background.Completed {
			t.Fatalf("%+v, %v", over, err)
		}
		if said, _ := tasks.Last(task.ID, 1000); !strings.HasPrefix(string(said), "I lookand find\n") || !strings.Contains(string(said), strings.TrimSpace(long)) {
			t.Errorf("it left %q", said)
		}
		task, _, err = c.Detach(t.Context(), tool.AgentJob{Resume: names.AgentID, What: "again", Prompt: "y"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if stopped, err := tasks.Stop(t.Context(), task.ID, "enough"); err != nil || stopped.Status != background.Killed {
			t.Errorf("%+v, %v", stopped, err)
		}
	})
}

// Every type has tools, and none of those that only the session's own agent may have.
func TestTypes(t *testing.T) {
	for _, kind := range Types() {
		tools := toolsOf(kind)
		if len(tools) == 0 || kind.When == "" || kind.Role == "" {
			t.Errorf("%s: %v", kind.Name, tools)
		}
		for _, name := range []string{"Agent", "AskUserQuestion", "SetTodoList", "TaskStop", "TaskOutput"} {
			if strings.Contains(strings.Join(tools, " "), name) {
				t.Errorf("%s has %s", kind.Name, name)
			}
		}
	}
}

// The model of a type is left aside where none can be chosen, and the usual one of agents
// goes before the session's.
func TestModelOfATypeThatCannotBeChosen(t *testing.T) {
	var said strings.Builder
	usual := scripted.New([]string{"text: " + long, "text: " + long}, llm.Model{Name: "usual", ContextSize: 100_000})
	c := crew(t, func(o *Options) {
		o.Types = []tool.AgentType{{Name: "own", Model: "big"}}
		o.Usual = usual
		o.Logger = slog.New(slog.NewTextHandler(&said, nil))
	})
	for range 2 {
		if r := c.Run(t.Context(), tool.AgentJob{Type: "own", Prompt: "go"}); r.Err != nil || r.Text != strings.TrimSpace(long) && r.Text != long {
			t.Errorf("%+v", r)
		}
	}
	if n := strings.Count(said.String(), "cannot be chosen"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, said.String())
	}
}
