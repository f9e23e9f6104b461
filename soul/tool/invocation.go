package tool

import (
	"context"
	"encoding/json"
	"errors"

	"kimi-acp/fileop"
	"kimi-acp/fileop/facts"
	"kimi-acp/internal/proc"
	"kimi-acp/internal/uuid"
	"kimi-acp/soul/wire"
)

// Invocation is one call of a tool, and what the tool may ask of the Executor
// around it. It serves the goroutine that runs the tool.
type Invocation struct {
	ID        string          // the tool call's
	Name      string          // the tool's
	Arguments json.RawMessage // a JSON object, as the model sent it

	executor *Executor
	caller   *Caller // nil: the agent that the user talks to
	reading  bool    // it holds a reader's place
	// granted holds what was approved in this call, bound to the very bytes: what is
	// written or run has to be in here, or allowed by the rules at that moment.
	granted map[fileop.Digest]bool
	askedIn facts.Folder // the working directory when a command was judged last
	detach  bool         // commands are meant to outlive the call
}

// Progress tells those who watch how the call fares. Running is false while it
// waits for approval.
func (c *Invocation) Progress(running bool, output string, files []wire.FileChange) {
	c.executor.progress(wire.ToolProgress{ToolCallID: c.ID, Name: c.Name, Running: running, Output: output, Files: files})
}

// Approve asks for an action, unless the mode or an answer for the session decides
// about it. It returns nil for yes, an error for no, and ctx's error when ctx ended
// first; Failed turns both into results.
func (c *Invocation) Approve(ctx context.Context, a Action) error {
	if a.Key == "" {
		a.Scope = ""
	}
	request := wire.ApprovalRequest{
		ID:          uuid.New(),
		ToolCallID:  c.ID,
		Sender:      c.Name,
		Action:      a.Name,
		Description: a.Description,
		Display:     a.Display,
		Files:       a.Files,
		Scope:       a.Scope,
	}
	c.caller.source(&request)
	err := c.executor.approvals.ask(ctx, request, a, c.caller.waits)
	if err == nil && a.Bound != (fileop.Digest{}) {
		if c.granted == nil {
			c.granted = map[fileop.Digest]bool{}
		}
		c.granted[a.Bound] = true
	}
	return err
}

// Read gives a file as the user sees it, a notebook as its cells.
func (c *Invocation) Read(ctx context.Context, path string) (fileop.Snapshot, error) {
	s, err := c.executor.operator.Read(ctx, path)
	if err != nil {
		return s, err
	}
	c.executor.seen.note(s.Path, s.Text)
	if fileop.IsNotebook(s.Path) {
		if cells, err := fileop.Notebook(s.Text); err == nil { // else it is shown as it is
			s.Text = cells
		}
	}
	return s, nil
}

// ReadWindow gives some lines of a file as the user sees it.
func (c *Invocation) ReadWindow(ctx context.Context, path string, first, n int) (fileop.Window, error) {
	if fileop.IsNotebook(path) {
		s, err := c.Read(ctx, path)
		if err != nil {
			return fileop.Window{}, err
		}
		return s.Lines(first, n), nil
	}
	return c.executor.operator.ReadWindow(ctx, path, first, n)
}

// Ask puts questions to the user and waits for the answers. errNoQuestions: there
// is no way to.
func (c *Invocation) Ask(ctx context.Context, questions []wire.Question) (wire.QuestionAnswers, error) {
	if c.executor.questioner == nil {
		return nil, errNoQuestions
	}
	return c.executor.questioner.Ask(ctx, wire.QuestionRequest{ID: uuid.New(), ToolCallID: c.ID, Questions: questions})
}

var errNoQuestions = errors.New("questions cannot be shown to the user in this session")

var errNoRunner = errors.New("commands cannot be run in this session")

// Command asks for a command where the rules say so, runs it in the working directory
// once no other change is under way, and tells of its output. An approval is for
// exactly this command: when the rules have come to ask for it while it waited, it is
// asked for then. Errors besides the Runner's are those of Approve, or that the rules
// deny it. What the command changes is journaled; note says what of it cannot be, once.
func (c *Invocation) Command(ctx context.Context, cmd proc.Command) (out proc.Outcome, note string, err error) {
	e := c.executor
	if e.runner == nil {
		return proc.Outcome{}, "", errNoRunner
	}
	cmd.ID, cmd.Dir = c.ID, e.cwd
	if err := c.changeOnceAllowed(ctx, func() error { return c.approveCommand(ctx, cmd) }, func() bool { return c.commandStands(cmd) }); err != nil {
		return proc.Outcome{}, "", err
	}
	defer func() { e.changes.leaveAfter(out.Gone) }() // nothing else is changed while it may still write
	if err := e.allows(Runs); err != nil {
		return proc.Outcome{}, "", err
	}
	c.Progress(true, "", nil)
	var watch commandWatch
	if e.journal != nil && !e.guard.looks(cmd.Shell) {
		watch = e.journal.watch(ctx, c)
	}
	cmd.Output = func(snapshot string) { c.Progress(true, snapshot, nil) }
	out, err = e.runner.Run(ctx, cmd)
	return out, watch.end(ctx, out), err
}

// askings is how often a change is asked for whose circumstances change while it
// waits for others.
const askings = 3

// changeOnceAllowed takes the place of changes for one that was approved, and
// that is still approved or allowed when it is its turn. Nil is followed by one
// leave.
func (c *Invocation) changeOnceAllowed(ctx context.Context, approve func() error, stands func() bool) error {
	for range askings {
		if err := approve(); err != nil {
			return err
		}
		if err := c.executor.changes.enter(ctx); err != nil {
			return err
		}
		if stands() {
			return nil
		}
		c.executor.changes.leave()
	}
	return errors.New("what stands on the disk changed again and again while this waited for its turn, so nothing was done")
}

// Todo is the session's to-do list.
func (c *Invocation) Todo() *TodoList { return c.executor.todo }
