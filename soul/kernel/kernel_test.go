package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"kimi-acp/soul"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// watcher writes down what is on a Wire, and answers.
type watcher struct {
	wire *wire.Wire
	on   func(wire.Message) // called for each message; nil: nothing

	mu   sync.Mutex
	said []string
}

func (w *watcher) Receive(m wire.Message) {
	line := m.WireType()
	switch m := m.(type) {
	case wire.ContentPart:
		line = m.Part.Text
	case wire.ApprovalRequest:
		w.wire.ResolveApproval(m.ID, wire.ApprovalApprove, "")
	case wire.QuestionRequest:
		w.wire.ResolveQuestion(m.ID, wire.QuestionAnswers{m.Questions[0].Question: "Yes"})
	case wire.ApprovalResponse:
		line += " " + string(m.Response)
	case wire.ToolResult:
		line += fmt.Sprintf(" %s%s files=%d", m.ReturnValue.Output.Text, m.ReturnValue.Message, len(m.ReturnValue.Files))
	case wire.SteerInput:
		line += " " + m.UserInput.Text
	case wire.StatusUpdate:
		line = "Status"
	}
	w.mu.Lock()
	w.said = append(w.said, line)
	w.mu.Unlock()
	if w.on != nil {
		w.on(m)
	}
}

// take gives what was said since the last time.
func (w *watcher) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := strings.Join(w.said, " | ")
	w.said = nil
	return said
}

// echo is the tool of this process.
type echo struct{}

func (echo) Has(name string) bool { return name == "Echo" }

func (echo) CallTool(context.Context, wire.ToolCallRequest) wire.ToolReturnValue {
	return wire.ToolReturnValue{Output: wire.Output{Text: "echoed"}, Files: make([]wire.FileChange, 1)}
}

// fakeKernel makes a kernel.Config whose program is the fake.
func fakeKernel(t *testing.T, dialect string, more ...string) (kernel.Config, *watcher) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{wire: wire.New()}
	w.wire.HandleTools(echo{})
	w.wire.Attach(wire.Raw, w)
	t.Cleanup(w.wire.Close)
	return kernel.Config{
		Wire:     w.wire,
		Tools:    []llm.ToolSpec{{Name: "Echo", Description: "Echoes.", Parameters: []byte(`{"type":"object"}`)}},
		Program:  kernel.Program{Kind: kernel.Custom, Args: []string{exe}},
		Launch:   kernel.Launch{WorkDir: t.TempDir(), Environ: fakeEnviron(dialect, more...)},
		Pause:    time.Millisecond,
		Patience: time.Minute,
		Logger:   slog.New(slog.DiscardHandler),
	}, w
}

func open(t *testing.T, cfg kernel.Config) *kernel.Kernel {
	t.Helper()
	k := kernel.New(cfg)
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

func prompt(text string) soul.Input {
	return soul.Input{Text: text, Parts: []llm.Part{llm.Text(text)}}
}

func TestTurns(t *testing.T) {
	tests := []struct {
		dialect, prompt string
		want            string
		outcome         string // or the error
	}{
		{"1.10", "say", "TurnBegin | StepBegin | Hello. | Status | TurnEnd", "0 1"},
		{"1.2", "say", "TurnBegin | StepBegin | Hello. | Status | TurnEnd", "0 1"},
		{"1.1", "say", "TurnBegin | StepBegin | Hello. | Status | TurnEnd", "0 1"},
		{"1.0", "say approve", "TurnBegin | StepBegin | Hello. | ApprovalRequest | ApprovalResponse approve | approve <nil> | Status | TurnEnd", "0 1"},
		{"1.10", "tool", "TurnBegin | StepBegin | ToolCall | ToolResult echoed files=1 | Status | TurnEnd", "0 1"},
		{"1.2", "tool", "TurnBegin | StepBegin | ToolCall | ToolResult echoed files=1 | Status | TurnEnd", "0 1"},
		{"1.10", "other", "TurnBegin | StepBegin | ToolCall | ToolResult Tool `Nobody` not found files=0 | Status | TurnEnd", "0 1"},
		{"1.10", "approve", "TurnBegin | StepBegin | ApprovalRequest | ApprovalResponse approve | approve <nil> | Status | TurnEnd", "0 1"},
		{"1.10", "ask", "TurnBegin | StepBegin | QuestionRequest | map[Tabs?:Yes] <nil> | Status | TurnEnd", "0 1"},
		{"1.10", "unknown say", "TurnBegin | StepBegin | Invalid parameters for method `request` (code -32602) | Hello. | Status | TurnEnd", "0 1"},
		{"1.10", "steps", "TurnBegin | StepBegin | TurnEnd", "2 1"},
		{"1.10", "provider", "TurnBegin | StepBegin | StepInterrupted | TurnEnd", "nope"},
		{"1.10", "nomodel", "TurnBegin | StepBegin | StepInterrupted | TurnEnd", "has no model: log in with it, or name one in its settings."},
		{"1.10", "bug", "TurnBegin | StepBegin | StepInterrupted | TurnEnd", "failed: AssertionError: x"},
		{"1.10", "die", "TurnBegin | StepBegin | going | StepInterrupted | TurnEnd", "it ended with code 7; it last wrote: out of luck."},
		{"1.10", "early", "", "it ended with code 7"},
	}
	for _, tt := range tests {
		t.Run(tt.dialect+" "+tt.prompt, func(t *testing.T) {
			cfg, w := fakeKernel(t, tt.dialect)
			k := open(t, cfg)
			out, err := k.Run(t.Context(), prompt(tt.prompt))
			got := fmt.Sprint(out.Stop, out.Steps)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.outcome) {
				t.Errorf("the turn ended with %q, want %q", got, tt.outcome)
			}
			if said := w.take(); said != tt.want {
				t.Errorf("said %s\nwant %s", said, tt.want)
			}
			if errors.Is(err, kernel.ErrUnused) != (tt.prompt == "early") {
				t.Errorf("another soul may run it: %v", errors.Is(err, kernel.ErrUnused))
			}
			// Whatever happened, the next prompt works.
			if _, err := k.Run(t.Context(), prompt("say")); err != nil {
				t.Errorf("the next turn: %v", err)
			}
		})
	}
}

func TestWhatAKernelTells(t *testing.T) {
	cfg, _ := fakeKernel(t, "1.10")
	k := open(t, cfg)
	if _, err := k.Run(t.Context(), prompt("say")); err != nil {
		t.Fatal(err)
	}
	if s := k.Status(); s.ContextTokens != 50 || s.MaxContextTokens != 100 {
		t.Errorf("status %+v", s)
	}
	if c := k.Commands(); len(c) != 5 || c[1].Name != "undo" || c[4].Name != "init" {
		t.Errorf("commands %+v", c)
	}
}

// An approval that the kernel takes back, since it decided itself, is answered here.
func TestKernelDecidesItself(t *testing.T) {
	cfg, w := fakeKernel(t, "1.10")
	w.wire.Close()
	cfg.Wire = wire.New()
	defer cfg.Wire.Close()
	asked, answered := 0, 0
	cfg.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
		switch m.(type) {
		case wire.ApprovalRequest:
			asked++
		case wire.ApprovalResponse:
			answered++
		}
	}))
	k := open(t, cfg)
	if _, err := k.Run(t.Context(), prompt("decide")); err != nil {
		t.Fatal(err)
	}
	if asked != answered {
		t.Errorf("asked %d times and answered %d times", asked, answered)
	}
}

func TestRefusedWithoutAsking(t *testing.T) {
	cfg, w := fakeKernel(t, "1.10")
	cfg.Refuse = func(wire.ApprovalRequest) string { return "plan mode is on" }
	k := open(t, cfg)
	if _, err := k.Run(t.Context(), prompt("approve")); err != nil {
		t.Fatal(err)
	}
	if want, said := "TurnBegin | StepBegin | reject <nil> | Status | TurnEnd", w.take(); said != want {
		t.Errorf("said %s\nwant %s", said, want)
	}
}

func TestCancel(t *testing.T) {
	for _, dialect := range []string{"1.10", "1.2"} {
		for _, word := range []string{"wait", "stuck"} {
			t.Run(dialect+" "+word, func(t *testing.T) {
				cfg, w := fakeKernel(t, dialect)
				if word == "stuck" {
					cfg.CancelTime = time.Millisecond // it is killed
				}
				ctx, cancel := context.WithCancel(t.Context())
				w.on = func(m wire.Message) {
					if _, ok := m.(wire.StepBegin); ok {
						cancel()
					}
				}
				k := open(t, cfg)
				out, err := k.Run(ctx, prompt(word))
				if err != nil || out.Stop != soul.StopCancelled {
					t.Errorf("the turn ended with %v, %v", out, err)
				}
				if said := w.take(); !strings.HasSuffix(said, "TurnEnd") {
					t.Errorf("said %s", said)
				}
				if _, err := k.Run(t.Context(), prompt("say")); err != nil {
					t.Errorf("the next turn: %v", err)
				}
			})
		}
	}
}

func TestSteer(t *testing.T) {
	cfg, w := fakeKernel(t, "1.10")
	k := open(t, cfg)
	if k.Steer(prompt("nobody")) {
		t.Error("steered without a turn")
	}
	w.on = func(m wire.Message) {
		// kimi-cli would drop what comes so early.
		if _, ok := m.(wire.TurnBegin); ok && !k.Steer(prompt("left")) {
			t.Error("not steered")
		}
	}
	if _, err := k.Run(t.Context(), prompt("steered")); err != nil {
		t.Fatal(err)
	}
	if said := w.take(); !strings.Contains(said, "SteerInput left") {
		t.Errorf("said %s", said)
	}
	cfg.Launch.Environ = append(cfg.Launch.Environ, fakeEnv+"=1.2")
	old := open(t, cfg)
	w.on = func(m wire.Message) {
		if _, ok := m.(wire.StepBegin); ok && old.Steer(prompt("left")) {
			t.Error("a kernel of Wire 1.2 was steered")
		}
	}
	if _, err := old.Run(t.Context(), prompt("say")); err != nil {
		t.Fatal(err)
	}
}

func TestStartFails(t *testing.T) {
	tests := []struct{ dialect, want string }{
		{"exits", "could not be started: it ended with code 1; it last wrote: the settings are broken."},
		{"silent", "could not be started: shake hands: context deadline exceeded."},
		{"0.9", `could not be started: shake hands: the kernel speaks version "0.9" of the Wire.`},
	}
	for _, tt := range tests {
		t.Run(tt.dialect, func(t *testing.T) {
			cfg, w := fakeKernel(t, tt.dialect)
			if tt.dialect == "silent" {
				cfg.HandshakeTime = 100 * time.Millisecond
			}
			k := open(t, cfg)
			_, err := k.Run(t.Context(), prompt("say"))
			trouble, ok := errors.AsType[*soul.Trouble](err)
			if !ok || !errors.Is(err, kernel.ErrUnused) || !strings.HasSuffix(trouble.Advice, tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if said := w.take(); said != "" {
				t.Errorf("said %s", said)
			}
		})
	}
}

func TestClosedKernelRunsNothing(t *testing.T) {
	cfg, _ := fakeKernel(t, "1.10")
	k := open(t, cfg)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Run(t.Context(), prompt("say")); err == nil {
		t.Error("a turn ran")
	}
}

// telling is a tool that writes down when it runs.
type telling struct{ w *watcher }

func (telling) Has(string) bool { return true }

func (t telling) CallTool(context.Context, wire.ToolCallRequest) wire.ToolReturnValue {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.w.said = append(t.w.said, "it runs")
	return wire.ToolReturnValue{Message: "Done."}
}

// A call is shown once, whole, and before it runs and asks for anything, also when the
// kernel's request overtakes its events. Calls of the kernel's sub-agents are theirs.
func TestCallIsShownBeforeItRuns(t *testing.T) {
	tests := []struct{ dialect, prompt, want string }{
		{"1.10", "tool", "StepBegin | ToolCall | it runs | ToolResult Done. files=0 | Status"},
		{"1.2", "tool", "StepBegin | ToolCall | it runs | ToolResult Done. files=0 | Status"},
		{"1.2", "tool tool", "StepBegin | ToolCall | it runs | ToolResult Done. files=0 | ToolCall | it runs | ToolResult Done. files=0 | Status"},
		{"1.2", "pieces", "StepBegin | ToolCall | ToolCallPart | it runs | ToolResult Done. files=0 | Status"},
		{"1.2", "sub", "StepBegin | SubagentEvent | it runs | ToolResult Done. files=0 | Status"},
	}
	for _, tt := range tests {
		t.Run(tt.dialect+" "+tt.prompt, func(t *testing.T) {
			cfg, w := fakeKernel(t, tt.dialect)
			w.wire.HandleTools(telling{w})
			if _, err := open(t, cfg).Run(t.Context(), prompt(tt.prompt)); err != nil {
				t.Fatal(err)
			}
			if said := w.take(); !strings.Contains(said, tt.want) {
				t.Errorf("said %s\nwant %s", said, tt.want)
			}
		})
	}
}
