package soul

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/skill"
	"kimi-acp/soul/wire"
)

// talker is a model that answers with what a function makes of the last words said to
// it. It keeps those words.
type talker struct {
	answer func(ctx context.Context, said string) (string, error)
	heard  []string
}

func (k *talker) Model() llm.Model { return llm.Model{Name: "talker", ContextSize: 100_000} }

func (k *talker) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		said := ""
		for _, p := range last.Content {
			said += p.Text + "|"
		}
		k.heard = append(k.heard, said)
		text, err := k.answer(ctx, said)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if yield(llm.Delta{Kind: llm.DeltaText, Text: text}, nil) {
			yield(llm.Delta{Kind: llm.DeltaFinish, Finish: llm.FinishStop}, nil)
		}
	}
}

// answers gives the texts one after the other.
func answers(texts ...string) func(context.Context, string) (string, error) {
	n := 0
	return func(context.Context, string) (string, error) {
		n++
		return texts[n-1], nil
	}
}

// seat is a soul in front of a talker, and what it said to people.
type seat struct {
	*Builtin
	*talker
	words strings.Builder
	types []string
}

func sit(c Config, answer func(context.Context, string) (string, error)) *seat {
	s := &seat{talker: &talker{answer: answer}}
	c.Wire = wire.New()
	c.Provider = s.talker
	c.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
		s.types = append(s.types, m.WireType())
		switch m := m.(type) {
		case wire.ContentPart:
			s.words.WriteString(m.Part.Text)
		case wire.Notification:
			fmt.Fprintf(&s.words, "[%s: %s]", m.Title, m.Body)
		}
	}))
	s.Builtin = New(c)
	return s
}

// prompt runs a turn and gives what was said in it.
func (s *seat) prompt(t *testing.T, ctx context.Context, text string) (string, Outcome) { //nolint:revive // the test is who calls
	t.Helper()
	s.words.Reset()
	out, err := s.Run(ctx, ask(text))
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return strings.TrimSpace(s.words.String()), out
}

func flowSkills(t *testing.T, name, d2 string) func() []skill.Skill {
	t.Helper()
	f, err := skill.ParseD2(d2)
	if err != nil {
		t.Fatal(err)
	}
	return func() []skill.Skill { return []skill.Skill{{Name: name, Text: "the text", Flow: f}} }
}

const review = "BEGIN -> look -> good\nlook: Look at it.\ngood: Is it good?\ngood -> look: No\ngood -> END: Yes"

func TestFlow(t *testing.T) {
	s := sit(Config{Skills: flowSkills(t, "my review", review)}, answers("seen", "no <choice>Perhaps</choice>", "<choice> no </choice>", "seen again", "<choice>No</choice> or <choice>Yes</choice>, done"))
	said, out := s.prompt(t, t.Context(), "/flow:my-review the parser")
	want := "**Step 1: Look at it.**\n\nseen\n\n**Step 2: Is it good?**\n\nno <choice>Perhaps</choice>\n\n**Step 2: Is it good?**\n\n<choice> no </choice>" +
		"\n\n**Step 3: Look at it.**\n\nseen again\n\n**Step 4: Is it good?**\n\n<choice>No</choice> or <choice>Yes</choice>, done"
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if want := (Outcome{StopEndTurn, 5}); out != want {
		t.Errorf("ended with %+v, want %+v", out, want)
	}
	onward := "<system>The flow `my review` goes on with its next step.</system>\n\n"
	choose := "Is it good?\n\nThen choose how to go on, and end your answer with the choice as <choice>…</choice>:\n- No\n- Yes\n"
	wantHeard := []string{
		"/flow:my-review the parser|Look at it.|The user adds: the parser|",
		onward + choose + "|",
		onward + choose + "\n\nYour last answer chose none of these. End it with one of them, as <choice>…</choice>.|",
		onward + "Look at it.|",
		onward + choose + "|",
	}
	if diff := cmp.Diff(wantHeard, s.heard); diff != "" {
		t.Error(diff)
	}
	if n, _ := turnsOf(points(s.history.All()), 9); len(n) != 1 {
		t.Errorf("the flow is %d turns of the history, want 1", len(n))
	}
}

func TestFlowInNestedTurns(t *testing.T) {
	s := sit(Config{Profile: KimiProfile(nil, flowSkills(t, "review", review)())}, answers("seen", "<choice>Yes</choice>"))
	s.prompt(t, t.Context(), "/flow:review")
	if got, want := strings.Join(s.types, " "), "TurnBegin TurnBegin StepBegin ContentPart StatusUpdate TurnEnd TurnBegin StepBegin ContentPart StatusUpdate TurnEnd TurnEnd"; got != want {
		t.Errorf("told %s\nwant %s", got, want)
	}
	if s.heard[0] != "Look at it.|" {
		t.Errorf("the first node asked %q", s.heard[0])
	}
}

func TestFlowWithoutAChoice(t *testing.T) {
	s := sit(Config{Skills: flowSkills(t, "review", review)}, answers("seen", "hm", "hm", "hm", "<choice>Yes</choice>"))
	said, _ := s.prompt(t, t.Context(), "/flow:review")
	if want := "The flow `review` could not go on, as the model chose none of its ways in 3 answers. It stands at “Is it good?”; `/flow:review continue` goes on from there."; !strings.HasSuffix(said, want) {
		t.Errorf("said %q", said)
	}
	if said, _ := s.prompt(t, t.Context(), "/flow:review continue"); !strings.HasPrefix(said, "**Step 1: Is it good?**") {
		t.Errorf("said %q", said)
	}
	if said, _ := s.prompt(t, t.Context(), "/flow:review continue"); said != "The flow `review` was not left off in this session; `/flow:review` begins it." {
		t.Errorf("said %q", said)
	}
}

// TestFlowGoesOnAfterARestart cancels a flow in the middle of an answer, opens the
// session in another process, as it were, and goes on there.
func TestFlowGoesOnAfterARestart(t *testing.T) {
	store, dir := session.NewStore(t.TempDir()), t.TempDir()
	kept, err := store.Create(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	skills := flowSkills(t, "review", review)
	ctx, cancel := context.WithCancel(t.Context())
	first := sit(Config{Skills: skills}, func(ctx context.Context, said string) (string, error) {
		if !strings.Contains(said, "Is it good?") {
			return "seen", nil
		}
		cancel()
		return "", ctx.Err()
	})
	first.Keep(kept)
	said, out := first.prompt(t, ctx, "/flow:review all of it")
	if out.Stop != StopCancelled || !strings.HasSuffix(said, "was stopped. It stands at “Is it good?”; `/flow:review continue` goes on from there.") {
		t.Errorf("said %q, %+v", said, out)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err = store.Open(dir, "x"); err != nil {
		t.Fatal(err)
	}
	second := sit(Config{Skills: skills}, answers("hello", "<choice>Yes</choice>"))
	second.Keep(kept)
	if said, _ := second.prompt(t, t.Context(), "hi"); said != "[A flow was left off in this session: `/flow:review continue` goes on with it.]hello" {
		t.Errorf("said %q", said)
	}
	if said, out := second.prompt(t, t.Context(), "/flow:review continue"); said != "**Step 1: Is it good?**\n\n<choice>Yes</choice>" || out.Stop != StopEndTurn {
		t.Errorf("said %q, %+v", said, out)
	}
	if want := "/flow:review continue|Is it good?\n\nThen"; !strings.HasPrefix(second.heard[1], want) || !strings.Contains(second.heard[1], "the answer broke off") || !strings.HasSuffix(second.heard[1], "|The user adds: all of it|") {
		t.Errorf("asked %q", second.heard[1])
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFlowOfAThousandMoves goes round until the bound, goes on behind it, and is
// cancelled in the second round.
func TestFlowOfAThousandMoves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	s := sit(Config{Skills: flowSkills(t, "endless", "BEGIN -> a\na -> b: on\nb -> a\na -> END: over")},
		func(ctx context.Context, _ string) (string, error) {
			if n++; n == 1500 {
				cancel()
				return "", ctx.Err()
			}
			return "<choice>on</choice>", nil
		})
	said, out := s.prompt(t, ctx, "/flow:endless")
	if want := (Outcome{StopMaxSteps, 1000}); out != want || !strings.HasSuffix(said, "The flow `endless` has gone through 1000 steps, which is as many as there may be at once. It stands at “a”; `/flow:endless continue` goes on from there.") {
		t.Errorf("ended with %+v, said …%q", out, said[max(len(said)-200, 0):])
	}
	if n != 1000 {
		t.Errorf("the model was asked %d times", n)
	}
	said, out = s.prompt(t, ctx, "/flow:endless continue")
	if out.Stop != StopCancelled || n != 1500 || !strings.Contains(said, "was stopped. It stands at “b”") {
		t.Errorf("ended with %+v after %d calls", out, n)
	}
	if roles := s.roles(); strings.Contains(roles, "assistant assistant") {
		t.Error("the history does not alternate")
	}
}

// roles is who spoke in the history, in order.
func (s *seat) roles() string {
	var out []string
	for _, m := range s.history.Messages() {
		out = append(out, string(m.Role))
	}
	return strings.Join(out, " ")
}

func TestFlowStopsWhereItIsRefused(t *testing.T) {
	s := play(nil, Config{Skills: flowSkills(t, "review", review)}, "text: seen", "text: no\nfinish: content_filter")
	out, err := s.Run(t.Context(), ask("/flow:review"))
	if err != nil || out.Stop != StopRefusal {
		t.Errorf("%+v, %v", out, err)
	}
	if got := s.roles(); got != "user assistant" {
		t.Errorf("the history is %q: what was refused stays, or more went than that", got)
	}
}

func TestSkillCommand(t *testing.T) {
	s := sit(Config{Skills: flowSkills(t, "review", review)}, answers("ok", "ok", "ok"))
	for prompt, want := range map[string]string{
		"/skill:review":           "the text|",
		"/skill:review the tests": "the text\n\nThe user adds: the tests|",
		"/skill:none":             "/skill:none|",
	} {
		s.heard = nil
		s.prompt(t, t.Context(), prompt)
		if len(s.heard) != 1 || s.heard[0] != want {
			t.Errorf("%s asked %q, want %q", prompt, s.heard, want)
		}
	}
	var names []string
	for _, c := range s.Commands()[len(builtinCommands()):] {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "skill:review flow:review" {
		t.Errorf("the commands are %s", got)
	}
}
