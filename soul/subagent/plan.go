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

// maxHandedOn bounds what an agent is told of the answer of another one, in bytes.
const maxHandedOn = 4 << 10

// RunPlan has agents do the steps of a plan, and tells on the session's Wire of each move;
// see tool.Planners.
func (c *Crew) RunPlan(ctx context.Context, j tool.PlanJob) []tool.StepOutcome {
	r := &planRun{crew: c, job: j, reports: map[string]tool.AgentReport{}, reviews: map[string]string{}, sentBack: map[string]bool{}}
	before := soul.PlanFrom(j.Items)
	for n := range before.Steps { // nobody works on what is said to be in progress
		if before.Steps[n].State == soul.TaskRunning {
			before.Steps[n].State = soul.TaskPending
		}
	}
	work := soul.Work{Do: r.do}
	if c.reviews(j) {
		work.Review = r.review
	}
	moves := 0
	after, err := before.Reopen(j.Redo).Walk(ctx, work, func(p soul.AgentPlan) {
		j.Moved(p.Items())
		moves++
		for _, e := range tool.PlanMove(j.Call, moves, p.Items()) {
			c.opts.Wire.Send(e)
		}
	})
	if err != nil {
		c.opts.Logger.Error("bug: a plan was not done as it must be", "error", err)
	}
	items := after.Items()
	outcomes := make([]tool.StepOutcome, 0, len(items))
	for n, s := range after.Steps {
		outcomes = append(outcomes, tool.StepOutcome{Item: items[n], State: string(s.State), Report: r.reports[s.ID], Review: r.reviews[s.ID]})
	}
	return outcomes
}

// planRun is a plan that is being done. Its steps are done and reviewed side by side.
type planRun struct {
	crew *Crew
	job  tool.PlanJob

	mu       sync.Mutex
	reports  map[string]tool.AgentReport // by step: of its last agent
	reviews  map[string]string           // by step: what its last review said
	sentBack map[string]bool             // by step: whether that sent it back
}

// do has an agent do a step. One that is tried again is the same agent's, who is told why.
func (r *planRun) do(ctx context.Context, step soul.PlanStep, attempt int) error {
	r.mu.Lock()
	job := tool.AgentJob{Call: r.job.Call, What: soul.Shorten(step.Title, maxWhat), Type: r.job.Type, Prompt: stepPrompt(r.job, step, r.reports)}
	if last := r.reports[step.ID]; attempt > 1 && last.AgentID != "" {
		job.Resume = last.AgentID
		job.Prompt = fmt.Sprintf("You did not finish: %v. Go on from where you are, and finish your step.", last.Err)
		if r.sentBack[step.ID] {
			job.Prompt = fmt.Sprintf("Your step was reviewed, and is not done yet:\n%s\n\nFinish it, and answer anew with all that you did for the step.", r.reviews[step.ID])
		}
	}
	r.mu.Unlock()
	report := r.crew.Run(ctx, job)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports[step.ID] = report
	return report.Err
}

// review has another agent look at what a step came to.
func (r *planRun) review(ctx context.Context, step soul.PlanStep, _ int) soul.Verdict {
	r.mu.Lock()
	report := r.reports[step.ID]
	r.mu.Unlock()
	verdict, said := r.crew.review(ctx, r.job, step, report)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reviews[step.ID], r.sentBack[step.ID] = said, verdict == soul.SentBack
	return verdict
}

// maxWhat bounds what an agent of a step is said to be there for, in characters.
const maxWhat = 60

// stepPrompt is what the agent of a step is asked.
func stepPrompt(j tool.PlanJob, step soul.PlanStep, reports map[string]tool.AgentReport) string {
	var s strings.Builder
	fmt.Fprintf(&s, "You do one step of a plan; others do the others, some of them now. Do this step and no other.\n\nWhat all of them know:\n%s\n\nYour step: %s\n", j.Context, step.Title)
	for _, id := range step.DependsOn {
		if report, ok := reports[id]; ok {
			fmt.Fprintf(&s, "\nWhat came of the step before it, %s:\n%s\n", titleOf(j.Items, id), cut(report.Text))
		}
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
