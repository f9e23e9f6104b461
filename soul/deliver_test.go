package soul

import (
	"context"
	"io"
	"strings"
	"testing"

	"kimi-acp/soul/background"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// What ends while a turn runs is told before its next step, once, and does not keep a
// turn going that is done.
func TestEndsOfTasksAreDelivered(t *testing.T) {
	tasks := background.New(background.Options{})
	defer tasks.Close()
	ends := func() {
		task, err := tasks.Start(t.Context(), background.Spec{Kind: background.Command, Description: "build"}, func(_ context.Context, out io.Writer) background.Ending {
			_, _ = io.WriteString(out, "ok\n")
			return background.Ending{}
		})
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := tasks.Wait(t.Context(), []string{task.ID}, true); err != nil {
			t.Error(err)
		}
	}
	build := tools{"Build": func(context.Context, string) wire.ToolReturnValue {
		ends()
		return ok("begun")
	}}
	s := play(build, Config{Tasks: tasks}, call("a", "Build", "{}"), "text: built", "text: yes")
	if _, err := s.Run(t.Context(), ask("build")); err != nil {
		t.Fatal(err)
	}
	const said = "TurnBegin | StepBegin | call a Build {} | StatusUpdate | result a | Notification | StepBegin | text:built | StatusUpdate | TurnEnd"
	if got := s.transcript(); got != said {
		t.Errorf("said\n     %s\nwant %s", got, said)
	}
	if got := s.roles(); got != "user assistant+a tool:a user assistant" {
		t.Errorf("history %q", got)
	}
	ends() // between turns
	if _, err := s.Run(t.Context(), ask("done?")); err != nil {
		t.Fatal(err)
	}
	messages := s.history.All()
	news := messages[len(messages)-2]
	if !strings.HasPrefix(news.Content[0].Text, "<system>A background task is over.") || !strings.Contains(news.Content[0].Text, "[end of its output]\nok\n") {
		t.Errorf("told %+v", news)
	}
	if session.OpensTurn(news) {
		t.Error("the news counts as something that the user said")
	}
}

func TestTaskNotifications(t *testing.T) {
	for _, c := range []struct {
		task     background.Task
		severity string
		kind     string
	}{
		{background.Task{Status: background.Completed}, "success", "task.completed"},
		{background.Task{Status: background.Failed}, "error", "task.failed"},
		{background.Task{Status: background.Failed, TimedOut: true}, "error", "task.timed_out"},
		{background.Task{Status: background.Killed}, "warning", "task.killed"},
		{background.Task{Status: background.Lost}, "warning", "task.lost"},
	} {
		if n := TaskNotification(c.task); n.Severity != c.severity || n.Type != c.kind {
			t.Errorf("%s is told as %s, %s", c.task.Status, n.Severity, n.Type)
		}
	}
}

// News that was told in a turn which the provider refused is told with the next one: it
// is given only once.
func TestNewsOutlastsARefusedPrompt(t *testing.T) {
	tasks := background.New(background.Options{})
	defer tasks.Close()
	task, err := tasks.Start(t.Context(), background.Spec{Kind: background.Command, Description: "build"}, func(context.Context, io.Writer) background.Ending {
		return background.Ending{}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tasks.Wait(t.Context(), []string{task.ID}, true); err != nil {
		t.Fatal(err)
	}
	s := play(nil, Config{Tasks: tasks}, "text: no\nfinish: content_filter", "text: yes")
	for range 2 {
		if _, err := s.Run(t.Context(), ask("what now?")); err != nil {
			t.Fatal(err)
		}
	}
	news := 0
	for _, m := range s.history.All() {
		if background.IsNews(m.Content[0].Text) {
			news++
		}
	}
	if news != 1 {
		t.Errorf("the model knows %d times of the end of the task", news)
	}
}
