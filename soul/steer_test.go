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
