package tool

import (
	"context"
	_ "embed"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/wire"
)

//go:embed taskstop.md
var taskStopDescription string

type taskStopArguments struct {
	TaskID string `json:"task_id" jsonschema:"The id that the start of the task gave."`
	Reason string `json:"reason,omitempty" jsonschema:"Why it is stopped, in a few words."`
}

func newTaskStop() Tool {
	return Define(Definition[taskStopArguments]{
		Name:        "TaskStop",
		Description: taskStopDescription,
		Effect:      Runs,
		Refine: func(a map[string]*jsonschema.Schema) {
			a["reason"].MaxLength = jsonschema.Ptr(maxTaskText)
		},
		Run: taskStop,
	})
}

// taskStop ends a task. It asks nobody: the user approved what the task does, and that
// it does no more of it needs no approval.
func taskStop(ctx context.Context, c *Invocation, in taskStopArguments) wire.ToolReturnValue {
	tasks := c.executor.tasks
	if tasks == nil {
		return Failed(ctx, errNoTasks)
	}
	c.Progress(true, "", nil)
	before, err := tasks.Get(in.TaskID)
	if err != nil {
		return Failed(ctx, err)
	}
	task, err := tasks.Stop(ctx, in.TaskID, strings.TrimSpace(in.Reason))
	switch {
	case err != nil && ctx.Err() != nil:
		return failure("The call was interrupted. "+in.TaskID+" was asked to end, and ends by itself.", "Interrupted")
	case err != nil:
		return Failed(ctx, err)
	}
	tasks.Told(task.ID)
	message := "Stopped " + task.ID + "."
	if before.Status.Over() {
		message = "The task was over before."
	}
	return wire.ToolReturnValue{Output: wire.Output{Text: describeTask(task)}, Message: message, Display: []wire.Block{taskBlock(task)}}
}
