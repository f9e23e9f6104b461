package acp

import (
	"context"

	"kimi-acp/soul"
	"kimi-acp/soul/background"
	"kimi-acp/soul/wire"
)

// openTasks makes the place for what goes on beside the conversation. It starts nothing.
func (s *session) openTasks() {
	s.tasks = background.New(background.Options{Ended: s.taskEnded, Logger: s.agent.log})
}

// endTasks ends what goes on, and waits for that.
func (s *session) endTasks() {
	if s.tasks != nil { // else the session could not be made
		s.tasks.Close()
	}
}

// taskEnded tells an editor that takes notices at once of work in the background that
// is over. Others, and the model, hear of it in the turn that runs or with the next
// prompt, since nothing else may be sent between turns.
func (s *session) taskEnded(t background.Task) {
	if !s.client.notices || s.state.State() == soul.SessionActive {
		return
	}
	n := soul.TaskNotification(t)
	s.tasks.Showed(t.ID)
	s.update(newNotice(n.Severity, n.Title, n.Body))
}

// fromBackground tells whether an agent in the background asks. What it asks outlives
// the turn.
func fromBackground(r wire.ApprovalRequest) bool {
	return r.SourceKind != nil && *r.SourceKind == "background_agent"
}

// beginAsking has the editor asked in a turn also for agents in the background, first
// for what waits; the function that it gives ends that.
func (s *session) beginAsking(t *turn) (end func()) {
	s.mu.Lock()
	s.asksIn = t
	s.mu.Unlock()
	for _, r := range s.wire.Pending() {
		if a, ok := r.(wire.ApprovalRequest); ok && fromBackground(a) {
			s.askForBackground(a)
		}
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asksIn = nil
	}
}

// askForBackground asks the editor for an agent in the background, within the turn that
// runs. What is not answered by its end is asked in the next; without a turn the editor
// is only told that somebody waits.
func (s *session) askForBackground(r wire.ApprovalRequest) {
	s.mu.Lock()
	t, asked := s.asksIn, s.asks[r.ID] != nil
	var ctx context.Context
	if t != nil && !asked {
		ctx, s.asks[r.ID] = context.WithCancel(t.asking)
		t.asks.Add(1)
	}
	s.mu.Unlock()
	switch {
	case asked:
		return
	case t == nil:
		if s.client.notices {
			s.update(newNotice("warning", asker(r)+" waits in the background for your answer", "You are asked with your next prompt."))
		}
		return
	}
	pending, err := s.requestPermission(r)
	if err != nil { // the connection is over
		s.settled(r.ID)
		t.asks.Done()
		return
	}
	go func() { // run waits for it
		defer t.asks.Done()
		defer s.settled(r.ID)
		raw, err := pending.Wait(ctx)
		result, _ := object(raw)
		switch {
		case t.asking.Err() != nil && err != nil, err == nil && result.sub("outcome").optionalText("outcome") == "cancelled":
			return // it is asked in the next turn
		case err == nil:
			s.resolve(r, t, raw)
		case ctx.Err() == nil: // the editor could not answer
			s.wire.ResolveApproval(r.ID, wire.ApprovalReject, "")
		}
		// The call is not followed any further, as the turn may be over before it is.
		s.view.calls.result(wire.ToolResult{ToolCallID: r.ToolCallID, ReturnValue: wire.ToolReturnValue{Message: "Answered. The agent goes on in the background."}})
	}()
}
