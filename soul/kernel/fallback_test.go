package kernel_test

import (
	"context"
	"strings"
	"testing"

	"kimi-acp/soul"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// other is the soul that a Fallback falls back to.
type other struct {
	wire *wire.Wire
	runs int
}

func (o *other) Run(_ context.Context, in soul.Input) (soul.Outcome, error) {
	o.runs++
	o.wire.Send(wire.TurnBegin{UserInput: in.Wire()})
	o.wire.Send(wire.ContentPart{Part: llm.Text("built in")})
	o.wire.Send(wire.TurnEnd{})
	return soul.Outcome{Steps: 1}, nil
}

func (o *other) Commands() []soul.Command { return []soul.Command{{Name: "help"}} }

func (o *other) Status() soul.Status { return soul.Status{Model: "other"} }

func TestFallback(t *testing.T) {
	tests := []struct {
		dialect, prompt string
		runs            int
		want            string // in what was said
	}{
		{"1.10", "say", 0, "TurnBegin | StepBegin | Hello."},
		{"exits", "say", 1, "the settings are broken. The built-in kernel takes over.\n\n | TurnBegin | built in | TurnEnd"},
		{"1.10", "early", 1, "it ended with code 7"},
		// The turn had begun: that is its error, and the kernel goes on.
		{"1.10", "die", 0, "going | StepInterrupted | TurnEnd"},
	}
	for _, tt := range tests {
		t.Run(tt.dialect+" "+tt.prompt, func(t *testing.T) {
			cfg, w := fakeKernel(t, tt.dialect)
			o := &other{wire: cfg.Wire}
			f := kernel.NewFallback(kernel.New(cfg), o)
			defer f.Close()
			_, err := f.Run(t.Context(), prompt(tt.prompt))
			if said := w.take(); !strings.Contains(said, tt.want) {
				t.Errorf("said %s\nwant %s", said, tt.want)
			}
			if o.runs != tt.runs || (err != nil) != (tt.prompt == "die") {
				t.Errorf("the other soul ran %d times; %v", o.runs, err)
			}
			if _, err := f.Run(t.Context(), prompt("say")); err != nil || o.runs != 2*tt.runs {
				t.Errorf("next turn: the other soul ran %d times; %v", o.runs, err)
			}
			if fell := f.Status().Model == "other" && f.Commands()[0].Name == "help"; fell != (tt.runs > 0) {
				t.Errorf("it has fallen back: %v", fell)
			}
		})
	}
}
