package soul

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Limits of a walk through a plan.
const (
	stepsAtOnce  = 4 // that are done, or reviewed, side by side
	stepAttempts = 2 // at a step that fails or is sent back
)

// Work is how the steps of a plan are done. Its functions run side by side, at most one
// at a time for each step, and return soon when their context ends.
type Work struct {
	// Do does a step, or tries to; attempt counts from 1. An error is that it failed.
	Do func(ctx context.Context, step PlanStep, attempt int) error
	// Review judges, once, what an attempt that did not fail came to. Nil: nobody does.
	Review func(ctx context.Context, step PlanStep, attempt int) Verdict
}

// Verdict is what a review of a step found.
type Verdict uint8

// The verdicts.
const (
	Unjudged Verdict = iota // nobody could tell: the step stays completed
	Accepted                // it is done: the step is reviewed
	SentBack                // it is not done: the step is reopened
)

// Walk does the steps of a plan that are pending or reopened, each as soon as those that
// it depends on are done and their reviews over, those that matter most first. One that
// fails or is sent back is tried once more; after that it stays failed or reopened, and
// keeps back only what depends on it. When ctx ends, what runs is cancelled and the rest
// stays as it is; what was under review stays completed. Moved is given the plan after
// each move, one call at a time; Walk gives it as it is at the end. An error is a bug in
// the moves.
func (p AgentPlan) Walk(ctx context.Context, work Work, moved func(AgentPlan)) (AgentPlan, error) {
	w := &walk{
		steps: slices.Clone(p.Steps), work: work, moved: moved,
		attempts: make([]int, len(p.Steps)), judging: make([]bool, len(p.Steps)), ended: make(chan ended),
	}
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
		if again := w.end(ctx, <-w.ended); !again {
			running--
		}
	}
}

// walk is a walk under way. It is used by the goroutine of Walk alone.
type walk struct {
	steps    []PlanStep
	attempts []int
	judging  []bool // a review of the step is under way
	work     Work
	moved    func(AgentPlan)
	ended    chan ended
	bug      error
}

// ended is what came of an attempt at a step, or of its review.
type ended struct {
	step    int
	review  bool
	err     error   // of the attempt
	verdict Verdict // of the review
}

// next is the step to be begun now, -1 for none. Those that were begun are tried again
// by retry alone.
func (w *walk) next() int {
	best := -1
	for n, s := range w.steps {
		if s.State != TaskPending && s.State != TaskReopened || w.attempts[n] > 0 || !w.ready(s) {
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

// ready tells whether all that a step depends on is done, and will not be reopened by a
// review that is under way.
func (w *walk) ready(s PlanStep) bool {
	for _, id := range s.DependsOn {
		n := slices.IndexFunc(w.steps, func(o PlanStep) bool { return o.ID == id })
		if n < 0 || w.judging[n] || w.steps[n].State != TaskCompleted && w.steps[n].State != TaskReviewed {
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
	go func() {
		e := ended{step: n}
		defer func() { w.ended <- e }()
		defer survive(&e.err)
		e.err = w.work.Do(ctx, step, attempt)
	}()
}

// judge begins the review of a step. Walk waits for what it sends.
func (w *walk) judge(ctx context.Context, n int) {
	w.judging[n] = true
	step, attempt := w.steps[n], w.attempts[n]
	go func() {
		e := ended{step: n, review: true}
		defer func() { w.ended <- e }()
		defer survive(&e.err)
		e.verdict = w.work.Review(ctx, step, attempt)
	}()
}

// survive makes a panic a failure.
func survive(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("a fault of the program: %v", p)
	}
}

// end takes an end down, and tells whether something of the same step was begun.
func (w *walk) end(ctx context.Context, e ended) (again bool) {
	n := e.step
	switch {
	case e.review:
		w.judging[n] = false
		w.bug = errors.Join(w.bug, e.err) // a review gives none by itself
		switch e.verdict {
		case Accepted:
			w.move(n, TaskReviewed)
		case SentBack:
			w.move(n, TaskReopened)
			return w.retry(ctx, n)
		}
	case e.err == nil:
		w.move(n, TaskCompleted)
		if w.work.Review != nil && ctx.Err() == nil {
			w.judge(ctx, n)
			return true
		}
	case ctx.Err() != nil:
		w.move(n, TaskCancelled)
	default:
		w.move(n, TaskFailed)
		return w.retry(ctx, n)
	}
	return false
}

// retry begins another attempt, and tells whether there was one left.
func (w *walk) retry(ctx context.Context, n int) bool {
	if w.attempts[n] >= stepAttempts || ctx.Err() != nil {
		return false
	}
	w.begin(ctx, n)
	return true
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
