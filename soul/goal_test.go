package soul

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

// judged answers the judge with verdicts one after the other, and everything else with
// work.
func judged(verdicts ...string) func(context.Context, string) (string, error) {
	n := 0
	return func(_ context.Context, said string) (string, error) {
		if !strings.Contains(said, "Is the goal reached?") {
			return "worked", nil
		}
		n++
		return verdicts[n-1], nil
	}
}

func TestGoal(t *testing.T) {
	s := sit(Config{}, judged("The tests fail. <verdict>open</verdict>", "All pass. <verdict>Reached</verdict>"))
	said, out := s.prompt(t, t.Context(), "/goal make the tests pass")
	want := "[Goal: round 1 of 20: ]worked[Goal: round 2 of 20: The tests fail.]worked\n\nThe goal is reached (2 of 20 rounds): All pass."
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if out.Stop != StopEndTurn || out.Steps != 2 {
		t.Errorf("ended with %+v", out)
	}
	if len(s.heard) != 4 || !strings.HasPrefix(s.heard[0], "/goal make the tests pass|Work on this goal") || !strings.HasPrefix(s.heard[2], "<system>The work on the goal goes on.</system>") ||
		!strings.Contains(s.heard[2], "The goal: make the tests pass\n\nHow it was judged last: The tests fail.") {
		t.Errorf("asked %q", s.heard)
	}
	if !strings.Contains(s.heard[1], "AGENT: worked") {
		t.Errorf("the judge saw %q", s.heard[1])
	}
	if n, _ := turnsOf(points(s.history.All()), 9); len(n) != 1 {
		t.Errorf("the goal is %d turns of the history, want 1", len(n))
	}
	if said, _ := s.prompt(t, t.Context(), "/goal resume"); !strings.HasPrefix(said, "“make the tests pass” is reached: 2 of 20 rounds. All pass.") {
		t.Errorf("said %q", said)
	}
}

func TestGoalEnds(t *testing.T) {
	budget := GoalBudget{Rounds: 2}
	for name, c := range map[string]struct {
		verdicts []string
		want     string
		stop     StopReason
		state    goalState
	}{
		"the budget":   {[]string{"More. <verdict>open</verdict>", "Still more."}, "The goal is not reached, and its budget is used up (2 of 2 rounds). Still more. `/goal resume` gives it as much again.", StopMaxSteps, goalSpent},
		"the user":     {[]string{"Which of both? <verdict>blocked</verdict>"}, "The goal waits for you (1 of 2 rounds): Which of both? Answer, and `/goal resume` goes on.", StopEndTurn, goalBlocked},
		"no judgement": {[]string{""}, "The goal is paused (1 of 2 rounds). Nobody could judge how far it is: no model answers: the answer was empty. `/goal resume` goes on with it.", StopEndTurn, goalPaused},
	} {
		s := sit(Config{Goal: budget, Retry: RetryPolicy{Attempts: 1}}, judged(c.verdicts...))
		said, out := s.prompt(t, t.Context(), "/goal x")
		if !strings.HasSuffix(said, "\n\n"+c.want) || out.Stop != c.stop || s.lastGoal().State != c.state {
			t.Errorf("%s: said %q, %+v, %s", name, said, out, s.lastGoal().State)
		}
	}
}

func TestGoalCommands(t *testing.T) {
	s := sit(Config{Goal: GoalBudget{Rounds: 1}}, judged("<verdict>open</verdict>", "<verdict>open</verdict>", "<verdict>open</verdict>", "<verdict>reached</verdict>"))
	for _, c := range []struct{ prompt, want string }{
		{"/goal", "There is no goal. "},
		{"/goal resume", "[Goal: round 1 of 1: ]"}, // a text like any other, as there is no goal
		{"/goal", "“resume” is spent: 1 of 1 rounds."},
		{"/goal resume", "[Goal: round 2 of 2: ]"},
		{"/goal budget 4", "“resume” is spent: 2 of 4 rounds."},
		{"/goal pause", "“resume” is paused: 2 of 4 rounds."},
		{"/goal resume", "[Goal: round 3 of 4: ]worked[Goal: round 4 of 4: ]worked\n\nThe goal is reached (4 of 4 rounds)"},
		{"/goal clear", "The goal is forgotten"},
		{"/goal", "There is no goal. "},
	} {
		if said, _ := s.prompt(t, t.Context(), c.prompt); !strings.HasPrefix(said, c.want) {
			t.Errorf("%s said %q, want %q", c.prompt, said, c.want)
		}
	}
	if last := s.heard[len(s.heard)-2]; !strings.Contains(last, "This is the last round") {
		t.Errorf("the last round asked %q", last)
	}
}

// TestGoalOutlivesTheProgram cancels a goal, opens its session again and goes on.
func TestGoalOutlivesTheProgram(t *testing.T) {
	store, dir := session.NewStore(t.TempDir()), t.TempDir()
	kept, err := store.Create(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := sit(Config{}, func(ctx context.Context, _ string) (string, error) {
		cancel()
		return "", ctx.Err()
	})
	first.Keep(kept)
	said, out := first.prompt(t, ctx, "/goal ship it")
	if out.Stop != StopCancelled || !strings.HasSuffix(said, "The goal is paused (1 of 20 rounds). It was stopped. `/goal resume` goes on with it.") {
		t.Errorf("said %q, %+v", said, out)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err = store.Open(dir, "x"); err != nil {
		t.Fatal(err)
	}
	second := sit(Config{}, judged("<verdict>reached</verdict>"))
	second.Keep(kept)
	if said, _ := second.prompt(t, t.Context(), "hi"); said != "[A goal of this session is not reached: “ship it” is paused: 1 of 20 rounds. It was stopped. `/goal resume` goes on with it.]worked" {
		t.Errorf("said %q", said)
	}
	if said, _ := second.prompt(t, t.Context(), "/goal resume"); !strings.HasSuffix(said, "The goal is reached (2 of 20 rounds): ") && !strings.HasSuffix(said, "The goal is reached (2 of 20 rounds):") {
		t.Errorf("said %q", said)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadVerdict(t *testing.T) {
	for answer, want := range map[string]verdict{
		"":                             {},
		"no tag":                       {why: "no tag"},
		"a <verdict>open</verdict>":    {why: "a"},
		"<verdict> REACHED </verdict>": {reached: true},
		"<verdict>reached</verdict> or <verdict>blocked</verdict>": {blocked: true, why: "or"},
		"<verdict>done</verdict>":                                  {why: "<verdict>done</verdict>"},
	} {
		if got := readVerdict(answer); got != want {
			t.Errorf("%q is read as %+v, want %+v", answer, got, want)
		}
	}
}

func TestRalph(t *testing.T) {
	for name, c := range map[string]struct {
		rounds  int
		answers []string
		stop    StopReason
		said    string
	}{
		"until all is done":     {-1, []string{"one", "two <choice>CONTINUE</choice>", "three, no choice", "four <choice>STOP</choice>"}, StopEndTurn, "one\n\n**Round 2**\n\ntwo <choice>CONTINUE</choice>\n\n**Round 3**\n\nthree, no choice\n\n**Round 4**\n\nfour <choice>STOP</choice>"},
		"until it is too often": {1, []string{"one", "two"}, StopMaxSteps, "one\n\n**Round 2**\n\ntwo\n\nThe loop has gone through 2 steps, which is as many as there may be at once."},
	} {
		s := sit(Config{Ralph: c.rounds}, answers(c.answers...))
		said, out := s.prompt(t, t.Context(), "do it")
		if out.Stop != c.stop || out.Steps != len(c.answers) {
			t.Errorf("%s: ended with %+v", name, out)
		}
		if diff := cmp.Diff(c.said, said); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if s.heard[0] != "do it|" || !strings.HasPrefix(s.heard[1], "<system>The loop goes on with its next step.</system>\n\ndo it\n\n(You work in a loop") {
			t.Errorf("%s: asked %q", name, s.heard)
		}
	}
}

// TestSmallModel has the small model judge; when it fails, the session's does.
func TestSmallModel(t *testing.T) {
	small := &talker{answer: answers("<verdict>open</verdict>", "")}
	s := sit(Config{Small: small}, judged("<verdict>reached</verdict>"))
	said, _ := s.prompt(t, t.Context(), "/goal x")
	if len(small.heard) != 2 || len(s.heard) != 3 || !strings.Contains(said, "The goal is reached (2 of 20 rounds)") {
		t.Errorf("the small model was asked %d times, the other one %d times: %q", len(small.heard), len(s.heard), said)
	}
	tiny := &talker{answer: answers()}
	s = sit(Config{Small: cramped{tiny}}, judged("<verdict>reached</verdict>"))
	if s.prompt(t, t.Context(), "/goal x"); len(tiny.heard) != 0 {
		t.Error("a model was asked for more than it takes")
	}
}

// cramped is a model with hardly any room.
type cramped struct{ *talker }

func (cramped) Model() llm.Model { return llm.Model{Name: "cramped", ContextSize: 50} }
