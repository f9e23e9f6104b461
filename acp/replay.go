package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	store "kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// replay shows the recording of a session as the view showed it when it happened: the
// same messages, ids and ends of tool calls. It asks nothing, runs nothing and sends
// no notices. With silent nothing is sent at all, and the view only learns what the
// editor has seen.
func (s *session) replay(kept *store.Session, silent bool) error {
	v := s.view
	v.silent, v.calls.silent = silent, silent
	defer func() { v.silent, v.calls.silent = false, false }()
	var usage *wire.StatusUpdate
	for m, err := range kept.Replay() {
		var gap *store.GapError
		switch {
		case errors.As(err, &gap):
			s.agent.log.Warn("a part of a session cannot be shown", "session", s.id, "unknown", gap.Unknown, "unreadable", gap.Unreadable)
			continue
		case err != nil:
			return fmt.Errorf("showing the session: %w", err)
		}
		switch m := m.(type) {
		case wire.TurnBegin:
			v.endTurn() // of a turn that was cut off
			v.Receive(m)
			s.replayPrompt(kept, m.UserInput)
		case wire.TurnEnd:
			v.endTurn()
		case wire.StepBegin, wire.ContentPart, wire.ToolCall, wire.ToolCallPart, wire.CompactionBegin, wire.CompactionEnd:
			v.Receive(m)
		case wire.SubagentEvent:
			s.replayNested(kept, m)
		case wire.StepRetry:
			v.again(m)
		case wire.ToolResult:
			s.replayResult(kept, m)
		case wire.StatusUpdate:
			usage = &m
		}
	}
	v.endTurn()
	if plan := soul.PlanFrom(s.executor.Plan()); !v.shows(plan) {
		v.showPlan(plan) // what took turns back has changed it
	}
	if usage != nil {
		v.usage(*usage)
	}
	return nil
}

// shows tells whether the plan that is shown says the same as another one.
func (v *view) shows(plan soul.AgentPlan) bool {
	return slices.EqualFunc(v.planned, plan.Steps, func(e planEntry, s soul.PlanStep) bool {
		return e.Content == s.Title && e.Status == planStatus(s.State)
	})
}

// replayResult shows a result with what is kept beside it.
func (s *session) replayResult(kept *store.Session, r wire.ToolResult) {
	v := s.view
	id := v.calls.idOf(r.ToolCallID)
	if id == "" {
		return
	}
	var input json.RawMessage
	if !v.silent {
		r.ReturnValue, input = s.complete(kept, id, r.ReturnValue)
	}
	if input != nil {
		v.calls.progress(wire.ToolProgress{ToolCallID: r.ToolCallID, Input: input})
	}
	v.calls.result(r)
	v.plan(r.ReturnValue)
}

// replayNested shows an event of an agent, a result with what is kept beside it.
func (s *session) replayNested(kept *store.Session, e wire.SubagentEvent) {
	r, ok := e.Event.(wire.ToolResult)
	if id := s.view.calls.idOf(r.ToolCallID); ok && id != "" && !s.view.silent {
		r.ReturnValue, _ = s.complete(kept, id, r.ReturnValue)
		e.Event = r
	}
	s.view.nested(e)
}

type userChunk struct {
	SessionUpdate string          `json:"sessionUpdate"`
	Content       json.RawMessage `json:"content"`
	MessageID     string          `json:"messageId"`
}

// replayPrompt shows what the user said, a chunk for each block.
func (s *session) replayPrompt(kept *store.Session, in wire.UserInput) {
	if s.view.silent {
		return
	}
	n := s.view.prompts
	var blocks []json.RawMessage
	kept.Aside(promptKey(n), &blocks)
	parts := in.Parts
	if parts == nil {
		parts = []llm.Part{llm.Text(in.Text)}
	}
	id := fmt.Sprintf("user-%d", n)
	for i, p := range parts {
		var block any
		if i < len(blocks) && len(blocks) == len(parts) && kindOf(blocks[i]) == "an object" {
			block = blocks[i]
		} else {
			block = blockOf(p)
		}
		raw, err := json.Marshal(block)
		if err != nil {
			continue // a block came as JSON, and everything else can be encoded
		}
		s.update(userChunk{SessionUpdate: "user_message_chunk", Content: raw, MessageID: id})
	}
}

type imageBlock struct {
	Type     string `json:"type"`
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"`
}

// blockOf makes the block that a part was made from.
func blockOf(p llm.Part) any {
	switch p.Type {
	case llm.PartText:
		return textBlock{Type: "text", Text: p.Text}
	case llm.PartThink:
		return textBlock{Type: "text", Text: p.Think}
	}
	head, data, ok := strings.Cut(p.Media.URL, ";base64,")
	if mime, isData := strings.CutPrefix(head, "data:"); ok && isData && strings.HasPrefix(mime, "image/") {
		return imageBlock{Type: "image", Data: data, MIMEType: mime}
	}
	if len(p.Media.URL) > maxEcho {
		return textBlock{Type: "text", Text: fmt.Sprintf("[%s]", p.Type)}
	}
	return textBlock{Type: "text", Text: fmt.Sprintf("[%s: %s]", p.Type, p.Media.URL)}
}

// absolute makes a recorded path one that editors take.
func (s *session) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.roots[0], path)
}

// catchUp learns, before the first prompt of a session that was resumed, what was
// shown in it, so that no id is given twice.
func (s *session) catchUp() {
	kept := s.file()
	if !s.unread || kept == nil {
		return
	}
	s.unread = false
	if err := s.replay(kept, true); err != nil {
		s.agent.log.Warn("what a session has shown is not known", "session", s.id, "error", err)
	}
}
