package soul

import "kimi-acp/soul/wire"

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

// PlanOf makes a plan of a to-do list. Entries with an unknown status count as
// pending.
func PlanOf(todo wire.TodoBlock) AgentPlan {
	plan := AgentPlan{Steps: make([]PlanStep, 0, len(todo.Items))}
	for _, item := range todo.Items {
		step := PlanStep{ID: item.Title, Title: item.Title, Priority: PriorityMedium, State: TaskPending}
		switch item.Status {
		case "in_progress":
			step.State = TaskRunning
		case "done":
			step.State = TaskCompleted
		}
		plan.Steps = append(plan.Steps, step)
	}
	return plan
}
