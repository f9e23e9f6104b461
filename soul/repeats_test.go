package soul

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kimi-acp/soul/wire"
)

// A model that goes round in circles is reminded, and stopped with a reason; one that
// waits for something is left alone. The next message goes on.
func TestCircling(t *testing.T) {
	count := 0
	world := tools{
		"Same":     func(context.Context, string) wire.ToolReturnValue { return ok("x") },
		"Counting": func(context.Context, string) wire.ToolReturnValue { count++; return ok(fmt.Sprint(count)) },
		"Failing":  func(context.Context, string) wire.ToolReturnValue { return wire.FailedTool("The path is missing.", "") },
	}
	repeat := func(n int, f func(i int) string) (out []string) {
		for i := range n {
			out = append(out, f(i))
		}
		return append(out, "text: done")
	}
	for _, c := range []struct {
		name    string
		scripts []string
		steps   int
		stop    string // words of the reason, "": none
		reminds []int  // steps behind which the model is reminded, from 1
	}{
		{"the same call", repeat(20, func(int) string { return call("a", "Same", `{"p": 1, "q": 2}`) }), 10, "called `Same` 10 times", []int{3, 4, 5, 6, 7, 8, 9}},
		{"written otherwise", repeat(20, func(i int) string {
			return call("a", "Same", []string{`{"p":1,"q":2}`, `{"q":2, "p":1}`}[i%2])
		}), 10, "called `Same` 10 times", []int{3, 4, 5, 6, 7, 8, 9}},
		{"with another between", repeat(12, func(i int) string { return call("a", "Same", fmt.Sprintf(`{"p":%d}`, i%2)) }), 13, "", nil},
		{"beside another", repeat(20, func(int) string {
			return call("a", "Same", "{}") + call("b", "Counting", "{}")
		}), 10, "called `Same` 10 times", []int{3, 4, 5, 6, 7, 8, 9}},
		{"waiting for something", repeat(12, func(int) string { return call("a", "Counting", "{}") }), 13, "", nil},
		{"bad arguments, always others", repeat(20, func(i int) string { return call("a", "Failing", fmt.Sprintf(`{"n":%d}`, i)) }), 10, "`Failing` failed 10 times", []int{3, 4, 5, 6, 7, 8, 9}},
		{"arguments that are no JSON", repeat(20, func(i int) string { return call("a", "Failing", fmt.Sprintf(`{"n":%d`, i)) }), 10, "`Failing` failed 10 times", []int{3, 4, 5, 6, 7, 8, 9}},
		{"a tool that there is not", repeat(20, func(i int) string { return call("a", "Nope", fmt.Sprintf(`{"n":%d}`, i)) }), 10, "`Nope` failed 10 times", []int{3, 4, 5, 6, 7, 8, 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := play(world, Config{}, c.scripts...)
			out, err := s.Run(t.Context(), ask("x"))
			if err != nil || out != (Outcome{Stop: StopEndTurn, Steps: c.steps}) {
				t.Errorf("ended with %+v, %v", out, err)
			}
			last := s.said[len(s.said)-2]
			if stopped := strings.HasPrefix(last, "text:I stopped: "); stopped != (c.stop != "") || !strings.Contains(last, c.stop) {
				t.Errorf("the last words are %q", last)
			}
			var reminds []int
			step := 0
			for _, m := range s.history.Messages() {
				if len(m.ToolCalls) > 0 {
					step++
				}
				if m.ToolCallID == "a" && strings.Contains(m.Content[len(m.Content)-1].Text, "<system-reminder>") {
					reminds = append(reminds, step)
				}
			}
			if fmt.Sprint(reminds) != fmt.Sprint(c.reminds) {
				t.Errorf("reminded after %v, want %v", reminds, c.reminds)
			}
			if _, err := s.Run(t.Context(), ask("go on")); err != nil && c.stop != "" {
				t.Errorf("the next turn: %v", err)
			}
		})
	}
}

func TestMaxStepsIsSoft(t *testing.T) {
	s := play(tools{"Read": func(context.Context, string) wire.ToolReturnValue { return ok("x") }}, Config{MaxSteps: 2},
		call("a", "Read", `{"n":1}`), call("b", "Read", `{"n":2}`), "text: one read", "text: done")
	if out, err := s.Run(t.Context(), ask("x")); err != nil || out.Stop != StopMaxSteps || out.Steps != 2 {
		t.Errorf("ended with %+v, %v", out, err)
	}
	if last := s.said[len(s.said)-2]; !strings.HasPrefix(last, "text:\n\nI stopped after 2 steps") {
		t.Errorf("the last words are %q", last)
	}
	if out, err := s.Run(t.Context(), ask("continue")); err != nil || out.Stop != StopEndTurn {
		t.Errorf("the next turn: %+v, %v", out, err)
	}
	if got := s.roles(); got != "user assistant+a tool:a assistant+b tool:b user assistant user assistant" {
		t.Errorf("history %q", got)
	}
}
