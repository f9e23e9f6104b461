package soul

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	"kimi-acp/soul/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tools serves tool calls with functions.
type tools map[string]func(ctx context.Context, args string) wire.ToolReturnValue

func (t tools) Has(name string) bool { return t[name] != nil }

func (t tools) CallTool(ctx context.Context, r wire.ToolCallRequest) wire.ToolReturnValue {
	args := ""
	if r.Arguments != nil {
		args = *r.Arguments
	}
	return t[r.Name](ctx, args)
}

func (t tools) specs() (out []llm.ToolSpec) {
	for name := range t {
		out = append(out, llm.ToolSpec{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	return out
}

// stage is a soul on a script, and what it said.
type stage struct {
	*Builtin
	said []string
}

func play(t tools, c Config, scripts ...string) *stage {
	s := &stage{}
	c.Wire = wire.New()
	c.Provider = scripted.New(scripts, llm.Model{Name: "m", ContextSize: 100_000})
	c.Tools = t.specs()
	c.Wire.HandleTools(t)
	c.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) { s.said = append(s.said, spoken(m)) }))
	s.Builtin = New(c)
	return s
}

func spoken(m wire.Message) string {
	switch m := m.(type) {
	case wire.ToolResult:
		if m.ReturnValue.IsError {
			return "failed " + m.ToolCallID
		}
		return "result " + m.ToolCallID
	case wire.StepRetry:
		return "StepRetry " + m.ErrorType
	case wire.ContentPart, wire.ToolCall, wire.ToolCallPart:
		return short(m)
	}
	return m.WireType()
}

func (s *stage) transcript() string { return strings.Join(s.said, " | ") }

// roles is the history in short: who spoke, and which calls were answered.
func (s *stage) roles() string {
	var out []string
	for _, m := range s.history.Messages() {
		r := string(m.Role)
		for _, c := range m.ToolCalls {
			r += "+" + c.ID
		}
		if m.ToolCallID != "" {
			r += ":" + m.ToolCallID
		}
		out = append(out, r)
	}
	return strings.Join(out, " ")
}

func ask(s string) Input { return Input{Text: s, Parts: []llm.Part{llm.Text(s)}} }

func ok(output string) wire.ToolReturnValue {
	return wire.ToolReturnValue{Output: wire.Output{Text: output}, Message: "done"}
}

func call(id, name, args string) string {
	b, _ := json.Marshal(map[string]string{"id": id, "name": name, "arguments": args})
	return "tool_call: " + string(b) + "\n"
}

func TestTurn(t *testing.T) {
	read := tools{"Read": func(_ context.Context, args string) wire.ToolReturnValue { return ok("got " + args) }}
	for _, c := range []struct {
		name    string
		tools   tools
		config  Config
		scripts []string
		prompt  string
		want    Outcome
		said    string
		roles   string
	}{
		{"text", nil, Config{}, []string{"text: hi"}, "hello", Outcome{StopEndTurn, 1}, "TurnBegin | StepBegin | text:hi | StatusUpdate | TurnEnd", "user assistant"},
		{"a tool, then text", read, Config{}, []string{call("a", "Read", "{}"), "text: read"}, "x", Outcome{StopEndTurn, 2}, "TurnBegin | StepBegin | call a Read {} | StatusUpdate | result a | StepBegin | text:read | StatusUpdate | TurnEnd", "user assistant+a tool:a assistant"},
		{"an unknown tool", read, Config{}, []string{call("a", "Nope", "{}"), "text: sorry"}, "x", Outcome{StopEndTurn, 2}, "TurnBegin | StepBegin | call a Nope {} | StatusUpdate | failed a | StepBegin | text:sorry | StatusUpdate | TurnEnd", "user assistant+a tool:a assistant"},
		{"out of steps", read, Config{MaxSteps: 1}, []string{call("a", "Read", "{}")}, "x", Outcome{StopMaxSteps, 1}, "TurnBegin | StepBegin | call a Read {} | StatusUpdate | result a | StepBegin | StepInterrupted | text:I stopped after 1 steps, which is as many as a turn may have. Send “continue” and I go on from here. | TurnEnd", "user assistant+a tool:a"},
		{"cut in the text", nil, Config{}, []string{"text: long\nfinish: length"}, "x", Outcome{StopMaxTokens, 1}, "TurnBegin | StepBegin | text:long | StatusUpdate | TurnEnd", "user assistant"},
		{"cut in a call", read, Config{}, []string{"text: a\n" + call("a", "Read", `{"p`) + "finish: length"}, "x", Outcome{StopMaxTokens, 1}, `TurnBegin | StepBegin | text:a | call a Read {"p | StatusUpdate | failed a | TurnEnd`, "user assistant"},
		{"refused", nil, Config{}, []string{"text: no\nfinish: content_filter"}, "x", Outcome{StopRefusal, 1}, "TurnBegin | StepBegin | text:no | TurnEnd", ""},
		{"a slash command", nil, Config{}, nil, "/help", Outcome{StopEndTurn, 0}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := play(c.tools, c.config, c.scripts...)
			out, err := s.Run(t.Context(), ask(c.prompt))
			if err != nil || out != c.want {
				t.Errorf("ended with %+v, %v; want %+v", out, err, c.want)
			}
			if got := s.transcript(); c.said != "" && got != c.said {
				t.Errorf("said\n     %s\nwant %s", got, c.said)
			}
			if got := s.roles(); got != c.roles {
				t.Errorf("history %q, want %q", got, c.roles)
			}
		})
	}
}

func TestTurnsGoOnAfterFailure(t *testing.T) {
	s := play(nil, Config{}, "error: 401 bad key", "text: hi")
	_, err := s.Run(t.Context(), ask("one"))
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindAuth {
		t.Fatalf("the first turn: %v", err)
	}
	if want := "TurnBegin | StepBegin | StepInterrupted | TurnEnd"; s.transcript() != want {
		t.Errorf("said %s, want %s", s.transcript(), want)
	}
	if out, err := s.Run(t.Context(), ask("two")); err != nil || out.Stop != StopEndTurn {
		t.Errorf("the next turn: %+v, %v", out, err)
	}
	if got := s.roles(); got != "user assistant" {
		t.Errorf("history %q", got)
	}
}

func TestRetry(t *testing.T) {
	for _, c := range []struct {
		name    string
		scripts []string
		said    string
		err     llm.Kind
	}{
		{"a server error, then an answer", []string{"error: 500", "error: timeout", "text: hi"}, "TurnBegin | StepBegin | StepRetry APIStatusError | StepRetry APITimeoutError | text:hi | StatusUpdate | TurnEnd", 0},
		{"too often", []string{"error: 503", "error: 503", "error: 503", "text: never"}, "TurnBegin | StepBegin | StepRetry APIStatusError | StepRetry APIStatusError | StepInterrupted | TurnEnd", llm.KindOverloaded},
		{"not worth it", []string{"error: 400 no", "text: never"}, "TurnBegin | StepBegin | StepInterrupted | TurnEnd", llm.KindBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := play(nil, Config{}, c.scripts...)
				_, err := s.Run(t.Context(), ask("x"))
				var e *llm.Error
				if errors.As(err, &e) != (c.err != 0) || c.err != 0 && e.Kind != c.err {
					t.Errorf("ended with %v", err)
				}
				if got := s.transcript(); got != c.said {
					t.Errorf("said\n     %s\nwant %s", got, c.said)
				}
			})
		})
	}
}

func TestToolsRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := tools{"Read": func(context.Context, string) wire.ToolReturnValue { time.Sleep(time.Second); return ok("x") }}
		s := play(slow, Config{}, call("a", "Read", "{}")+call("b", "Read", "{}")+call("c", "Read", "{}"), "text: done")
		began := time.Now()
		if _, err := s.Run(t.Context(), ask("x")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("three calls of a second took %v", took)
		}
		if got := s.roles(); got != "user assistant+a+b+c tool:a tool:b tool:c assistant" {
			t.Errorf("history %q", got)
		}
	})
}

// Once a tool has started, its step enters the history with what is finished, and
// with word of what is not.
func TestCancelWhileToolsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		both := tools{
			"Fast": func(context.Context, string) wire.ToolReturnValue { return ok("fast output") },
			"Slow": func(ctx context.Context, _ string) wire.ToolReturnValue {
				<-ctx.Done()
				return wire.FailedTool("interrupted by the user", "")
			},
		}
		s := play(both, Config{}, call("a", "Fast", "{}")+call("b", "Slow", "{}"), "text: after")
		done := make(chan Outcome)
		go func() {
			out, err := s.Run(ctx, ask("x"))
			if err != nil {
				t.Errorf("a cancelled turn ends with %v", err)
			}
			done <- out
		}()
		synctest.Wait()
		cancel()
		if out := <-done; out.Stop != StopCancelled {
			t.Errorf("ended with %+v", out)
		}
		if got := s.roles(); got != "user assistant+a+b tool:a tool:b" {
			t.Errorf("history %q", got)
		}
		m := s.history.Messages()
		if !strings.Contains(m[2].Content[1].Text, "fast output") || !strings.Contains(m[3].Content[0].Text, "interrupted") {
			t.Errorf("the results in the history are %+v", m[2:])
		}
		if n := len(s.said); s.said[n-1] != "TurnEnd" || slices.Contains(s.said, "StepInterrupted") {
			t.Errorf("said %s", s.transcript())
		}
		if out, err := s.Run(t.Context(), ask("go on")); err != nil || out.Stop != StopEndTurn {
			t.Errorf("the next turn: %+v, %v", out, err)
		}
	})
}

func TestCancelWhileStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := play(nil, Config{}, "text: one\nsleep: 1h\ntext: two", "text: next")
		time.AfterFunc(time.Minute, cancel)
		out, err := s.Run(ctx, ask("x"))
		if err != nil || out.Stop != StopCancelled {
			t.Errorf("ended with %+v, %v", out, err)
		}
		if got := s.roles(); got != "user" {
			t.Errorf("history %q: a step that did not finish is no part of it", got)
		}
		if _, err := s.Run(t.Context(), ask("y")); err != nil {
			t.Error(err)
		}
		if got := s.roles(); got != "user assistant" {
			t.Errorf("history %q", got)
		}
	})
}

// breaking is a model whose answer breaks off.
type breaking struct {
	llm.Provider
	deltas []llm.Delta
}

func (b breaking) Stream(context.Context, *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for _, d := range b.deltas {
			if !yield(d, nil) {
				return
			}
		}
		yield(llm.Delta{}, &llm.Error{Kind: llm.KindConnection, Message: "broken off"})
	}
}

// A call that was never shown has no result either.
func TestFailureClosesOnlyTheCallsThatWereShown(t *testing.T) {
	read := tools{"Read": func(context.Context, string) wire.ToolReturnValue { return ok("") }}
	s := play(read, Config{Retry: RetryPolicy{Attempts: 1}})
	s.UseModel(breaking{s.model(), []llm.Delta{
		{Kind: llm.DeltaCall, Index: 0, Call: llm.ToolCall{ID: "a", Name: "Read"}},
		{Kind: llm.DeltaCall, Index: 1, Call: llm.ToolCall{ID: "b", Name: "Read"}},
	}})
	if _, err := s.Run(t.Context(), ask("x")); err == nil {
		t.Fatal("the turn did not fail")
	}
	if want := `TurnBegin | StepBegin | call a Read - | failed a | StepInterrupted | TurnEnd`; s.transcript() != want {
		t.Errorf("said\n     %s\nwant %s", s.transcript(), want)
	}
}

// A prompt that was taken back while it waited is nothing that the model hears of.
func TestPromptThatIsCancelledBeforeItBegins(t *testing.T) {
	for _, prompt := range []string{"delete it all", "/clear", "/init"} {
		s := play(nil, Config{}, "text: hi")
		if _, err := s.Run(t.Context(), ask("before")); err != nil {
			t.Fatal(err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if out, err := s.Run(cancelled, ask(prompt)); err != nil || out != (Outcome{Stop: StopCancelled}) {
			t.Errorf("%s: ended with %+v, %v", prompt, out, err)
		}
		if got := s.roles(); got != "user assistant" {
			t.Errorf("%s: history %q", prompt, got)
		}
	}
}

func TestCancelWhileWaitingToRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := play(nil, Config{Retry: RetryPolicy{Attempts: 2, Base: time.Hour, Cap: time.Hour}}, "error: 500", "text: never")
		time.AfterFunc(time.Minute, cancel)
		if out, err := s.Run(ctx, ask("x")); err != nil || out.Stop != StopCancelled {
			t.Errorf("ended with %+v, %v", out, err)
		}
	})
}

// panel is a session around a soul whose mode and model can be changed.
type panel struct{ mode, model string }

func (p *panel) Mode() string     { return p.mode }
func (p *panel) Model() string    { return p.model }
func (p *panel) Models() []string { return []string{"fast", "deep"} }

func (p *panel) SetMode(id string) error {
	p.mode = id
	return nil
}

func (p *panel) SetModel(id string) error {
	if !slices.Contains(p.Models(), id) {
		return errors.New("there is no such model")
	}
	p.model = id
	return nil
}

func TestCommands(t *testing.T) {
	for _, c := range []struct{ command, says, mode, model string }{
		{"/help", "`/plan [on|off]`", "default", "fast"},
		{" /status ", "of 100000 tokens in use", "default", "fast"},
		{"/status", "Mode `default`.", "default", "fast"},
		{"/usage", "1 model calls: 7 tokens in (2 of them from the cache), 3 out.", "default", "fast"},
		{"/model", "- `fast` (in use)\n- `deep`", "default", "fast"},
		{"/model deep", "now `deep`", "default", "deep"},
		{"/model gone", "stays `fast`: there is no such model", "default", "fast"},
		{"/plan", "now `plan`", "plan", "fast"},
		{"/plan on", "now `plan`", "plan", "fast"},
		{"/plan off", "now `default`", "default", "fast"},
		{"/plan perhaps", "takes `on` or `off`", "default", "fast"},
		{"/yolo\n", "now `yolo`", "yolo", "fast"},
		{"/clear", "cleared", "default", "fast"},
	} {
		p := &panel{mode: "default", model: "fast"}
		s := play(nil, Config{Controls: p}, "text: hi\nusage: {\"input_other\":5,\"input_cache_read\":2,\"output\":3}")
		if _, err := s.Run(t.Context(), ask("remember me")); err != nil {
			t.Fatal(err)
		}
		from := len(s.said)
		if _, err := s.Run(t.Context(), ask(c.command)); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(s.said[from:], " | ")
		if !strings.Contains(got, c.says) || !strings.HasPrefix(got, "TurnBegin") || !strings.HasSuffix(got, "TurnEnd") {
			t.Errorf("%s said %s, want %s", c.command, got, c.says)
		}
		if p.mode != c.mode || p.model != c.model {
			t.Errorf("after %s mode %s and model %s", c.command, p.mode, p.model)
		}
		if cleared := s.history.Len() == 0; cleared != (c.command == "/clear") {
			t.Errorf("after %s the history has %d messages", c.command, s.history.Len())
		}
	}
}

func TestModeCommandTogglesBack(t *testing.T) {
	p := &panel{mode: "plan"}
	s := play(nil, Config{Controls: p})
	if _, err := s.Run(t.Context(), ask("/plan")); err != nil || p.mode != "default" {
		t.Errorf("mode %s, %v", p.mode, err)
	}
}

func TestCommandsWithoutControls(t *testing.T) {
	s := play(nil, Config{})
	for _, command := range []string{"/model deep", "/plan", "/yolo on", "/status"} {
		if _, err := s.Run(t.Context(), ask(command)); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestInitAsksTheModel(t *testing.T) {
	s := play(nil, Config{}, "text: written")
	if out, err := s.Run(t.Context(), ask("/init mind the tests")); err != nil || out.Steps != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	asked := s.history.Messages()[0].Content[0].Text
	if !strings.Contains(asked, "AGENTS.md") || !strings.HasSuffix(asked, "mind the tests") {
		t.Errorf("the model was asked %q", asked)
	}
}

func TestWhatIsNoCommand(t *testing.T) {
	for _, text := range []string{"/nope", "/usr/bin/x fails, why?", "/helpme", "a /help", "/", ""} {
		if c, _, is := (&Builtin{}).parseCommand(text); is {
			t.Errorf("%q counts as the command %s", text, c.Name)
		}
	}
}

func TestToolMessage(t *testing.T) {
	for _, c := range []struct {
		name string
		in   wire.ToolReturnValue
		want string
	}{
		{"message and output", ok("out"), "<system>done</system>|out"},
		{"output only", wire.ToolReturnValue{Output: wire.Output{Text: "out"}}, "out"},
		{"nothing", wire.ToolReturnValue{}, "<system>Tool output is empty.</system>"},
		{"an error", wire.ToolReturnValue{IsError: true, Message: "no", Output: wire.Output{Text: "log"}}, "<system>ERROR: no</system>|log"},
		{"media only", wire.ToolReturnValue{Output: wire.Output{Parts: []llm.Part{llm.Image("u")}}}, "<system>Tool returned non-text content.</system>|"},
	} {
		var got []string
		for _, p := range ToolMessage("id", c.in).Content {
			got = append(got, p.Text)
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}
