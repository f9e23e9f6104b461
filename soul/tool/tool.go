package tool

import (
	"context"

	"kimi-acp/fileop"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Effect says what running a tool can change.
type Effect uint8

// The effects, from the mildest.
const (
	ReadOnly Effect = iota + 1 // changes nothing of the user's and asks for nothing
	Edits                      // changes files, through Invocation.Edit
	Runs                       // runs commands, which may change anything
)

// Tool is something that a model may call.
type Tool interface {
	// Spec describes the tool to the model. It gives equal bytes each time, which
	// nobody may change.
	Spec() llm.ToolSpec
	// Effect says what a run can change. It never varies.
	Effect() Effect
	// Run serves one call and may be called by several goroutines at once. All
	// that goes wrong is a result for the model; when ctx ends, Run returns soon
	// and says what was done by then.
	Run(ctx context.Context, c *Invocation) wire.ToolReturnValue
}

// Operator is the way to the user's files; *fileop.Operator is one. Calls may run
// side by side. Error texts are written for the model. When ctx ends, a call
// returns soon, and a Commit that has not replaced the file changes nothing.
type Operator interface {
	// Resolve gives the absolute path that a tool's argument means, or says why
	// it may not be used.
	Resolve(path string) (string, error)
	// Read gives a file as the user sees it.
	Read(ctx context.Context, path string) (fileop.Snapshot, error)
	// Plan computes an edit and changes nothing.
	Plan(ctx context.Context, e fileop.Edit) (fileop.Change, error)
	// Commit carries out a planned change, or fails with fileop.ErrStale when the
	// file is no longer what it was planned on.
	Commit(ctx context.Context, c fileop.Change) (fileop.Result, error)
}

// Runner runs commands; *proc.Runner is one. Calls may run side by side. An
// error means that the command could not be started, or is ctx's error, and then
// the outcome holds what was printed until the command was stopped. Output of
// the command is not called after Run has returned.
type Runner interface {
	Run(ctx context.Context, c proc.Command) (proc.Outcome, error)
}

// Asker puts approvals before the user; *wire.Wire is one. Calls may run side by
// side.
type Asker interface {
	// Approve waits for the answer to r, without a time limit. An error means that
	// there is none: ctx ended, or nobody could be asked.
	Approve(ctx context.Context, r wire.ApprovalRequest) (wire.ApprovalResponse, error)
	// ResolveApproval answers a request that Approve waits on, in the user's
	// place. It is false when no such request is open.
	ResolveApproval(id string, a wire.Approval, feedback string) bool
}
