package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/wire"
)

//go:embed waitfor.md
var waitForDescription string

type waitForArguments struct {
	TaskIDs []string `json:"task_ids,omitempty" jsonschema:"The tasks to wait for; left out: all that run."`
	All     bool     `json:"all,omitempty" jsonschema:"Wait until all of them are over, not just the first."`
	Timeout int      `json:"timeout,omitempty" jsonschema:"Seconds to wait at most."`
}

func newWaitFor() Tool {
	return Define(Definition[waitForArguments]{
		Name:        "WaitFor",
		Description: waitForDescription,
		Effect:      Waits,
		Defaults:    waitForArguments{Timeout: 60},
		Refine: func(a map[string]*jsonschema.Schema) {
			a["task_ids"].MaxItems = jsonschema.Ptr(100)
			a["timeout"].Minimum = jsonschema.Ptr(1.0)
			a["timeout"].Maximum = jsonschema.Ptr(3600.0)
		},
		Run: waitFor,
	})
}

func waitFor(ctx context.Context, c *Invocation, in waitForArguments) wire.ToolReturnValue {
	tasks := c.executor.tasks
	if tasks == nil {
		return Failed(ctx, errNoTasks)
	}
	c.Progress(true, "", nil)
	found, failed := awaitTasks(ctx, tasks, in.TaskIDs, in.All, time.Duration(in.Timeout)*time.Second)
	if failed != nil {
		return *failed
	}
	if len(found) == 0 {
		return wire.ToolReturnValue{Message: "Nothing runs in the background."}
	}
	over := 0
	var s strings.Builder
	for i, t := range found {
		if t.Status.Over() {
			over++
		}
		fmt.Fprintf(&s, "[%d]\n%s\n", i+1, describeTask(t))
	}
	message := fmt.Sprintf("%d of %s over.", over, plural(len(found), "task"))
	if over == 0 || in.All && over < len(found) {
		message += " The time to wait has passed; the rest goes on."
	}
	return wire.ToolReturnValue{Output: wire.Output{Text: s.String()}, Message: message}
}
