package soul

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kimi-acp/soul/wire"
)

// Limits of a walk through a plan.
const (
	stepsAtOnce  = 4 // that are done side by side
	stepAttempts = 2 // at a step that fails
)

// Attempt does a step of a plan, or tries to; attempt counts from 1. An error is that it
// failed. When ctx ends it returns soon. Attempts at several steps run side by side.
type Attempt func(ctx context.Context, step PlanStep, attempt int) error

// Walk does the steps of a plan that are pending or reopened, each as soon as those that
// it depends on are completed, those that matter most first. One that fails is tried
// once more, and then keeps back only what depends on it. When ctx ends, what runs is
// cancelled and the rest stays as it is. Moved is given the plan after each move, one
// call at a time; Walk gives it as it is at the end. An error is a bug in the moves.
func (p AgentPlan) Walk(ctx context.Context, do Attempt, moved func(AgentPlan)) (AgentPlan, error) {
	w := &walk{steps: slices.Clone(p.Steps), do: do, moved: moved, attempts: make([]int, len(p.Steps)), done: make(chan attempted)}
	running := 0
	for {
		for ctx.Err() == nil && running < stepsAtOnce {
			n := w.next()
			if n < 0 {
				break
			}
			w.begin(ctx, n)
			running++
		}
		if running == 0 {
			return AgentPlan{Steps: w.steps}, w.bug
		}
		if again := w.end(ctx, <-w.done); !again {
			running--
		}
	}
}

// walk is a walk under way. It is used by the goroutine of Walk alone.
type walk struct {
	steps    []PlanStep
	attempts []int
	do       Attempt
	moved    func(AgentPlan)
	done     chan attempted
	bug      error
}

// attempted is what came of an attempt at a step.
type attempted struct {
	step int
	err  error
}

// next is the step to be begun now, -1 for none.
func (w *walk) next() int {
	best := -1
	for n, s := range w.steps {
		if s.State != TaskPending && s.State != TaskReopened || !w.ready(s) {
			continue
		}
		if best < 0 || rank(s.Priority) < rank(w.steps[best].Priority) {
			best = n
		}
	}
	return best
}

func rank(p Priority) int {
	return slices.Index([]Priority{PriorityHigh, PriorityMedium, PriorityLow}, p)
}

// ready tells whether all that a step depends on is completed.
func (w *walk) ready(s PlanStep) bool {
	for _, id := range s.DependsOn {
		n := slices.IndexFunc(w.steps, func(o PlanStep) bool { return o.ID == id })
		if n < 0 || w.steps[n].State != TaskCompleted && w.steps[n].State != TaskReviewed {
			return false
		}
	}
	return true
}

// begin begins an attempt at a step. Walk waits for what it sends.
func (w *walk) begin(ctx context.Context, n int) {
	w.move(n, TaskRunning)
	w.attempts[n]++
	step, attempt := w.steps[n], w.attempts[n]
	go func() { w.done <- attempted{n, w.try(ctx, step, attempt)} }()
}

// try is an attempt in which a panic is a failure.
func (w *walk) try(ctx context.Context, step PlanStep, attempt int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a fault of the program: %v", p)
		}
	}()
	return w.do(ctx, step, attempt)
}

// end takes the end of an attempt down, and tells whether the step was begun again.
func (w *walk) end(ctx context.Context, a attempted) (again bool) {
	switch {
	case a.err == nil:
		w.move(a.step, TaskCompleted)
	case ctx.Err() != nil:
		w.move(a.step, TaskCancelled)
	default:
		w.move(a.step, TaskFailed)
		if w.attempts[a.step] < stepAttempts {
			w.begin(ctx, a.step)
			return true
		}
	}
	return false
}

// move moves a step by the table.
func (w *walk) move(n int, to TaskState) {
	s := &w.steps[n]
	if !TaskTable.Allows(s.State, to) {
		w.bug = errors.Join(w.bug, &IllegalMoveError{What: "step " + s.ID, From: string(s.State), To: string(to)})
	}
	s.State = to
	w.moved(AgentPlan{Steps: slices.Clone(w.steps)})
}

// Reopen has completed steps done once more; the others stay as they are.
func (p AgentPlan) Reopen(ids []string) AgentPlan {
	steps := slices.Clone(p.Steps)
	for n, s := range steps {
		if slices.Contains(ids, s.ID) && TaskTable.Allows(s.State, TaskReopened) {
			steps[n].State = TaskReopened
		}
	}
	return AgentPlan{Steps: steps}
}

// Items gives the plan as a to-do list, which has no word for failed and cancelled
// steps: they are still to be done.
func (p AgentPlan) Items() []wire.PlanItem {
	items := make([]wire.PlanItem, 0, len(p.Steps))
	for _, s := range p.Steps {
		status := "pending"
		switch s.State {
		case TaskRunning:
			status = "in_progress"
		case TaskCompleted, TaskReviewed:
			status = "done"
		}
		items = append(items, wire.PlanItem{ID: s.ID, Title: s.Title, Status: status, Priority: string(s.Priority), DependsOn: s.DependsOn})
	}
	return items
}
