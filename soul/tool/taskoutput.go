package tool

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/background"
	"kimi-acp/soul/wire"
)

// maxTaskOutput bounds what one call shows of a task's output, in bytes.
const maxTaskOutput = 32 << 10

//go:embed taskoutput.md
var taskOutputDescription string

type taskOutputArguments struct {
	TaskID  string `json:"task_id" jsonschema:"The id that the start of the task gave."`
	Block   bool   `json:"block,omitempty" jsonschema:"Wait until the task is over, or the timeout."`
	Timeout int    `json:"timeout,omitempty" jsonschema:"Seconds to wait at most."`
}

func newTaskOutput() Tool {
	return Define(Definition[taskOutputArguments]{
		Name:        "TaskOutput",
		Description: taskOutputDescription,
		Effect:      Waits,
		Defaults:    taskOutputArguments{Timeout: 30},
		Refine: func(a map[string]*jsonschema.Schema) {
			a["timeout"].Minimum = jsonschema.Ptr(0.0)
			a["timeout"].Maximum = jsonschema.Ptr(3600.0)
		},
		Run: taskOutput,
	})
}

func taskOutput(ctx context.Context, c *Invocation, in taskOutputArguments) wire.ToolReturnValue {
	tasks := c.executor.tasks
	if tasks == nil {
		return Failed(ctx, errNoTasks)
	}
	c.Progress(true, "", nil)
	wait := time.Duration(0)
	if in.Block {
		wait = time.Duration(in.Timeout) * time.Second
	}
	found, failed := awaitTasks(ctx, tasks, []string{in.TaskID}, true, wait)
	if found == nil {
		return *failed
	}
	task := found[0]
	end, err := tasks.Last(task.ID, maxTaskOutput)
	if err != nil {
		return Failed(ctx, err)
	}
	retrieval := "success"
	switch {
	case !task.Status.Over() && in.Block:
		retrieval = "timeout"
	case !task.Status.Over():
		retrieval = "not_ready"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "retrieval_status: %s\n%soutput_size_bytes: %d\noutput_truncated: %t\n\n[output]\n", retrieval, describeTask(task), task.Printed, int64(len(end)) < task.Printed)
	s.WriteString(proc.PlainText(strings.ToValidUTF8(string(end), "\uFFFD")))
	return wire.ToolReturnValue{Output: wire.Output{Text: s.String()}, Display: []wire.Block{taskBlock(task)}}
}

// awaitTasks waits for tasks, at most so long, and gives how they are then; nil when
// that failed. The model knows by the result of those that are over.
func awaitTasks(ctx context.Context, tasks *background.Tasks, ids []string, all bool, wait time.Duration) (found []background.Task, failed *wire.ToolReturnValue) {
	waiting, stop := context.WithTimeout(ctx, wait)
	defer stop()
	found, err := tasks.Wait(waiting, ids, all)
	if errors.Is(err, background.ErrUnknown) || ctx.Err() != nil {
		v := Failed(ctx, cmp.Or(ctx.Err(), err))
		return nil, &v
	}
	for _, t := range found {
		if t.Status.Over() {
			tasks.Told(t.ID)
		}
	}
	return found, nil
}
