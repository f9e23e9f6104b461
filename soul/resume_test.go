package soul

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// attempt is what a model says to one request, and how that ends; nil: well.
type attempt struct {
	deltas []llm.Delta
	err    error
}

// flaky is a model that answers each request with the next attempt and keeps what it
// was asked.
type flaky struct {
	name string

	mu       sync.Mutex
	attempts []attempt
	asked    []*llm.Request
}

func (f *flaky) Model() llm.Model {
	return llm.Model{Name: f.name, ContextSize: 100_000, ImageInput: true}
}

func (f *flaky) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		f.mu.Lock()
		f.asked = append(f.asked, req)
		a := attempt{err: errors.New("the test has no attempt left")}
		if len(f.attempts) > 0 {
			a, f.attempts = f.attempts[0], f.attempts[1:]
		}
		f.mu.Unlock()
		for _, d := range a.deltas {
			if ctx.Err() != nil || !yield(d, nil) {
				break
			}
		}
		switch {
		case ctx.Err() != nil:
			yield(llm.Delta{}, ctx.Err())
		case a.err != nil:
			yield(llm.Delta{}, a.err)
		}
	}
}

func texts(s ...string) (out []llm.Delta) {
	for _, t := range s {
		out = append(out, llm.Delta{Kind: llm.DeltaText, Text: t})
	}
	return out
}

var broken = &llm.Error{Kind: llm.KindConnection, Message: "broken off"}

// shown replays what a view that takes nothing back has shown of the answer. A star
// stands where it began anew.
func shown(messages []wire.Message) string {
	var told wire.Retelling
	var out strings.Builder
	for _, m := range messages {
		m, superseded := told.Receive(m)
		part, ok := m.(wire.ContentPart)
		if !ok || part.Part.Type != llm.PartText {
			continue
		}
		if superseded {
			out.WriteString("*")
		}
		out.WriteString(part.Part.Text)
	}
	return out.String()
}

// What an attempt said before it broke off is gone on with or said again, and never
// doubled: neither in what is shown nor in the history.
func TestAnswerThatBreaksOff(t *testing.T) {
	first := strings.Repeat("0123456789", 30) // more than minKept
	thought := llm.Delta{Kind: llm.DeltaThink, Text: "hm"}
	readCall := llm.Delta{Kind: llm.DeltaCall, Call: llm.ToolCall{ID: "a", Name: "Read", Arguments: new(string)}}
	empty := &llm.Error{Kind: llm.KindEmpty, Message: "nothing"}
	for _, c := range []struct {
		name     string
		attempts []attempt
		shown    string
		kept     string // the answer in the history
		goOn     int    // requests that ask to go on
	}{
		{"little, then the same", []attempt{{texts("Hel", "lo"), broken}, {texts("Hello world"), nil}}, "Hello world", "Hello world", 0},
		{"little, then other words", []attempt{{texts("Hello"), broken}, {texts("Hey"), nil}}, "Hello*Hey", "Hey", 0},
		{"much, and it goes on", []attempt{{texts(first), broken}, {texts(" and", " on"), nil}}, first + " and on", first + " and on", 1},
		{"much, and it begins again", []attempt{{texts(first), broken}, {texts(first[:100], first[100:], " on"), nil}}, first + " on", first + " on", 1},
		{"much, in other pieces", []attempt{{texts(first[:150], first[150:]), broken}, {texts(first + "on"), nil}}, first + "on", first + "on", 1},
		{"much, and it goes another way", []attempt{{texts(first), broken}, {texts(first[:80], "other"), nil}}, first + "*" + first[:80] + "other", first[:80] + "other", 1},
		{"it goes on like the beginning", []attempt{{texts(first), broken}, {texts(first[:20], "!"), nil}}, first + first[:20] + "!", first + first[:20] + "!", 1},
		{"it goes on with no more than that", []attempt{{texts(first), broken}, {texts(first[:20]), nil}}, first + first[:20], first + first[:20], 1},
		{"nothing was missing", []attempt{{texts(first), broken}, {nil, empty}}, first, first, 1},
		{"it breaks off twice", []attempt{{texts(first), broken}, {texts(" and"), broken}, {texts(" on"), nil}}, first + " and on", first + " and on", 2},
		{"it breaks off while it repeats", []attempt{{texts(first), broken}, {texts(first[:70]), broken}, {texts("!"), nil}}, first + "!", first + "!", 2},
		{"before anything", []attempt{{nil, broken}, {nil, broken}, {texts("hi"), nil}}, "hi", "hi", 0},
		{"in its thoughts", []attempt{{[]llm.Delta{thought}, broken}, {append([]llm.Delta{thought}, texts("hi")...), nil}}, "hi", "hi", 0},
		{"before a call", []attempt{{texts(first), broken}, {[]llm.Delta{readCall}, nil}, {texts("done"), nil}}, first + "done", first, 1},
		{"in a call", []attempt{{append(texts(first), readCall), broken}, {[]llm.Delta{readCall}, nil}, {texts("done"), nil}}, first + "done", first, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := play(tools{"Read": func(context.Context, string) wire.ToolReturnValue { return ok("x") }}, Config{})
				model := &flaky{attempts: c.attempts}
				s.UseModel(model)
				var heard []wire.Message
				s.cfg.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) { heard = append(heard, m) }))
				if _, err := s.Run(t.Context(), ask("x")); err != nil {
					t.Fatal(err)
				}
				if got := shown(heard); got != c.shown {
					t.Errorf("shown %q, want %q", got, c.shown)
				}
				if got := textOf(s.history.Messages()[1].Content); got != c.kept {
					t.Errorf("the history has %q, want %q", got, c.kept)
				}
				asks := 0
				for _, r := range model.asked {
					last := r.Messages[len(r.Messages)-1]
					if last.Role == llm.RoleUser && last.Content[0].Text == goOn {
						asks++
						if before := r.Messages[len(r.Messages)-2]; before.Role != llm.RoleAssistant || len(textOf(before.Content)) < minKept {
							t.Errorf("asked to go on from %+v", before)
						}
					}
				}
				if asks != c.goOn {
					t.Errorf("asked %d times to go on, want %d", asks, c.goOn)
				}
			})
		})
	}
}

// A Wire client that drops what a failed attempt said has the whole answer too.
func TestStepIsToldAgainFromItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := strings.Repeat("0123456789", 30)
		s := play(nil, Config{})
		s.UseModel(&flaky{attempts: []attempt{{texts(first), broken}, {texts(" and on"), nil}}})
		var got string
		s.cfg.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
			switch m := m.(type) {
			case wire.StepRetry:
				got = ""
			case wire.ContentPart:
				got += m.Part.Text
			}
		}))
		if _, err := s.Run(t.Context(), ask("x")); err != nil {
			t.Fatal(err)
		}
		if want := first + " and on"; got != want {
			t.Errorf("a client of the Wire has %q", got)
		}
	})
}

// What is given up is marked, so that nobody above tries it again.
func TestFailureIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(nil, Config{})
		s.UseModel(&flaky{attempts: slices.Repeat([]attempt{{nil, broken}}, 5)})
		_, err := s.Run(t.Context(), ask("x"))
		var e *llm.Error
		if !errors.As(err, &e) || !e.Final || e.Repeatable() || broken.Final {
			t.Errorf("ended with %+v", e)
		}
	})
}

// An image that the provider cannot read does not spoil the session.
func TestImageThatTheProviderRefuses(t *testing.T) {
	bad := &llm.Error{Kind: llm.KindBadImage, Status: 400, Message: "could not process image"}
	s := play(nil, Config{})
	model := &flaky{attempts: []attempt{{nil, bad}, {texts("I see nothing"), nil}, {texts("fine"), nil}}}
	s.UseModel(model)
	image := llm.Part{Type: llm.PartImage, Media: llm.Media{URL: "data:image/png;base64,QUJD"}}
	in := Input{Text: "look", Parts: []llm.Part{llm.Text("look"), image}}
	for _, input := range []Input{in, ask("next")} {
		if _, err := s.Run(t.Context(), input); err != nil {
			t.Fatal(err)
		}
	}
	if in.Parts[1].Type != llm.PartImage {
		t.Error("the caller's input was changed")
	}
	for i, want := range []bool{true, false, false} {
		has := slices.ContainsFunc(model.asked[i].Messages[0].Content, func(p llm.Part) bool { return p.Type == llm.PartImage })
		if has != want {
			t.Errorf("request %d has an image: %v", i, has)
		}
	}
	if want := "TurnBegin | StepBegin | Notification | StepRetry APIStatusError | text:I see nothing"; !strings.HasPrefix(s.transcript(), want) {
		t.Errorf("said %s", s.transcript())
	}
	// Without an image there is nothing to leave out.
	model.attempts = []attempt{{nil, bad}}
	if _, err := s.Run(t.Context(), ask("again")); err == nil {
		t.Error("the failure was lost")
	}
}

func TestFallback(t *testing.T) {
	down := &llm.Error{Kind: llm.KindServer, Status: 500, Message: "oops"}
	poor := &llm.Error{Kind: llm.KindBilling, Status: 402, Message: "no credit"}
	well := func(s string) attempt { return attempt{texts(s), nil} }
	synctest.Test(t, func(t *testing.T) {
		first := &flaky{name: "first", attempts: []attempt{{nil, down}, {nil, down}, {nil, down}, well("back"), {nil, poor}}}
		second := &flaky{name: "second", attempts: []attempt{well("one"), well("two"), well("three")}}
		s := play(nil, Config{Fallback: second})
		s.UseModel(first)
		var told []string
		s.cfg.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
			if n, ok := m.(wire.Notification); ok {
				told = append(told, n.Title)
			}
		}))
		for i, want := range []struct {
			rest          bool
			first, second int // requests so far
			told          string
		}{
			{false, 3, 1, "[second answers for first]"},
			{false, 3, 2, "[second answers for first]"}, // the circuit is open: nothing is tried
			{true, 4, 2, "[second answers for first first answers again]"},
			{false, 5, 3, "[second answers for first first answers again second answers for first]"}, // at once: no credit comes by waiting
		} {
			if want.rest {
				time.Sleep(time.Minute) // the circuit's rest
			}
			if _, err := s.Run(t.Context(), ask("x")); err != nil {
				t.Fatal(err)
			}
			if len(first.asked) != want.first || len(second.asked) != want.second || fmt.Sprint(told) != want.told {
				t.Errorf("turn %d: %d and %d requests, told %v", i, len(first.asked), len(second.asked), told)
			}
		}
	})
}

// A fallback that fails too ends the turn; a bad key is nothing that another model mends.
func TestFallbackDoesNotHideFailures(t *testing.T) {
	for _, c := range []struct {
		kind          llm.Kind
		first, second int
	}{
		{llm.KindServer, 3, 3},
		{llm.KindAuth, 1, 0},
		{llm.KindContentFilter, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := &llm.Error{Kind: c.kind, Message: "no"}
			first := &flaky{name: "first", attempts: slices.Repeat([]attempt{{nil, e}}, 9)}
			second := &flaky{name: "second", attempts: slices.Repeat([]attempt{{nil, e}}, 9)}
			s := play(nil, Config{Fallback: second})
			s.UseModel(first)
			if _, err := s.Run(t.Context(), ask("x")); err == nil {
				t.Error("the turn went well")
			}
			if len(first.asked) != c.first || len(second.asked) != c.second {
				t.Errorf("kind %d: %d and %d requests", c.kind, len(first.asked), len(second.asked))
			}
		})
	}
}

// When the provider stays away, what it said stays: in what is shown, once, and in the
// history, so that the next message can go on from it.
func TestAnswerThatStaysBroken(t *testing.T) {
	first := strings.Repeat("0123456789", 30)
	for _, c := range []struct {
		name, said string
		again      []llm.Delta // what the attempts after the first say
		roles      string
	}{
		{"much was said", first, nil, "user assistant user assistant"},
		{"much was said, and said again", first, texts(first), "user assistant user assistant"},
		{"much was said, and half of it again", first, texts(first[:150]), "user assistant user assistant"},
		{"little was said", "Hel", nil, "user assistant"}, // the prompts are one message
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := play(nil, Config{})
				model := &flaky{attempts: []attempt{{texts(c.said), broken}, {c.again, broken}, {c.again, broken}, {texts("on"), nil}}}
				s.UseModel(model)
				var heard []wire.Message
				s.cfg.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) { heard = append(heard, m) }))
				if _, err := s.Run(t.Context(), ask("x")); err == nil {
					t.Fatal("the turn went well")
				}
				if got := shown(heard); got != c.said {
					t.Errorf("shown %q", got)
				}
				if _, err := s.Run(t.Context(), ask("continue")); err != nil {
					t.Fatal(err)
				}
				if got := s.roles(); got != c.roles {
					t.Errorf("history %q, want %q", got, c.roles)
				}
			})
		})
	}
}
