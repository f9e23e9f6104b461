package eval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"kimi-acp/cmd/kimi-acp/run"
	"kimi-acp/internal/proc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// Options says who does the tasks.
type Options struct {
	// Provider makes the model for a task.
	Provider func(Task) (llm.Provider, error)
	Runner   tool.Runner
	Shell    string // the program that Runner runs commands with
	// Guard judges what is done in a folder; nil: every command asks.
	Guard  func(dir string) *tool.Guard
	Retry  soul.RetryPolicy
	Logger *slog.Logger
	Now    func() time.Time // nil: time.Now
}

// Play has the model do one task, in a scratch folder that is removed afterwards. The
// error says that the task could not be set up or looked at, or is ctx's; a model
// that fails has a Score.
func Play(ctx context.Context, t Task, o Options) (score Score, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	provider, err := o.Provider(t)
	if err != nil {
		return Score{}, fmt.Errorf("task %s: %w", t.Name, err)
	}
	s, err := newScratch(t)
	if err != nil {
		return Score{}, fmt.Errorf("task %s: %w", t.Name, err)
	}
	defer func() { err = errors.Join(err, s.remove()) }()

	began := o.Now()
	seen := &witness{}
	commands := &listening{runner: o.Runner, home: s.home()}
	var guard *tool.Guard
	if o.Guard != nil {
		guard = o.Guard(s.work())
	}
	result, err := run.Turn(ctx, run.Options{
		Dir: s.work(), Prompt: t.Prompt, Provider: provider, Runner: commands, Shell: o.Shell,
		Guard: guard, Mode: t.Mode, MaxSteps: t.MaxSteps, Retry: o.Retry, Logger: o.Logger,
		Views: []run.View{{Stream: wire.Raw, View: seen}},
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Score{}, fmt.Errorf("task %s: %w", t.Name, err)
	}
	files, err := s.files()
	if err != nil {
		return Score{}, fmt.Errorf("task %s: %w", t.Name, err)
	}
	out := outcome{result: result, files: files, commands: commands.ran, tools: seen.tools, todos: seen.todos}
	why := judge(t, out, s.touched(t))
	return Score{Task: t.Name, Passed: len(why) == 0, Why: why, Steps: result.Steps, Usage: result.Usage, Took: o.Now().Sub(began)}, nil
}

// judge says what does not hold.
func judge(t Task, o outcome, touched string) []string {
	why := []string{}
	switch {
	case o.result.Err != nil:
		why = append(why, "the model failed: "+o.result.Err.Error())
	case o.result.Stop != soul.StopEndTurn:
		why = append(why, "the turn did not end by itself: "+run.StopName(o.result))
	}
	if touched != "" {
		why = append(why, touched+", outside of the folder, was changed")
	}
	want := t.wanted()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch text, there := o.files[name]; {
		case !there:
			why = append(why, name+" is not there")
		case text != want[name] && t.want[name] == "" && want[name] == t.work[name]:
			why = append(why, name+" was changed")
		case text != want[name]:
			why = append(why, name+" is not as it should be")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		if _, ok := want[name]; !ok && !slices.ContainsFunc(t.checks, func(c check) bool { return c.file == name }) {
			why = append(why, name+" should not be there")
		}
	}
	for _, c := range t.checks {
		if text := c.fails(o); text != "" {
			why = append(why, text)
		}
	}
	return why
}

// witness notes which tools were called, and the to-do list.
type witness struct {
	tools []string
	todos []string
}

// Receive notes what a message tells.
func (w *witness) Receive(m wire.Message) {
	switch m := m.(type) {
	case wire.ToolCall:
		w.tools = append(w.tools, m.Call.Name)
	case wire.ToolResult:
		for _, b := range m.ReturnValue.Display {
			if b.Todo == nil {
				continue
			}
			w.todos = nil
			for _, item := range b.Todo.Items {
				w.todos = append(w.todos, item.Status)
			}
		}
	}
}

// listening is a Runner that keeps the commands which it runs, and gives them a home
// in the scratch folder, so that they find none of the user's settings there.
type listening struct {
	runner tool.Runner
	home   string

	mu  sync.Mutex
	ran []string
}

// Run runs the command.
func (l *listening) Run(ctx context.Context, c proc.Command) (proc.Outcome, error) {
	l.mu.Lock()
	l.ran = append(l.ran, c.Shell)
	l.mu.Unlock()
	c.Env = append(c.Env, "HOME="+l.home)
	return l.runner.Run(ctx, c)
}
