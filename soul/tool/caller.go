package tool

import (
	"context"
	"errors"
	"slices"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Caller is an agent that calls tools in a session, beside the one that the user talks
// to. Who asks the user for something on its account says so.
type Caller struct {
	AgentID string
	Type    string // its type, such as "explore"
	What    string // what it is there for, in a few words
	TaskID  string // its task in the background; "": the call that started it waits for it
	// ReadOnly says that it only looks: of commands it may run those that are known to
	// change nothing.
	ReadOnly bool
	// Waiting, if not nil, is told when the agent begins and ends to wait for the user.
	Waiting func(bool)
}

// CallID is the id by which a session knows a call that an agent gave an id: agents do
// not know each other's.
func (c Caller) CallID(id string) string { return c.AgentID + "/" + id }

// For gives the tools of the names as an agent may call them; tools that the Executor
// does not have are left out.
func (e *Executor) For(c Caller, names []string) *AgentTools {
	return &AgentTools{executor: e, caller: c, names: names}
}

// AgentTools are the tools that an agent may call. It is a wire.ToolHandler.
type AgentTools struct {
	executor *Executor
	caller   Caller
	names    []string
}

// Has reports whether the agent has a tool of that name.
func (a *AgentTools) Has(name string) bool {
	return slices.Contains(a.names, name) && a.executor.Has(name)
}

// Specs describes the tools to the agent's model; see Executor.Specs.
func (a *AgentTools) Specs() []llm.ToolSpec {
	return slices.DeleteFunc(a.executor.Specs(), func(s llm.ToolSpec) bool { return !a.Has(s.Name) })
}

// CallTool runs one call; see Executor.CallTool.
func (a *AgentTools) CallTool(ctx context.Context, req wire.ToolCallRequest) wire.ToolReturnValue {
	if !a.Has(req.Name) {
		return failure("Tool `"+req.Name+"` not found", "")
	}
	req.ID = a.caller.CallID(req.ID)
	v := a.executor.call(ctx, req, &a.caller)
	if v.Rejected { // it is the agent's to find another way, not to stop the turn
		v.Message = "The user rejected this call, and nothing was done. Do not repeat it or try to reach the same by other means; do what is still useful, and say in your answer what was rejected."
		v.Rejected = false
	}
	return v
}

// source says in a request to the user who asks.
func (c *Caller) source(r *wire.ApprovalRequest) {
	if c == nil {
		return
	}
	kind, id := "foreground_turn", c.AgentID
	if c.TaskID != "" {
		kind, id = "background_agent", c.TaskID
	}
	r.SourceKind, r.SourceID, r.AgentID, r.SubagentType = &kind, &id, &c.AgentID, &c.Type
	if c.What != "" {
		what := c.Type + " (" + c.What + ")"
		r.SourceDescription = &what
	}
}

// waits tells that the agent begins to wait for the user, and gives what ends that.
func (c *Caller) waits() (over func()) {
	if c == nil || c.Waiting == nil {
		return func() {}
	}
	c.Waiting(true)
	return func() { c.Waiting(false) }
}

var (
	errOnlyLooks = errors.New("this agent only looks: it may run commands that are known to change nothing, such as git log, and no others. Say in your answer what would have to be run")
	errNoDetach  = errors.New("an agent's commands do not go on in the background; run the command in the foreground")
)
