package soul

import (
	"context"
	"iter"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	"kimi-acp/soul/wire"
)

// interrupting is a model during whose first answer somebody says something.
type interrupting struct {
	llm.Provider
	say func()
}

func (i *interrupting) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if i.say != nil {
			i.say()
			i.say = nil
		}
		i.Provider.Stream(ctx, req)(yield)
	}
}

func TestSteerKeepsATurnFromEnding(t *testing.T) {
	model := &interrupting{Provider: scripted.New([]string{"text: one", "text: two"}, llm.Model{Name: "m", ContextSize: 1000})}
	w := wire.New()
	var said []string
	w.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) { said = append(said, m.WireType()) }))
	b := New(Config{Wire: w, Provider: model})
	more := Input{Text: "more", Parts: []llm.Part{llm.Text("more")}}
	if b.Steer(more) {
		t.Error("a soul without a turn was steered")
	}
	model.say = func() {
		if !b.Steer(more) {
			t.Error("the turn was not steered")
		}
	}
	out, err := b.Run(t.Context(), Input{Text: "go", Parts: []llm.Part{llm.Text("go")}})
	if err != nil || out.Stop != StopEndTurn || out.Steps != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	if got := strings.Join(said, " "); got != "TurnBegin StepBegin ContentPart StatusUpdate SteerInput StepBegin ContentPart StatusUpdate TurnEnd" {
		t.Errorf("said %s", got)
	}
	if b.Steer(more) {
		t.Error("a turn that is over was steered")
	}
}

func TestSteersAreBounded(t *testing.T) {
	var s steers
	s.open()
	for range maxSteers {
		if !s.add(Input{}) {
			t.Fatal("refused too early")
		}
	}
	if s.add(Input{}) {
		t.Error("more than the bound is taken")
	}
}

// lateSay says something while a turn is about to end.
type lateSay struct{ say func() }

func (l *lateSay) Ask(_ context.Context, event, _ string, _ map[string]any) (bool, string) {
	if event == HookStop && l.say != nil {
		l.say()
		l.say = nil
	}
	return false, ""
}
func (*lateSay) Tell(string, string, map[string]any) {}

// What was taken is not lost, however late in the turn it came.
func TestSteersAreNotLostAtTheEnd(t *testing.T) {
	more := Input{Text: "more", Parts: []llm.Part{llm.Text("more")}}
	read := tools{"Read": func(context.Context, string) wire.ToolReturnValue { return ok("") }}
	for _, c := range []struct {
		name    string
		prompt  string
		late    bool // it comes while hooks are asked whether the turn may end
		scripts []string
		want    Outcome
		roles   string
	}{
		{"while a hook is asked", "go", true, []string{"text: one", "text: two"}, Outcome{StopEndTurn, 2}, "user assistant user assistant"},
		{"cut off", "go", false, []string{"text: one\nfinish: length", "text: two"}, Outcome{StopEndTurn, 2}, "user assistant user assistant"},
		{"refused", "go", false, []string{"text: no\nfinish: content_filter", "text: two"}, Outcome{StopEndTurn, 2}, "user assistant"},
		{"out of steps", "go", false, []string{call("a", "Read", "{}"), "text: one", "text: two"}, Outcome{StopEndTurn, 2}, "user assistant+a tool:a user assistant user assistant"},
		{"in a command", "/help", false, []string{"text: two"}, Outcome{StopEndTurn, 1}, "user assistant"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := play(read, Config{MaxSteps: 1}, c.scripts...)
			say := func() {
				if !s.Steer(more) {
					t.Error("the turn was not steered")
				}
			}
			if c.late {
				s.cfg.Hooks = &lateSay{say}
			} else {
				said := false
				s.cfg.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
					if _, ok := m.(wire.ContentPart); ok && !said {
						said = true
						say()
					}
				}))
			}
			out, err := s.Run(t.Context(), ask(c.prompt))
			if err != nil || out != c.want {
				t.Errorf("ended with %+v, %v; want %+v", out, err, c.want)
			}
			if got := s.roles(); got != c.roles {
				t.Errorf("history %q, want %q; said %s", got, c.roles, s.transcript())
			}
		})
	}
}
