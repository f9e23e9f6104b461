package tool

import (
	"context"
	"iter"

	"kimi-acp/fileop"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Effect says what running a tool can change.
type Effect uint8

// The effects, from the mildest.
const (
	ReadOnly Effect = iota + 1 // changes nothing of the user's, and asks only where the rules say so
	Waits                      // changes nothing, and may wait long for what goes on in the background
	Asks                       // changes nothing, and waits for the user
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
	// ReadWindow gives up to n lines of a file from line first on, as the user sees
	// them.
	ReadWindow(ctx context.Context, path string, first, n int) (fileop.Window, error)
	// Plan computes an edit and changes nothing.
	Plan(ctx context.Context, e fileop.Edit) (fileop.Change, error)
	// Commit carries out a planned change, or fails with fileop.ErrStale when the
	// file is no longer what it was planned on.
	Commit(ctx context.Context, c fileop.Change) (fileop.Result, error)
}

// Tree is the user's files on disk as a tree; *fileop.Operator is one. Calls may run
// side by side. When ctx ends, a call returns soon.
type Tree interface {
	// Walk gives what is in a folder and below it, in an order that never varies,
	// see fileop.Disk.Walk.
	Walk(ctx context.Context, path string, o fileop.WalkOptions) iter.Seq2[fileop.Entry, error]
	// Scan reads the files of a folder, several at once, see fileop.Disk.Scan.
	Scan(ctx context.Context, path string, o fileop.ScanOptions) error
}

// Overlay is what lies over the files on disk: the texts that the editor holds.
// *fileop.Operator is one. Calls may run side by side.
type Overlay interface {
	// Known lists the files that the editor may hold another text of.
	Known() []fileop.KnownFile
	// Read gives a file as the user sees it.
	Read(ctx context.Context, path string) (fileop.Snapshot, error)
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

// Questioner puts questions before the user; *wire.Wire is one. Calls may run side
// by side.
type Questioner interface {
	// Ask waits for the answers to r, without a time limit. No answers mean that the
	// user dismissed the questions. An error means that there are none: ctx ended, or
	// nobody could be asked.
	Ask(ctx context.Context, r wire.QuestionRequest) (wire.QuestionAnswers, error)
}
