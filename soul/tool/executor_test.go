package tool

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"kimi-acp/fileop"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

var (
	_ wire.ToolHandler = (*Executor)(nil)
	_ Asker            = (*wire.Wire)(nil)
	_ Operator         = (*fileop.Operator)(nil)
	_ Runner           = (*proc.Runner)(nil)
)

// oddTool does what a test says.
type oddTool struct {
	name string
	run  func() wire.ToolReturnValue
}

func (o oddTool) Spec() llm.ToolSpec { return llm.ToolSpec{Name: o.name} }
func (oddTool) Effect() Effect       { return Runs }
func (o oddTool) Run(context.Context, *Invocation) wire.ToolReturnValue {
	return o.run()
}

func TestUnknownTool(t *testing.T) {
	w := newWorld(t, nil)
	if w.executor.Has("SendDMail") || !w.executor.Has("Shell") {
		t.Error("Has is wrong")
	}
	v := w.call(t.Context(), "1", "SendDMail", `{}`)
	if !v.IsError || v.Message != "Tool `SendDMail` not found" || brief(t, v) != v.Message {
		t.Errorf("result %+v", v)
	}
}

func TestPanicInATool(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Tools = append(Builtin(), oddTool{"Odd", func() wire.ToolReturnValue { panic("secret state") }})
	})
	v := w.call(t.Context(), "call-7", "Odd", `{}`)
	if !v.IsError || brief(t, v) != "Tool failed" || strings.Contains(v.Message, "secret") {
		t.Errorf("result %+v", v)
	}
	mustContain(t, w.logs.String(), "bug: a tool panicked", "call=call-7", "secret state", "executor_test.go")

	// Locks were given back: a panic in the operator leaves its path free.
	w.files.onCommit = func(context.Context, fileop.Change) error { panic("odd") }
	w.executor.approvals.asker = approveAll{}
	if v := w.call(t.Context(), "1", "WriteFile", `{"path":"a","content":"x"}`); !v.IsError {
		t.Errorf("result %+v", v)
	}
	w.files.onCommit = nil
	if v := w.call(t.Context(), "2", "WriteFile", `{"path":"a","content":"x"}`); v.IsError {
		t.Error(v.Message)
	}
}

func TestResultsAreCompleted(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Tools = []Tool{
			oddTool{"Silent", func() wire.ToolReturnValue { return wire.ToolReturnValue{IsError: true} }},
			oddTool{"NoBrief", func() wire.ToolReturnValue {
				return wire.ToolReturnValue{IsError: true, Message: strings.Repeat("long ", 1000), Display: []wire.Block{{Type: wire.BlockTodo}}}
			}},
		}
	})
	if v := w.call(t.Context(), "1", "Silent", ``); v.Message == "" || brief(t, v) == "" {
		t.Errorf("result %+v", v)
	}
	v := w.call(t.Context(), "2", "NoBrief", ``)
	if n := len([]rune(brief(t, v))); n > maxBrief || len(v.Display) != 2 {
		t.Errorf("a brief of %d characters, display %+v", n, v.Display)
	}
}

func TestToolsOfOneName(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Tools = append(Builtin(), oddTool{"Shell", nil})
	})
	if n := len(w.executor.Specs()); n != len(Builtin()) {
		t.Errorf("%d specs", n)
	}
	if w.executor.tools["Shell"].Spec().Description == "" {
		t.Error("the second tool took the place of the first")
	}
	mustContain(t, w.logs.String(), "two tools of one name")
}

func TestContextEnded(t *testing.T) {
	w := newWorld(t, yes)
	w.files.set("/w/a", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, args := range map[string]string{
		"ReadFile":       `{"path":"a"}`,
		"WriteFile":      `{"path":"a","content":"y"}`,
		"StrReplaceFile": `{"path":"a","edit":{"old":"x","new":"y"}}`,
		"Shell":          `{"command":"ls"}`,
		"SetTodoList":    `{"todos":[]}`,
	} {
		v := w.call(ctx, "1", name, args)
		if !v.IsError || brief(t, v) != "Interrupted" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestReadsAreBounded: MaxParallel reads run at once, and the next one waits.
func TestReadsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.MaxParallel = 2 })
		w.files.set("/w/a", "x")
		release := make(chan struct{})
		reading := make(chan struct{}, 9)
		w.files.onRead = func(context.Context) {
			reading <- struct{}{}
			<-release
		}
		var done []<-chan wire.ToolReturnValue
		for i := range 5 {
			done = append(done, w.start(t.Context(), fmt.Sprint(i), "ReadFile", `{"path":"a"}`))
		}
		synctest.Wait()
		if n := len(reading); n != 2 {
			t.Errorf("%d reads run at once", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		waiting := w.start(ctx, "w", "ReadFile", `{"path":"a"}`)
		synctest.Wait()
		cancel()
		if v := <-waiting; !v.IsError || w.told("w") != "waits+input" {
			t.Errorf("a read that waits for its turn: %+v, told %s", v, w.told("w"))
		}
		close(release)
		for _, d := range done {
			if v := <-d; v.IsError {
				t.Error(v.Message)
			}
		}
	})
}

func TestProgressCarriesTheInputAsSent(t *testing.T) {
	w := newWorld(t, nil)
	w.files.set("/w/a", "x")
	w.call(t.Context(), "1", "ReadFile", `"{\"path\":\"a\",\"n_lines\":9007199254740993}"`)
	if got, want := string(w.progress[0].Input), `{"path":"a","n_lines":9007199254740993}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := w.told("1"); got != "waits+input runs" {
		t.Errorf("progress: %s", got)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in, want string
		n        int
	}{
		{"short", "short", 10},
		{" a \n b ", "a b", 10},
		{"abcdefghijk", "abcdef…ijk", 10},
		{"äöüäöüäöüäö", "äöüäöü…üäö", 10},
		{strings.Repeat("x", 1<<20) + "end", "xxxxxx…end", 10},
	} {
		if got := shorten(c.in, c.n); got != c.want {
			t.Errorf("shorten(%.20q) = %q, want %q", c.in, got, c.want)
		}
	}
}
