package soul

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/soul/wire"
)

// states is a plan in short.
func states(p AgentPlan) string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, s.ID+" "+string(s.State))
	}
	return strings.Join(out, ", ")
}

func TestWalk(t *testing.T) {
	step := func(id string, p Priority, s TaskState, after ...string) PlanStep {
		return PlanStep{ID: id, Title: id, Priority: p, State: s, DependsOn: after}
	}
	for _, c := range []struct {
		name  string
		plan  []PlanStep
		fails map[string]int // how often a step fails
		began string         // the attempts, in their order
		want  string
	}{
		{"nothing", nil, nil, "", ""},
		{"in order of their dependencies", []PlanStep{step("a", PriorityMedium, TaskPending, "b"), step("b", PriorityMedium, TaskPending, "c"), step("c", PriorityMedium, TaskPending)}, nil, "c1 b1 a1", "a completed, b completed, c completed"},
		{"what matters most first", []PlanStep{step("a", PriorityLow, TaskPending, "z"), step("b", PriorityMedium, TaskPending, "z"), step("c", PriorityHigh, TaskPending, "z"), step("z", PriorityLow, TaskCompleted)}, nil, "c1 b1 a1", "a completed, b completed, c completed, z completed"},
		{"one failure", []PlanStep{step("a", PriorityMedium, TaskPending)}, map[string]int{"a": 1}, "a1 a2", "a completed"},
		{"a step that fails keeps back what depends on it", []PlanStep{step("a", PriorityMedium, TaskPending), step("b", PriorityMedium, TaskPending, "a"), step("c", PriorityLow, TaskPending)}, map[string]int{"a": 2}, "a1 c1 a2", "a failed, b pending, c completed"},
		{"what is done is not done again", []PlanStep{step("a", PriorityMedium, TaskCompleted), step("b", PriorityMedium, TaskReviewed), step("c", PriorityMedium, TaskReopened, "a", "b")}, nil, "c1", "a completed, b reviewed, c completed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var began []string
				do := func(_ context.Context, s PlanStep, attempt int) error {
					mu.Lock()
					began = append(began, s.ID+string(rune('0'+attempt)))
					mu.Unlock()
					time.Sleep(time.Second)
					if attempt <= c.fails[s.ID] {
						return errors.New("no")
					}
					return nil
				}
				var before AgentPlan
				plan := AgentPlan{Steps: c.plan}
				got, err := plan.Walk(t.Context(), Work{Do: do}, func(p AgentPlan) {
					synctest.Wait() // so that attempts begin in the order of the moves
					before = p
				})
				if err != nil || states(got) != c.want {
					t.Errorf("got %s, %v", states(got), err)
				}
				if len(c.plan) > 0 && states(before) != c.want {
					t.Errorf("told last was %s", states(before))
				}
				if strings.Join(began, " ") != c.began {
					t.Errorf("began %v, want %s", began, c.began)
				}
			})
		})
	}
}

// Cancelled is what runs, and the rest can go on later. No more steps run at once than may.
func TestWalkIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var plan AgentPlan
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			plan.Steps = append(plan.Steps, PlanStep{ID: id, State: TaskPending, Priority: PriorityMedium})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, err := plan.Walk(ctx, Work{Do: func(ctx context.Context, _ PlanStep, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		}}, func(AgentPlan) {})
		if want := "a cancelled, b cancelled, c cancelled, d cancelled, e pending, f pending"; err != nil || states(got) != want {
			t.Errorf("got %s, %v", states(got), err)
		}
		if n := len(slices.DeleteFunc(got.Items(), func(i wire.PlanItem) bool { return i.Status != "pending" })); n != 6 {
			t.Errorf("%d of 6 are still to be done", n)
		}
	})
}

func TestWalkSurvivesAPanic(t *testing.T) {
	plan := AgentPlan{Steps: []PlanStep{{ID: "a", State: TaskPending}}}
	got, err := plan.Walk(t.Context(), Work{Do: func(context.Context, PlanStep, int) error { panic("ouch") }}, func(AgentPlan) {})
	if err != nil || states(got) != "a failed" {
		t.Errorf("got %s, %v", states(got), err)
	}
}

func TestReopen(t *testing.T) {
	plan := AgentPlan{Steps: []PlanStep{{ID: "a", State: TaskCompleted}, {ID: "b", State: TaskPending}, {ID: "c", State: TaskReviewed}}}
	if got := states(plan.Reopen([]string{"a", "b", "c"})); got != "a reopened, b pending, c reopened" {
		t.Errorf("got %s", got)
	}
	if got := states(plan); got != "a completed, b pending, c reviewed" {
		t.Errorf("the plan itself has changed: %s", got)
	}
}
