package acp

import (
	"fmt"
	"runtime/debug"
	"unicode/utf8"

	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// view shows what happens on a session's Wire as session updates. The Wire calls
// it with one message at a time, in order; what it sends is queued on the
// connection before it returns, so the order on the Wire is the order that the
// editor sees.
type view struct {
	session *session
	silent  bool        // nothing is sent: what was shown before is only counted
	prompts int         // number of prompts so far
	message int         // number of messages so far; ids are made from it
	notices int         // number of notices that were shown as thoughts; replays have none of them
	text    *chunk      // the message that text goes to, nil: a new one begins
	thought *chunk      // the thought that thinking goes to, nil: a new one begins
	planned []planEntry // the plan that is shown
	answer  *chunk      // the message that the step's text went to last, nil: none since its last call
	broken  *chunk      // the message that broke off and may be gone on with, nil: none
	told    wire.Retelling
	calls   calls

	compactions int  // number of compactions so far; ids are made from it
	compacting  bool // one is under way
}

func newView(s *session) *view {
	return &view{session: s, calls: calls{session: s, open: map[string]*shownCall{}, used: map[string]bool{}}}
}

// Receive shows one message of the Wire. A fault of ours in showing it must not
// take the turn, or the program, with it.
func (v *view) Receive(m wire.Message) {
	defer func() {
		if p := recover(); p != nil {
			v.session.agent.log.Error("bug: a message could not be shown", "session", v.session.id, "type", m.WireType(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			// Nobody will answer what could not be asked.
			switch m := m.(type) {
			case wire.ApprovalRequest:
				v.session.wire.ResolveApproval(m.ID, wire.ApprovalReject, "")
			case wire.QuestionRequest:
				v.session.wire.ResolveQuestion(m.ID, nil)
			}
		}
	}()
	show, superseded := v.told.Receive(m)
	if superseded {
		v.supersede(show)
	}
	switch m := show.(type) {
	case wire.TurnBegin:
		v.text, v.thought, v.answer, v.broken = nil, nil, nil, nil
		v.prompts++
		v.session.keepPrompt(v.prompts)
	case wire.StepBegin:
		v.text, v.thought, v.answer, v.broken = nil, nil, nil, nil
	case wire.ContentPart:
		v.part(m.Part)
	case wire.ToolCall:
		v.text, v.thought, v.answer, v.broken = nil, nil, nil, nil
		v.calls.begin(m.Call)
	case wire.ToolCallPart:
		v.calls.more(m.ArgumentsPart)
	case wire.ToolProgress:
		v.calls.progress(m)
	case wire.ToolResult:
		v.calls.result(m)
		v.plan(m.ReturnValue)
	case wire.SubagentEvent:
		if tool.IsPlanMove(m) {
			v.session.savePlan() // should the program be killed, what is done is known
		}
		v.nested(m)
	case wire.ApprovalRequest:
		v.session.askPermission(m)
	case wire.ApprovalResponse:
		v.session.settled(m.RequestID)
	case wire.QuestionRequest:
		v.session.ask(m, v.calls.idOf(m.ToolCallID))
	case wire.StatusUpdate:
		v.usage(m)
	case wire.StepRetry:
		v.again(m)
		v.retry(m)
	case wire.Notification:
		v.notice(m.Severity, m.Title, m.Body)
	case wire.CompactionBegin:
		v.text, v.thought = nil, nil
		v.compactions++
		v.compacting = true
		v.compaction("in_progress")
	case wire.CompactionEnd:
		v.compacting = false
		v.compaction("completed")
	}
}

// maxChunk bounds the text of one update, in bytes; longer text is split between
// code points, so that no line grows beyond what editors read.
const maxChunk = 256 << 10

func (v *view) part(p llm.Part) {
	var frame **chunk
	var kind, text string
	switch p.Type {
	case llm.PartText:
		frame, kind, text = &v.text, "agent_message_chunk", p.Text
		v.thought = nil
		if v.text == nil {
			v.text, v.broken = v.broken, nil
		}
	case llm.PartThink:
		frame, kind, text = &v.thought, "agent_thought_chunk", p.Think
		v.text = nil
	default:
		return // no editor shows media of the agent yet
	}
	if text == "" {
		return
	}
	if *frame == nil {
		v.message++
		*frame = newChunk(v.session.id, kind, fmt.Sprintf("msg-%d", v.message))
	}
	if v.text != nil {
		v.answer = v.text
	}
	for len(text) > maxChunk {
		cut := maxChunk
		for cut > maxChunk-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		v.chunk((*frame).with(text[:cut]))
		text = text[cut:]
	}
	v.chunk((*frame).with(text))
}

func (v *view) chunk(c chunkText) {
	if !v.silent {
		v.session.send(c)
	}
}

func (v *view) update(u any) {
	if !v.silent {
		v.session.update(u)
	}
}

func (v *view) usage(s wire.StatusUpdate) {
	if s.ContextTokens != nil && s.MaxContextTokens != nil && *s.MaxContextTokens > 0 {
		v.update(usageUpdate{SessionUpdate: "usage_update", Used: *s.ContextTokens, Size: *s.MaxContextTokens})
	}
}

// plan shows the to-do list in a tool's result as the plan.
func (v *view) plan(result wire.ToolReturnValue) {
	if plan, ok := soul.PlanOf(result); ok {
		v.showPlan(plan)
	}
}

func (v *view) showPlan(plan soul.AgentPlan) {
	u := planUpdate{SessionUpdate: "plan", Entries: []planEntry{}}
	for _, step := range plan.Steps {
		u.Entries = append(u.Entries, planEntry{Content: step.Title, Priority: string(step.Priority), Status: planStatus(step.State)})
	}
	v.planned = u.Entries
	v.update(u)
}

func planStatus(s soul.TaskState) string {
	switch s {
	case soul.TaskRunning:
		return "in_progress"
	case soul.TaskCompleted, soul.TaskReviewed:
		return "completed"
	}
	return "pending"
}

// endTurn closes what a turn left open, before its answer goes out.
func (v *view) endTurn() {
	v.calls.abandon()
	if v.compacting { // it was cancelled: otherwise its end is told
		v.compacting = false
		v.compaction("cancelled")
	}
}

// compaction tells editors that take it how the compaction stands.
func (v *view) compaction(status string) {
	if v.session.client.compacts {
		v.update(compactionUpdate{SessionUpdate: "compaction_update", CompactionID: fmt.Sprintf("compaction-%d", v.compactions), Status: status})
	}
}
