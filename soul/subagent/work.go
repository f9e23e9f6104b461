package subagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"kimi-acp/soul"
	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// An answer of fewer characters than this is asked for once more, since it is all that
// the caller gets.
const minAnswer = 200

// sayMore is what an agent is told when its answer is short.
const sayMore = "Your answer is all that reaches the one who started you. If it says all that matters, repeat it; else give it again with what is missing: findings, files and lines, what was changed, what is open."

// Run runs an agent; see tool.Agents.
func (c *Crew) Run(ctx context.Context, j tool.AgentJob) tool.AgentReport {
	if err := c.enter(ctx); err != nil {
		return tool.AgentReport{Err: errors.New("it was interrupted before it had begun")}
	}
	defer c.leave()
	m, err := c.find(j)
	if err != nil {
		return tool.AgentReport{Err: err}
	}
	defer c.letGo(m)
	defer m.bus.Attach(wire.Merged, &forwarder{bus: c.opts.Wire, call: j.Call, caller: c.caller(m)})()
	m.bus.HandleTools(c.opts.Executor.For(c.caller(m), toolsOf(m.kind)))
	return c.work(ctx, m, j)
}

// Detach starts an agent in the background; see tool.Agents.
func (c *Crew) Detach(ctx context.Context, j tool.AgentJob) (background.Task, tool.AgentReport, error) {
	if c.opts.Tasks == nil {
		return background.Task{}, tool.AgentReport{}, errors.New("no agent can go on in the background in this session; start it in the foreground")
	}
	m, err := c.find(j)
	if err != nil {
		return background.Task{}, tool.AgentReport{}, err
	}
	names := tool.AgentReport{AgentID: m.id, Type: m.kind.Name, Resumed: m.resumed}
	started := make(chan string, 1)
	spec := background.Spec{Kind: background.Agent, Description: j.What, AgentID: m.id, AgentType: m.kind.Name, ToolCall: j.Call}
	task, err := c.opts.Tasks.Start(ctx, spec, func(ctx context.Context, out io.Writer) background.Ending {
		defer c.letGo(m)
		caller := c.caller(m)
		caller.TaskID = <-started
		caller.Waiting = func(waits bool) { c.opts.Tasks.Await(caller.TaskID, waits) }
		defer m.bus.Attach(wire.Merged, &transcript{out: out})()
		m.bus.HandleTools(c.opts.Executor.For(caller, toolsOf(m.kind)))
		report := c.work(ctx, m, j)
		if report.Err == nil {
			return background.Ending{}
		}
		return background.Ending{Failure: report.Err.Error(), TimedOut: errors.Is(report.Err, errTime)}
	})
	if err != nil {
		c.letGo(m)
		return background.Task{}, tool.AgentReport{}, err
	}
	started <- task.ID
	return task, names, nil
}

func (c *Crew) caller(m *member) tool.Caller {
	return tool.Caller{AgentID: m.id, Type: m.kind.Name, What: m.what, ReadOnly: m.kind.ReadOnly}
}

var (
	errTime        = errors.New("its time was over")
	errInterrupted = errors.New("it was interrupted")
)

// work runs one turn of an agent, and has it answer.
func (c *Crew) work(ctx context.Context, m *member, j tool.AgentJob) (report tool.AgentReport) {
	report = tool.AgentReport{AgentID: m.id, Type: m.kind.Name, Resumed: m.resumed}
	limited, stop := ctx, context.CancelFunc(func() {})
	if j.Timeout > 0 {
		limited, stop = context.WithTimeout(ctx, j.Timeout)
	}
	defer stop()
	c.tellStart(limited, m, j.Prompt)
	defer func() { c.tellStop(m, report.Text) }()
	out, err := m.soul.Run(limited, soul.Input{Parts: []llm.Part{llm.Text(j.Prompt)}})
	switch {
	case ctx.Err() != nil:
		report.Err = errInterrupted
	case limited.Err() != nil:
		report.Err = errTime
		c.conclude(ctx, m, soul.BudgetOut)
	case err != nil:
		report.Err = fmt.Errorf("its model failed: %w", err)
	default:
		report.Err = c.ended(ctx, m, j, out)
	}
	if report.Text = m.soul.LastWords(); report.Text == "" && report.Err == nil {
		report.Err = errors.New("it gave no answer")
	}
	return report
}

// ended does what is still to do when a turn has ended, and says what the agent lacks.
func (c *Crew) ended(ctx context.Context, m *member, j tool.AgentJob, out soul.Outcome) error {
	switch out.Stop {
	case soul.StopMaxSteps: // it has said how far it came
		return fmt.Errorf("it used up its %d steps", out.Steps)
	case soul.StopMaxTokens:
		return errors.New("its answer was cut off at the model's limit")
	case soul.StopRefusal:
		return errors.New("the provider refused the content")
	}
	if !j.Brief && utf8.RuneCountInString(m.soul.LastWords()) < minAnswer {
		c.conclude(ctx, m, sayMore)
	}
	return nil
}

// conclude has an agent answer once more. Without it, what it said last counts.
func (c *Crew) conclude(ctx context.Context, m *member, ask string) {
	if _, err := m.soul.Conclude(ctx, ask); err != nil {
		c.opts.Logger.Info("an agent gave no last answer", "agent", m.id, "error", err)
	}
}

// encode and decode are the form in which a meta is kept.
func encode(m meta) json.RawMessage {
	data, err := json.Marshal(m)
	if err != nil {
		return json.RawMessage(`{}`) // strings can always be encoded
	}
	return data
}

func decode(data json.RawMessage) (m meta) {
	_ = json.Unmarshal(data, &m) // what is no meta names no type, which is said then
	return m
}
