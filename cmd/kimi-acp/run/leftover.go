package run

import (
	"context"

	"kimi-acp/soul"
	"kimi-acp/soul/background"
	"kimi-acp/soul/wire"
)

// overReason is why a task is stopped that outlives the turn.
const overReason = "the turn is over, and nothing goes on behind kimi-acp run"

// endTasks ends what a turn has left in the background, and tells of each, as of what
// ended too late for the model to hear of it. It waits until nothing runs, also when ctx
// has ended.
func endTasks(ctx context.Context, tasks *background.Tasks, bus *wire.Wire) {
	ctx = context.WithoutCancel(ctx)
	for _, t := range tasks.List(true) {
		stopped, err := tasks.Stop(ctx, t.ID, overReason)
		if err == nil && stopped.Status == background.Killed {
			bus.Send(soul.TaskNotification(stopped))
		} // else it ended by itself meanwhile, and is told of below
	}
	for _, n := range tasks.Untold(len(tasks.List(false))) {
		if !n.Shown {
			bus.Send(soul.TaskNotification(n.Task))
		}
	}
}
