package wireserver

import (
	"context"
	"encoding/json"
	"errors"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/wire"
)

// envelope is a message as the params of an event or a request.
type envelope struct{ message wire.Message }

// AppendJSON appends type and payload. What cannot be encoded was not sent by a soul of
// ours; it appends nothing then, which refuses the message.
func (e envelope) AppendJSON(dst []byte) []byte {
	dst, _ = wire.AppendJSON(dst, e.message)
	return dst
}

// forward sends the client what the Wire carries. A client that reads slowly slows the
// soul; one that is gone is no reason to stop.
func (s *server) forward(m wire.Message) {
	if wire.Local(m) {
		return
	}
	r, ok := m.(wire.Request)
	if !ok {
		if a, answered := m.(wire.ApprovalResponse); answered {
			s.forget(a.RequestID) // perhaps by somebody else
		}
		s.failed(s.conn.Notify("event", envelope{m}))
		return
	}
	id := jsonrpc.StringID(r.RequestID())
	p, err := s.conn.StartAs(id, "request", envelope{m})
	if err != nil {
		s.failed(err)
		s.answer(r, nil, err)
		return
	}
	s.mu.Lock()
	s.open[r.RequestID()] = p
	s.mu.Unlock()
	s.tasks.Go(func() {
		result, err := p.Wait(context.Background())
		s.forget(r.RequestID())
		s.answer(r, result, err)
	})
}

func (s *server) failed(err error) {
	if err != nil && !errors.Is(err, jsonrpc.ErrClosed) {
		s.log.Error("bug: a message could not be sent", "error", err)
	}
}

// forget gives up waiting for the client's answer.
func (s *server) forget(id string) {
	s.mu.Lock()
	p := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if p != nil {
		p.Forget()
	}
}

// forgetRequests gives up all answers: the turn is over.
func (s *server) forgetRequests() {
	s.mu.Lock()
	open := s.open
	s.open = map[string]*jsonrpc.Pending{}
	s.mu.Unlock()
	for _, p := range open {
		p.Forget()
	}
}

// record writes down what the turn's own Wire carries in kimi-cli; approvals go another
// way there.
func (s *server) record(m wire.Message) {
	switch m.(type) {
	case wire.ApprovalRequest, wire.ApprovalResponse:
		return
	}
	s.opts.Kept.Wire().Receive(m)
}

// answer resolves a request with what the client said. Every request gets an answer,
// whatever came.
func (s *server) answer(r wire.Request, result json.RawMessage, err error) {
	if errors.Is(err, jsonrpc.ErrForgotten) {
		return // it was answered
	}
	switch r := r.(type) {
	case wire.ApprovalRequest:
		a, feedback := approvalAnswer(result, err)
		s.wire.ResolveApproval(r.ID, a, feedback)
	case wire.QuestionRequest:
		s.wire.ResolveQuestion(r.ID, questionAnswers(result, err))
	case wire.ToolCallRequest:
		s.wire.ResolveTool(r.ID, toolAnswer(result, err))
	case wire.HookRequest:
		s.wire.ResolveHook(r.ID, hookAnswer(result, err))
	}
}
