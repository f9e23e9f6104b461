package tool

import (
	"fmt"
	"strings"
	"time"

	"kimi-acp/soul/background"
	"kimi-acp/soul/wire"
)

// maxTaskText bounds what a task is said to be for, in characters.
const maxTaskText = 200

// describeTask gives what is known of a task, a line for each thing, as kimi-cli does.
func describeTask(t background.Task) string {
	var s strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&s, "%s: %s\n", name, value)
		}
	}
	line("task_id", t.ID)
	line("kind", string(t.Kind))
	line("status", string(t.Status))
	line("description", t.Description)
	line("agent_id", t.AgentID)
	line("subagent_type", t.AgentType)
	line("command", shorten(t.Command, 500))
	if t.Status.Over() {
		line("took", t.Ended.Sub(t.Started).Round(time.Second).String())
	} else {
		line("running_for", time.Since(t.Started).Round(time.Second).String())
	}
	if t.TimedOut {
		line("timed_out", "true")
	}
	if t.ExitCode != nil {
		line("exit_code", fmt.Sprint(*t.ExitCode))
	}
	line("reason", t.Reason)
	return s.String()
}

func taskBlock(t background.Task) wire.Block {
	return wire.Block{Type: wire.BlockBackgroundTask, BackgroundTask: &wire.BackgroundTaskBlock{
		TaskID: t.ID, Kind: string(t.Kind), Status: string(t.Status), Description: t.Description,
	}}
}
