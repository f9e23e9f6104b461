package soul

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Every state in which a walk finds a step, with everything that can happen to the step:
// where it ends, by which moves, and how often it was done and reviewed.
func TestEveryStateAndEvent(t *testing.T) {
	untouched := func(s TaskState) string { return string(s) + ", done 0, reviewed 0" }
	events := []struct {
		name    string
		fails   int       // attempts that fail, from the first on
		reviews []Verdict // one for each attempt that does not fail; nil: there are none
		cancels string    // when the walk is cancelled
		want    string    // from a state in which the step is to be done
	}{
		{name: "it succeeds", want: "> running > completed, done 1, reviewed 0"},
		{name: "it fails once", fails: 1, want: "> running > failed > running > completed, done 2, reviewed 0"},
		{name: "it fails always", fails: 9, want: "> running > failed > running > failed, done 2, reviewed 0"},
		{name: "it is accepted", reviews: []Verdict{Accepted}, want: "> running > completed > reviewed, done 1, reviewed 1"},
		{name: "it is sent back once", reviews: []Verdict{SentBack, Accepted}, want: "> running > completed > reopened > running > completed > reviewed, done 2, reviewed 2"},
		{name: "it is sent back always", reviews: []Verdict{SentBack, SentBack, SentBack}, want: "> running > completed > reopened > running > completed > reopened, done 2, reviewed 2"},
		{name: "nobody can tell", reviews: []Verdict{Unjudged}, want: "> running > completed, done 1, reviewed 1"},
		{name: "it fails, and is sent back", fails: 1, reviews: []Verdict{SentBack, SentBack}, want: "> running > failed > running > completed > reopened, done 2, reviewed 1"},
		{name: "cancelled before it", cancels: "before", want: ", done 0, reviewed 0"},
		{name: "cancelled while it is done", cancels: "attempt", want: "> running > cancelled, done 1, reviewed 0"},
		{name: "cancelled under review", reviews: []Verdict{SentBack}, cancels: "review", want: "> running > completed > reopened, done 1, reviewed 1"},
	}
	toDo := map[TaskState]bool{TaskPending: true, TaskReopened: true}
	for _, state := range []TaskState{TaskPending, TaskRunning, TaskCompleted, TaskReviewed, TaskReopened, TaskFailed, TaskCancelled} {
		for _, e := range events {
			t.Run(string(state)+"/"+e.name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if e.cancels == "before" {
					cancel()
				}
				done, reviewed := 0, 0
				work := Work{Do: func(ctx context.Context, _ PlanStep, attempt int) error {
					done++
					if attempt != done {
						t.Errorf("attempt %d is told as %d", done, attempt)
					}
					if e.cancels == "attempt" {
						cancel()
						return ctx.Err()
					}
					if attempt <= e.fails {
						return errors.New("no")
					}
					return nil
				}}
				if e.reviews != nil {
					work.Review = func(context.Context, PlanStep, int) Verdict {
						reviewed++
						if e.cancels == "review" {
							cancel()
						}
						return e.reviews[reviewed-1]
					}
				}
				moves := string(state)
				plan, err := AgentPlan{Steps: []PlanStep{{ID: "a", State: state}}}.Walk(ctx, work, func(p AgentPlan) {
					moves += " > " + string(p.Steps[0].State)
				})
				if err != nil {
					t.Error(err)
				}
				if got := string(plan.Steps[0].State); !strings.HasSuffix(moves, got) {
					t.Errorf("it ended as %s, and was told to be %s", got, moves)
				}
				got := moves + ", done " + string(rune('0'+done)) + ", reviewed " + string(rune('0'+reviewed))
				want := untouched(state)
				if toDo[state] {
					want = strings.Replace(string(state)+" "+e.want, " ,", ",", 1)
				}
				if got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// What depends on a step does not begin before its review is over, and not at all when it
// was sent back for good.
func TestReviewKeepsBackWhatDepends(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict Verdict
		want    string
	}{
		{"accepted", Accepted, "do a, review a, do b, review b: a reviewed, b reviewed"},
		{"nobody could tell", Unjudged, "do a, review a, do b, review b: a completed, b completed"},
		{"sent back", SentBack, "do a, review a, do a, review a: a reopened, b pending"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var did []string
			work := Work{
				Do: func(_ context.Context, s PlanStep, _ int) error { did = append(did, "do "+s.ID); return nil },
				Review: func(_ context.Context, s PlanStep, _ int) Verdict {
					did = append(did, "review "+s.ID)
					return c.verdict
				},
			}
			plan := AgentPlan{Steps: []PlanStep{{ID: "a", State: TaskPending}, {ID: "b", State: TaskPending, DependsOn: []string{"a"}}}}
			got, err := plan.Walk(t.Context(), work, func(AgentPlan) {})
			if s := strings.Join(did, ", ") + ": " + states(got); err != nil || s != c.want {
				t.Errorf("got %s (%v)", s, err)
			}
		})
	}
}

// A fault in a review loses nothing, and is told.
func TestWalkSurvivesAPanicInAReview(t *testing.T) {
	plan := AgentPlan{Steps: []PlanStep{{ID: "a", State: TaskPending}}}
	got, err := plan.Walk(t.Context(), Work{
		Do:     func(context.Context, PlanStep, int) error { return nil },
		Review: func(context.Context, PlanStep, int) Verdict { panic("ouch") },
	}, func(AgentPlan) {})
	if states(got) != "a completed" || err == nil || !strings.Contains(err.Error(), "ouch") {
		t.Errorf("got %s, %v", states(got), err)
	}
}
