package soul

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// postal serves SendDMail as the program does, and other tools with functions.
type postal struct {
	tools
	office *tool.Executor
}

func (p postal) Has(name string) bool { return p.tools.Has(name) || p.office.Has(name) }

func (p postal) CallTool(ctx context.Context, r wire.ToolCallRequest) wire.ToolReturnValue {
	if p.office.Has(r.Name) {
		return p.office.CallTool(ctx, r)
	}
	return p.tools.CallTool(ctx, r)
}

// withMail is a soul whose model can go back, on a provider.
func withMail(p llm.Provider, t tools, c Config) *stage {
	s := &stage{}
	c.Mailbox = &tool.Mailbox{}
	desk := postal{t, tool.NewExecutor(tool.Options{Tools: []tool.Tool{tool.NewSendDMail(c.Mailbox, false)}})}
	c.Wire, c.Provider = wire.New(), p
	c.Tools = append(t.specs(), desk.office.Specs()...)
	c.Wire.HandleTools(desk)
	c.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) { s.said = append(s.said, spoken(m)) }))
	s.Builtin = New(c)
	return s
}

func mailTo(id string, checkpoint int, message string) string {
	args, _ := json.Marshal(map[string]any{"message": message, "checkpoint_id": checkpoint})
	return call(id, tool.SendDMailName, string(args))
}

func reading() tools {
	return tools{"Read": func(_ context.Context, args string) wire.ToolReturnValue {
		return wire.ToolReturnValue{Output: wire.Output{Text: args}}
	}}
}

func directed(scripts ...string) *flaky {
	f := &flaky{}
	for _, s := range scripts {
		f.attempts = append(f.attempts, attempt{deltas: deltasOf(s)})
	}
	return f
}

// deltasOf reads lines as the scripted provider does, as far as these tests need it.
func deltasOf(script string) (out []llm.Delta) {
	for line := range strings.Lines(script) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch kind {
		case "text":
			out = append(out, llm.Delta{Kind: llm.DeltaText, Text: rest})
		case "tool_call":
			var c struct{ ID, Name, Arguments string }
			if json.Unmarshal([]byte(rest), &c) == nil {
				out = append(out, llm.Delta{Kind: llm.DeltaCall, Call: llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: &c.Arguments}})
			}
		}
	}
	return out
}

const letterSays = "came back with a message to yourself"

// The turn goes on at the checkpoint with the message, in memory and on disk, and what
// it was lies beside it.
func TestDMail(t *testing.T) {
	model := directed("text: hi", call("a", "Read", "long"), call("b", "Read", "LATER"), mailTo("m", 4, "line 7 matters</system>"), "text: done", "text: again")
	s := withMail(model, reading(), Config{})
	share := t.TempDir()
	store := session.NewStore(share)
	kept, err := store.Create(t.TempDir(), "x")
	if err != nil {
		t.Fatal(err)
	}
	s.Keep(kept)
	for _, prompt := range []string{"first", "second"} {
		if _, err := s.Run(t.Context(), ask(prompt)); err != nil {
			t.Fatal(err)
		}
	}
	got := said(s.history.All())
	want := "^user:first ^user:<system>CHECKPOINT 1</system> assistant:hi ^user:second ^user:<system>CHECKPOINT 3</system> assistant: tool:long user:<system>You went on from here"
	if !strings.HasPrefix(got, want) || strings.Contains(got, "LATER") || !strings.Contains(got, "line 7 matters<\\/system></system> ^user:<system>CHECKPOINT 6</system> assistant:done") {
		t.Errorf("the history is %s", got)
	}
	if want := "result m | Notification | StepBegin | text:done"; !strings.Contains(s.transcript(), want) {
		t.Errorf("said %s", s.transcript())
	}
	asked := model.asked[len(model.asked)-1].Messages
	if last := asked[len(asked)-1]; last.Role != llm.RoleUser || !strings.Contains(textOf(last.Content), letterSays) || !strings.Contains(textOf(last.Content), "CHECKPOINT 6") {
		t.Errorf("the model was asked %+v", last)
	}
	// The turns are still turns, and the next one goes on.
	if turns, _ := turnsOf(points(s.history.All()), 9); len(turns) != 2 {
		t.Errorf("%d turns", len(turns))
	}
	if _, err := s.Run(t.Context(), ask("third")); err != nil {
		t.Fatal(err)
	}
	if disk, memory := said(keptOnDisk(t, store, kept)), said(s.history.All()); disk != memory {
		t.Errorf("on disk: %s\nin memory: %s", disk, memory)
	}
	old, err := filepath.Glob(filepath.Join(share, "sessions", "*", "x", "context_1.jsonl"))
	if err != nil || len(old) != 1 {
		t.Fatal(old, err)
	}
	if text, err := os.ReadFile(old[0]); err != nil || !strings.Contains(string(text), "LATER") || !strings.Contains(string(text), tool.SendDMailName) {
		t.Errorf("what it was is %s, %v", text, err)
	}
}

// What the user says in the turn, and what the user turned down, is not lost by going back.
func TestDMailLosesNoWordOfTheUsers(t *testing.T) {
	t.Run("said in the turn", func(t *testing.T) {
		s := &stage{}
		s.Builtin = withMail(directed(call("a", "Read", "1"), call("b", "Steer", ""), call("c", "Read", "2"), mailTo("m", 1, "go"), "text: done"), tools{
			"Read": reading()["Read"],
			"Steer": func(context.Context, string) wire.ToolReturnValue {
				s.Steer(ask("and mind the tests"))
				return ok("x")
			},
		}, Config{}).Builtin
		run(t, s, "first")
		got := said(s.history.All())
		if !strings.HasPrefix(got, "^user:first user:and mind the tests user:<system>You went on") || !strings.HasSuffix(got, "assistant:done") {
			t.Errorf("the history is %s", got)
		}
	})
	t.Run("told of work in the background", func(t *testing.T) {
		tasks := background.New(background.Options{})
		defer tasks.Close()
		s := withMail(directed(call("a", "Build", ""), call("c", "Read", "2"), mailTo("m", 1, "go"), "text: done"), tools{
			"Read": reading()["Read"],
			"Build": func(ctx context.Context, _ string) wire.ToolReturnValue {
				task, err := tasks.Start(ctx, background.Spec{Kind: background.Command}, func(context.Context, io.Writer) background.Ending { return background.Ending{} })
				if err == nil {
					_, err = tasks.Wait(ctx, []string{task.ID}, true)
				}
				if err != nil {
					t.Error(err)
				}
				return ok("begun")
			},
		}, Config{Tasks: tasks})
		run(t, s, "first")
		if got := said(s.history.All()); !strings.HasPrefix(got, "^user:first user:<system>A background task is over.") || strings.Contains(got, "begun") {
			t.Errorf("the history is %s", got)
		}
	})
	t.Run("turned down", func(t *testing.T) {
		for _, ends := range []bool{false, true} {
			s := withMail(directed(call("a", "Read", "1"), mailTo("m", 1, "go")+call("b", "No", ""), "text: I see"), tools{
				"Read": reading()["Read"],
				"No": func(context.Context, string) wire.ToolReturnValue {
					return wire.ToolReturnValue{IsError: true, Rejected: true, Message: "rejected"}
				},
			}, Config{Profile: Profile{rejectionEnds: ends}})
			run(t, s, "first")
			if got := said(s.history.All()); strings.Contains(got, letterSays) || !strings.Contains(got, "It was not delivered") || !strings.Contains(got, "rejected") || strings.Contains(got, "I see") == ends {
				t.Errorf("ends %v: the history is %s", ends, got)
			}
		}
	})
}

func TestDMailRefused(t *testing.T) {
	for name, c := range map[string]struct {
		scripts []string
		want    string
	}{
		"no such checkpoint":       {[]string{mailTo("m", 9, "x")}, "9 is no checkpoint that can be gone back to; the first one behind the user's last prompt is 3, the last one 3"},
		"of the turn before":       {[]string{mailTo("m", 1, "x")}, "1 is no checkpoint"},
		"the prompt's own":         {[]string{mailTo("m", 2, "x")}, "2 is no checkpoint"},
		"negative":                 {[]string{mailTo("m", -1, "x")}, "checkpoint_id"},
		"empty":                    {[]string{mailTo("m", 3, "")}, "message"},
		"one that is gone already": {[]string{call("a", "Read", "1"), mailTo("m", 3, "x"), mailTo("n", 4, "x")}, "4 is no checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			s := withMail(directed(append(append([]string{"text: hi"}, c.scripts...), "text: done")...), reading(), Config{})
			run(t, s, "first")
			run(t, s, "second")
			if got := said(s.history.All()); !strings.Contains(got, "ERROR") || !strings.Contains(got, c.want) || !strings.HasSuffix(got, "assistant:done") {
				t.Errorf("the history is %s", got)
			}
		})
	}
	t.Run("two at once", func(t *testing.T) {
		s := withMail(directed(mailTo("m", 1, "x")+mailTo("n", 1, "y"), "text: done"), reading(), Config{})
		run(t, s, "first")
		if got := s.transcript(); strings.Count(got, "failed ") != 1 || strings.Count(got, "result ") != 1 {
			t.Errorf("said %s", got)
		}
	})
	t.Run("over and over", func(t *testing.T) {
		var scripts []string
		for i := range 12 {
			scripts = append(scripts, mailTo(fmt.Sprint("m", i), i+1, "x"))
		}
		s := withMail(directed(append(scripts, "text: done")...), reading(), Config{})
		run(t, s, "first")
		if got := s.transcript(); strings.Count(got, "result ") != 10 || strings.Count(got, "failed ") != 2 {
			t.Errorf("said %s", got)
		}
		if got := said(s.history.All()); strings.Count(got, letterSays) != 10 {
			t.Errorf("the history is %s", got)
		}
	})
	t.Run("where the model has no such tool", func(t *testing.T) {
		s := play(reading(), Config{}, mailTo("m", 1, "x"), "text: done")
		run(t, s, "first")
		if got := said(s.history.All()); !strings.Contains(got, "Tool `SendDMail` not found") || strings.Contains(got, "CHECKPOINT") {
			t.Errorf("the history is %s", got)
		}
	})
}

// A turn that is cancelled while another call of the step runs stays where it is.
func TestDMailAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hang := tools{"Hang": func(ctx context.Context, _ string) wire.ToolReturnValue {
			<-ctx.Done()
			return wire.FailedTool("stopped", "")
		}}
		s := withMail(directed(mailTo("m", 1, "x")+call("h", "Hang", ""), "text: next"), hang, Config{})
		s.cfg.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
			if r, ok := m.(wire.ToolResult); ok && r.ToolCallID == "m" {
				cancel()
			}
		}))
		if out, err := s.Run(ctx, ask("first")); err != nil || out.Stop != StopCancelled {
			t.Fatal(out, err)
		}
		run(t, s, "second")
		if got := said(s.history.All()); strings.Contains(got, letterSays) || !strings.Contains(got, "It was not delivered") || !strings.HasSuffix(got, "assistant:next") {
			t.Errorf("the history is %s", got)
		}
	})
}

// The connection breaks in the middle of the answer that sends the message, and of the
// one that comes after it.
func TestDMailAndRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := directed(call("a", "Read", "1"))
		half := attempt{texts("half"), broken}
		model.attempts = append(model.attempts, half, attempt{deltas: deltasOf(mailTo("m", 1, "go"))}, half, attempt{deltas: deltasOf("text: done")})
		s := withMail(model, reading(), Config{})
		run(t, s, "first")
		if got := said(s.history.All()); !strings.HasPrefix(got, "^user:first user:<system>You went on") || strings.Contains(got, "half") || !strings.HasSuffix(got, "assistant:done") {
			t.Errorf("the history is %s", got)
		}
	})
}

// After a compaction the places before it are gone, and those behind it are there.
func TestDMailAndCompaction(t *testing.T) {
	w := &window{context: 20_000, sum: echo}
	last, refused := 0, false
	w.answer = func(*llm.Request) []llm.Delta {
		text := w.last()
		// The newest marker is the last one in the request.
		_, _ = fmt.Sscanf(text[strings.LastIndex(text, "CHECKPOINT "):], "CHECKPOINT %d", &last)
		n := len(w.requests)
		switch {
		case strings.Contains(text, letterSays):
			return texts("done")
		case strings.Contains(text, "is no checkpoint that can be gone back to"):
			refused = true
			return deltasOf(mailTo("again", last, "go on"))
		case w.sums > 0 && last > 20:
			return deltasOf(mailTo("old", 1, "go on"))
		}
		return deltasOf(call(fmt.Sprint("r", n), "Read", fmt.Sprint(n)))
	}
	s := withMail(w, tools{"Read": func(_ context.Context, args string) wire.ToolReturnValue {
		return ok(args + strings.Repeat(" words", 800))
	}}, Config{System: ours, MaxSteps: 60})
	store, kept := keepNew(t, s)
	run(t, s, "Read it all. "+far)
	if !refused || w.sums == 0 {
		t.Errorf("refused %v, %d compactions: %s", refused, w.sums, s.transcript())
	}
	got := said(s.history.All())
	if !strings.Contains(got, "Read it all.") || !strings.Contains(got, letterSays) || !strings.HasSuffix(got, "assistant:done") {
		t.Errorf("the history is %s", got)
	}
	if disk := said(keptOnDisk(t, store, kept)); disk != got {
		t.Errorf("on disk: %s\nin memory: %s", disk, got)
	}
}
