package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/wire"
)

const runPlanName = "RunPlan"

//go:embed runplan.md
var runPlanDescription string

// Planners are Agents that can do the steps of a plan.
type Planners interface {
	// RunPlan has agents do the steps that are to be done, side by side as far as they do
	// not depend on each other. What goes wrong is in the outcomes, also that ctx ended.
	RunPlan(ctx context.Context, j PlanJob) []StepOutcome
}

// PlanJob is a plan that is to be done.
type PlanJob struct {
	Call    string // the id of the tool call
	Context string // what the agents of all steps have to know
	Type    string // of AgentType
	Items   []wire.PlanItem
	Redo    []string // ids of items that are done and are to be done once more
	// Review has another agent look at each step that an agent with changes to make says
	// is done.
	Review bool
	// Moved takes the list over after each move of a step, one call at a time.
	Moved func([]wire.PlanItem)
}

// StepOutcome is how a step of a plan stands after a run.
type StepOutcome struct {
	Item   wire.PlanItem
	State  string      // such as "reviewed", "failed" or "cancelled"; "pending": it was not begun
	Report AgentReport // of its last agent; the zero value: it had none
	Review string      // what its last review said, or why there was none; "": nobody was asked
}

type runPlanArguments struct {
	Context string   `json:"context" jsonschema:"What the agents of all steps have to know: the goal, decisions, files, how to check."`
	Type    string   `json:"subagent_type,omitempty" jsonschema:"The type of the agents."`
	Redo    []string `json:"redo,omitempty" jsonschema:"The ids of items that are done and are to be done once more."`
	Review  bool     `json:"review,omitempty" jsonschema:"Whether another agent looks at each step that is said to be done; one that is not done is sent back once. Steps that change nothing are not reviewed."`
}

// NewRunPlan makes the tool that has agents of the types do the to-do list.
func NewRunPlan(types []AgentType) Tool {
	names := make([]any, 0, len(types))
	for _, t := range types {
		names = append(names, t.Name)
	}
	return Define(Definition[runPlanArguments]{
		Name:        runPlanName,
		Description: runPlanDescription,
		Effect:      Waits,
		Defaults:    runPlanArguments{Type: usualType(types), Review: true},
		Refine: func(a map[string]*jsonschema.Schema) {
			a["context"].MinLength = jsonschema.Ptr(1)
			a["subagent_type"].Enum = names
			a["redo"].MaxItems = jsonschema.Ptr(maxTodos)
		},
		Run: runPlan,
	})
}

var errNoPlan = errors.New("there is nothing to do in the to-do list: set one with SetTodoList first, with an id for each item and depends_on where the order matters")

func runPlan(ctx context.Context, c *Invocation, in runPlanArguments) wire.ToolReturnValue {
	planners, ok := c.executor.startsAgents().(Planners)
	if !ok {
		return Failed(ctx, errNoAgents)
	}
	if c.executor.Mode() == ModePlan {
		return planModeResult()
	}
	items := c.Todo().Plan()
	ask := planQuestion(items, in)
	if ask == "" {
		return Failed(ctx, errNoPlan)
	}
	if err := c.Approve(ctx, Action{Name: "run plan", Description: ask, Effect: Asks, Firm: Guarded}); err != nil {
		return Failed(ctx, err)
	}
	c.Progress(true, "", nil)
	outcomes := planners.RunPlan(ctx, PlanJob{
		Call: c.ID, Context: in.Context, Type: in.Type, Items: items, Redo: in.Redo, Review: in.Review,
		Moved: c.Todo().set,
	})
	return planResult(c, outcomes)
}

// planQuestion is what the user is asked of a plan, "" when nothing of it is to be done.
func planQuestion(items []wire.PlanItem, in runPlanArguments) string {
	var s strings.Builder
	for _, i := range items {
		redo := false
		for _, id := range in.Redo {
			redo = redo || id == i.ID
		}
		if i.Status == "done" && !redo {
			continue
		}
		fmt.Fprintf(&s, "- %s\n", i.Title)
	}
	if s.Len() == 0 {
		return ""
	}
	return "Have agents (" + in.Type + ") do the plan:\n\n" + s.String()
}

// maxStepText bounds what the result holds of each step's answer, in bytes.
const maxStepText = 8 << 10

// planResult tells how the steps stand. The list is as the lines "step ID: status" say,
// by which a conversation that is restored finds it again.
func planResult(c *Invocation, outcomes []StepOutcome) wire.ToolReturnValue {
	var s strings.Builder
	open := 0
	for _, o := range outcomes {
		fmt.Fprintf(&s, "step %s: %s\n", o.Item.ID, o.Item.Status)
		if o.Item.Status != "done" {
			open++
		}
	}
	for _, o := range outcomes {
		if o.Report == (AgentReport{}) && o.State != "failed" {
			continue
		}
		fmt.Fprintf(&s, "\n[%s] %s (%s, agent_id %s)\n", o.Item.ID, o.Item.Title, o.State, o.Report.AgentID)
		if o.Report.Err != nil {
			fmt.Fprintf(&s, "It did not finish: %s\n", sentence(o.Report.Err.Error()))
		}
		if o.Review != "" {
			fmt.Fprintf(&s, "Its review: %s\n", sentence(o.Review))
		}
		s.WriteString(cutText(o.Report.Text, maxStepText) + "\n")
	}
	v := wire.ToolReturnValue{
		Output:  wire.Output{Text: s.String()},
		Message: "All steps are done. Check what matters before you rely on it.",
		Display: []wire.Block{{Type: wire.BlockTodo, Todo: &wire.TodoBlock{Items: c.Todo().Items()}}},
		Todo:    c.Todo().Plan(),
	}
	if open > 0 {
		v.Message = fmt.Sprintf("%s of the plan not done; a step that failed or was sent back keeps back only those that depend on it. RunPlan goes on with them; what a review missed belongs into `context`.", plural(open, "step"))
	}
	return v
}

// cutText gives the beginning of a text, with a mark where it is cut.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "… [cut]"
}
