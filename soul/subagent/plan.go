package subagent

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"kimi-acp/soul"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

var _ tool.Planners = (*Crew)(nil)

// maxHandedOn bounds what a step is told of the answer of each step before it, in bytes.
const maxHandedOn = 4 << 10

// RunPlan has agents do the steps of a plan; see tool.Planners.
func (c *Crew) RunPlan(ctx context.Context, j tool.PlanJob) []tool.StepOutcome {
	var mu sync.Mutex
	reports := map[string]tool.AgentReport{} // by step
	do := func(ctx context.Context, step soul.PlanStep, attempt int) error {
		mu.Lock()
		job := tool.AgentJob{Call: j.Call, What: soul.Shorten(step.Title, maxWhat), Type: j.Type, Prompt: stepPrompt(j, step, reports)}
		if last := reports[step.ID]; attempt > 1 && last.AgentID != "" {
			job.Resume = last.AgentID
			job.Prompt = fmt.Sprintf("You did not finish: %v. Go on from where you are, and finish your step.", last.Err)
		}
		mu.Unlock()
		report := c.Run(ctx, job)
		mu.Lock()
		defer mu.Unlock()
		reports[step.ID] = report
		return report.Err
	}
	before := soul.PlanFrom(j.Items)
	for n := range before.Steps { // nobody works on what is said to be in progress
		if before.Steps[n].State == soul.TaskRunning {
			before.Steps[n].State = soul.TaskPending
		}
	}
	after, err := before.Reopen(j.Redo).Walk(ctx, do, func(p soul.AgentPlan) { j.Moved(p.Items()) })
	if err != nil {
		c.opts.Logger.Error("bug: a step of a plan moved as it must not", "error", err)
	}
	items := after.Items()
	outcomes := make([]tool.StepOutcome, 0, len(items))
	for n, s := range after.Steps {
		outcomes = append(outcomes, tool.StepOutcome{Item: items[n], State: string(s.State), Report: reports[s.ID]})
	}
	return outcomes
}

// maxWhat bounds what an agent of a step is said to be there for, in characters.
const maxWhat = 60

// stepPrompt is what the agent of a step is asked.
func stepPrompt(j tool.PlanJob, step soul.PlanStep, reports map[string]tool.AgentReport) string {
	var s strings.Builder
	fmt.Fprintf(&s, "You do one step of a plan; others do the others, some of them now. Do this step and no other.\n\nWhat all of them know:\n%s\n\nYour step: %s\n", j.Context, step.Title)
	for _, id := range step.DependsOn {
		report, ok := reports[id]
		if !ok {
			continue
		}
		text := report.Text
		if len(text) > maxHandedOn {
			text = strings.ToValidUTF8(text[:maxHandedOn], "") + "…"
		}
		fmt.Fprintf(&s, "\nWhat came of the step before it, %s:\n%s\n", titleOf(j.Items, id), text)
	}
	return s.String()
}

func titleOf(items []wire.PlanItem, id string) string {
	for _, i := range items {
		if i.ID == id {
			return i.Title
		}
	}
	return id
}
