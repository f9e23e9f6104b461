package soul

import (
	"fmt"
	"slices"
	"strings"

	"kimi-acp/soul/wire"
)

// Priority is how much a plan's step matters.
type Priority string

// The priorities, as ACP names them.
const (
	PriorityHigh   Priority = "high"
	PriorityMedium Priority = "medium"
	PriorityLow    Priority = "low"
)

// AgentPlan is what the agent means to do, in order.
type AgentPlan struct{ Steps []PlanStep }

// PlanStep is one step of a plan.
type PlanStep struct {
	ID        string // unique within the plan
	Title     string
	Priority  Priority
	State     TaskState
	DependsOn []string // ids of steps that must be completed first
}

// PlanOf makes the plan of a tool's result: from its plan items, else from the
// to-do list in its display, which is all that crosses the Wire. It is false when
// the result has neither. An unknown status counts as pending, an unknown priority
// as medium.
func PlanOf(v wire.ToolReturnValue) (AgentPlan, bool) {
	for _, b := range v.Display {
		if b.Type != wire.BlockTodo || b.Todo == nil {
			continue
		}
		plan := PlanFrom(v.Todo)
		if v.Todo == nil {
			for _, item := range b.Todo.Items {
				plan.Steps = append(plan.Steps, PlanStep{ID: item.Title, Title: item.Title, Priority: PriorityMedium, State: stateOf(item.Status)})
			}
		}
		return plan, true
	}
	return AgentPlan{}, false
}

// PlanFrom makes the plan of a to-do list.
func PlanFrom(items []wire.PlanItem) AgentPlan {
	plan := AgentPlan{Steps: make([]PlanStep, 0, len(items))}
	for _, item := range items {
		plan.Steps = append(plan.Steps, PlanStep{ID: item.ID, Title: item.Title, Priority: priorityOf(item.Priority), State: stateOf(item.Status), DependsOn: item.DependsOn})
	}
	return plan
}

func stateOf(status string) TaskState {
	switch status {
	case "in_progress":
		return TaskRunning
	case "done":
		return TaskCompleted
	}
	return TaskPending
}

func priorityOf(p string) Priority {
	switch Priority(p) {
	case PriorityHigh, PriorityLow:
		return Priority(p)
	}
	return PriorityMedium
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

// Progress says in a line how far the plan is, and which steps are under way.
func (p AgentPlan) Progress() string {
	done, now := 0, []string(nil)
	for _, s := range p.Steps {
		switch s.State {
		case TaskCompleted, TaskReviewed:
			done++
		case TaskRunning:
			now = append(now, s.Title)
		}
	}
	line := fmt.Sprintf("%d of %s done", done, plural(len(p.Steps), "step"))
	if len(now) > 0 {
		line += ", under way: " + strings.Join(now, ", ")
	}
	return line
}

// PlanNews tells, for people who watch the Wire, how far a plan is that agents do. The zero
// value has told nothing. It is used by one goroutine at a time.
type PlanNews struct{ told string }

// Of gives Progress after a move of the plan, one of tool.PlanMove's events; "" where there
// is nothing new to tell: a review, say, moves steps that are done.
func (n *PlanNews) Of(e wire.SubagentEvent) string {
	r, ok := e.Event.(wire.ToolResult)
	if !ok {
		return ""
	}
	plan, ok := PlanOf(r.ReturnValue)
	progress := plan.Progress()
	if !ok || progress == n.told {
		return ""
	}
	n.told = progress
	return progress
}
