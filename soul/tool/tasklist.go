package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/wire"
)

//go:embed tasklist.md
var taskListDescription string

type taskListArguments struct {
	ActiveOnly bool `json:"active_only,omitempty" jsonschema:"Only those that run."`
	Limit      int  `json:"limit,omitempty" jsonschema:"How many to list, the latest first."`
}

func newTaskList() Tool {
	return Define(Definition[taskListArguments]{
		Name:        "TaskList",
		Description: taskListDescription,
		Effect:      ReadOnly,
		Defaults:    taskListArguments{ActiveOnly: true, Limit: 20},
		Refine: func(a map[string]*jsonschema.Schema) {
			a["limit"].Minimum = jsonschema.Ptr(1.0)
			a["limit"].Maximum = jsonschema.Ptr(100.0)
		},
		Run: taskList,
	})
}

func taskList(ctx context.Context, c *Invocation, in taskListArguments) wire.ToolReturnValue {
	tasks := c.executor.tasks
	if tasks == nil {
		return Failed(ctx, errNoTasks)
	}
	all := tasks.List(in.ActiveOnly)
	head := "background_tasks"
	if in.ActiveOnly {
		head = "active_background_tasks"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %d\n", head, len(all))
	for i, t := range all[:min(len(all), in.Limit)] {
		fmt.Fprintf(&s, "\n[%d]\n%s", i+1, describeTask(t))
	}
	return wire.ToolReturnValue{Output: wire.Output{Text: s.String()}}
}
