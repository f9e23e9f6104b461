package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/background"
	"kimi-acp/soul/wire"
)

const agentName = "Agent"

//go:embed agent.md
var agentDescription string

// AgentType is a kind of agent that a model can start.
type AgentType struct {
	Name     string
	When     string   // when it is the right one, for the model
	Role     string   // what it is told of itself
	Tools    []string // by name; nil: all that agents may have
	Model    string   // the id of its model; "": that of the session
	ReadOnly bool     // it changes nothing; see Caller
	System   string   // what it is told in place of the session's system prompt; "": that
}

// Agents runs the agents of a session. Calls may run side by side.
type Agents interface {
	// Run runs an agent until it has answered. What goes wrong is in the report, also
	// that ctx ended, together with what the agent had found by then.
	Run(ctx context.Context, j AgentJob) AgentReport
	// Detach starts an agent that goes on after the call. The error says why it was not
	// started.
	Detach(ctx context.Context, j AgentJob) (background.Task, AgentReport, error)
}

// AgentJob is what an agent is to do.
type AgentJob struct {
	Call    string // the id of the tool call
	What    string // in a few words, for people
	Prompt  string
	Type    string // of AgentType; ignored with Resume
	Model   string // the id of a model; "": that of the type
	Resume  string // the id of an agent that goes on; "": a new one begins
	Timeout time.Duration
	Brief   bool // a short answer is as good as a long one
}

// AgentReport is what came of an agent.
type AgentReport struct {
	AgentID string // "": there is none
	Type    string
	Resumed bool
	Text    string // its answer; of one that failed what it had said last
	Err     error  // why it failed; nil: it did not
}

// NewAgent makes the tool that starts agents of the types.
func NewAgent(types []AgentType) Tool {
	var list strings.Builder
	names := make([]any, 0, len(types))
	for _, t := range types {
		names = append(names, t.Name)
		fmt.Fprintf(&list, "- %s: %s\n", t.Name, t.When)
	}
	return Define(Definition[agentArguments]{
		Name:        agentName,
		Description: agentDescription + "\nThe types:\n" + strings.TrimRight(list.String(), "\n"),
		Effect:      Waits,
		Defaults:    agentArguments{Type: usualType(types)},
		Refine: func(a map[string]*jsonschema.Schema) {
			a["description"].MinLength = jsonschema.Ptr(1)
			a["description"].MaxLength = jsonschema.Ptr(maxTaskText)
			a["prompt"].MinLength = jsonschema.Ptr(1)
			a["subagent_type"].Enum = names
			a["timeout"].Minimum = jsonschema.Ptr(30.0)
			a["timeout"].Maximum = jsonschema.Ptr(3600.0)
		},
		Run: agent,
	})
}

// usualType is the type of an agent of which nobody said it: coder, where there is one.
func usualType(types []AgentType) string {
	usual := "coder"
	if !slices.ContainsFunc(types, func(t AgentType) bool { return t.Name == usual }) && len(types) > 0 {
		return types[0].Name
	}
	return usual
}

type agentArguments struct {
	What    string `json:"description" jsonschema:"What the agent is for, in a few words."`
	Prompt  string `json:"prompt" jsonschema:"What it is to do, with all that it has to know."`
	Type    string `json:"subagent_type,omitempty" jsonschema:"The type of the agent."`
	Model   string `json:"model,omitempty" jsonschema:"The id of the model it uses; left out: the usual one."`
	Resume  string `json:"resume,omitempty" jsonschema:"The agent_id of an agent that is to go on, with all that it knows."`
	Detach  bool   `json:"run_in_background,omitempty" jsonschema:"Let it go on beside the conversation, and get a task id at once."`
	Timeout *int   `json:"timeout,omitempty" jsonschema:"Seconds after which it has to stop and say what it found; left out: 900 in the background, else no limit."`
}

// defaultAgentTimeout bounds an agent in the background of which nobody said how long.
const defaultAgentTimeout = 15 * time.Minute

var errNoAgents = errors.New("agents cannot be started in this session")

func agent(ctx context.Context, c *Invocation, in agentArguments) wire.ToolReturnValue {
	agents := c.executor.startsAgents()
	if agents == nil {
		return Failed(ctx, errNoAgents)
	}
	c.Progress(true, "", nil)
	job := AgentJob{Call: c.ID, What: strings.TrimSpace(in.What), Prompt: in.Prompt, Type: in.Type, Model: in.Model, Resume: in.Resume}
	if in.Timeout != nil {
		job.Timeout = time.Duration(*in.Timeout) * time.Second
	}
	if in.Detach {
		if job.Timeout == 0 {
			job.Timeout = defaultAgentTimeout
		}
		task, report, err := agents.Detach(ctx, job)
		if err != nil {
			return Failed(ctx, err)
		}
		v := started(task, "You are told when it is done, with its answer. Go on with other work.")
		v.Output.Text += agentLines(report, in.Type)
		return v
	}
	return agentResult(agents.Run(ctx, job), in.Type)
}

// agentLines names an agent, a line for each thing, as kimi-cli does.
func agentLines(r AgentReport, asked string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "agent_id: %s\nresumed: %t\n", r.AgentID, r.Resumed)
	if r.Type != asked {
		fmt.Fprintf(&s, "requested_subagent_type: %s\n", asked)
	}
	fmt.Fprintf(&s, "actual_subagent_type: %s\n", r.Type)
	return s.String()
}

func agentResult(r AgentReport, asked string) wire.ToolReturnValue {
	if r.AgentID == "" {
		return failure(sentence(r.Err.Error()), "")
	}
	if r.Err == nil {
		return wire.ToolReturnValue{
			Output:  wire.Output{Text: agentLines(r, asked) + "status: completed\n\n[summary]\n" + r.Text},
			Message: "The agent is done.",
		}
	}
	v := failure("The agent did not finish: "+sentence(r.Err.Error())+" What it did stays done. Resume it with its agent_id to have it go on; it knows what it did.", "Not finished: "+r.Err.Error())
	v.Output.Text = agentLines(r, asked) + "status: failed\n"
	if r.Text != "" {
		v.Output.Text += "\n[what it had said last]\n" + r.Text
	}
	return v
}

// UseAgents has the Agent tool start agents by a from now on; nil: there are none, and
// Specs does not have the tool.
func (e *Executor) UseAgents(a Agents) {
	e.agentsLock.Lock()
	defer e.agentsLock.Unlock()
	e.agents = a
}

func (e *Executor) startsAgents() Agents {
	e.agentsLock.Lock()
	defer e.agentsLock.Unlock()
	return e.agents
}
