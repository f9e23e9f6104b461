package background

import (
	"slices"
	"time"
)

// Kind is what a task is.
type Kind string

// The kinds, as kimi-cli names them.
const (
	Command Kind = "bash"
	Agent   Kind = "agent"
)

// Status is how far a task is.
type Status string

// The statuses. The last four are final.
const (
	Running   Status = "running"
	Awaiting  Status = "awaiting_approval" // an agent waits for the user's answer
	Completed Status = "completed"
	Failed    Status = "failed"
	Killed    Status = "killed" // stopped by the model, the user or the session's end
	Lost      Status = "lost"   // the process ended in which it ran
)

// moves holds the legal moves of a task. It never changes.
var moves = map[Status][]Status{
	Running:  {Awaiting, Completed, Failed, Killed, Lost},
	Awaiting: {Running, Completed, Failed, Killed, Lost},
}

// Over tells whether a task with that status has ended.
func (s Status) Over() bool { return s != Running && s != Awaiting }

func (s Status) allows(next Status) bool { return slices.Contains(moves[s], next) }

// Spec is what a task is started with.
type Spec struct {
	Kind        Kind   `json:"kind"`
	Description string `json:"description"`           // a few words for people
	Command     string `json:"command,omitempty"`     // the command line of a Command
	AgentID     string `json:"agent_id,omitempty"`    // of an Agent
	AgentType   string `json:"agent_type,omitempty"`  // of an Agent
	ToolCall    string `json:"tool_call_id"`          // the call that started it
	Dir         string `json:"working_dir,omitempty"` // where a Command runs
}

// Task is a task as it was when it was asked for.
type Task struct {
	Spec
	ID       string    `json:"id"`
	Status   Status    `json:"status"`
	Started  time.Time `json:"started_at"`
	Ended    time.Time `json:"ended_at,omitzero"` // of a lost one: when it was last known to run
	ExitCode *int      `json:"exit_code,omitempty"`
	TimedOut bool      `json:"timed_out,omitempty"`
	Reason   string    `json:"reason,omitempty"` // why it failed, was stopped or is lost
	Printed  int64     `json:"printed"`          // bytes; more than are kept of long outputs
	Told     bool      `json:"told"`             // the model knows how it ended
}

// Ending is what a task came to. The zero value is success.
type Ending struct {
	ExitCode *int
	TimedOut bool
	// Failure is why the task failed, "" when it did not.
	Failure string
}
