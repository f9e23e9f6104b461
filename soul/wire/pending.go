package wire

import "slices"

// The answers at a turn's end, in the words of Wire 1.10.
const (
	hookAllow        = "allow"
	turnEndedMessage = "Agent turn ended before tool result was received."
	turnEndedBrief   = "Turn ended"
)

// pending is a request that waits for its answer. Whoever takes it off
// Wire.requests owes it exactly one answer.
type pending struct {
	request   Request
	published bool     // it goes to the views, or has gone; under Wire.mu
	announced bool     // the event of its answer was sent; under Wire.delivery
	answer    chan any // of capacity 1: ApprovalResponse, QuestionAnswers, ToolReturnValue or HookDecision
}

// Pending lists the published requests that are not answered, oldest first.
func (w *Wire) Pending() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Request
	for _, p := range w.requests {
		if p.published {
			out = append(out, p.request)
		}
	}
	return out
}

// ResolveApproval answers an ApprovalRequest. An Approval that is none of the three
// counts as ApprovalReject. False: the id is unknown or was answered before.
func (w *Wire) ResolveApproval(id string, a Approval, feedback string) bool {
	if a != ApprovalApprove && a != ApprovalApproveForSession {
		a = ApprovalReject
	}
	return resolve[ApprovalRequest](w, id, ApprovalResponse{RequestID: id, Response: a, Feedback: feedback})
}

// ResolveQuestion answers a QuestionRequest; no answers: the user dismissed it.
// False: the id is unknown or was answered before.
func (w *Wire) ResolveQuestion(id string, answers QuestionAnswers) bool {
	return resolve[QuestionRequest](w, id, answers)
}

// ResolveTool answers a ToolCallRequest that was published. False: the id is
// unknown or was answered before.
func (w *Wire) ResolveTool(id string, v ToolReturnValue) bool {
	return resolve[ToolCallRequest](w, id, v)
}

// ResolveHook answers a HookRequest. False: the id is unknown or was answered before.
func (w *Wire) ResolveHook(id string, d HookDecision) bool {
	return resolve[HookRequest](w, id, d)
}

// resolve answers the request R of that id. It never blocks.
func resolve[R Request](w *Wire, id string, answer any) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, p := range w.requests {
		if _, ok := p.request.(R); ok && p.request.RequestID() == id {
			w.requests = slices.Delete(w.requests, i, i+1)
			p.answer <- answer
			return true
		}
	}
	return false
}

// EndTurn answers what is pending, as a turn's end does: approvals are rejected
// (except those of background agents, which outlive the turn), questions are
// dismissed, tool calls fail, hooks allow. The ApprovalResponse events have been
// sent when it returns.
func (w *Wire) EndTurn() {
	w.endRequests(func(r Request) bool {
		a, ok := r.(ApprovalRequest)
		return !ok || a.SourceKind == nil || *a.SourceKind != sourceBackground
	})
}

// sourceBackground is the SourceKind of a background agent's approvals.
const sourceBackground = "background_agent"

// endRequests answers the pending requests that ends picks with their answers at a
// turn's end.
func (w *Wire) endRequests(ends func(Request) bool) {
	var ended []*pending
	w.mu.Lock()
	w.requests = slices.DeleteFunc(w.requests, func(p *pending) bool {
		if !ends(p.request) {
			return false
		}
		ended = append(ended, p)
		return true
	})
	w.mu.Unlock()
	for _, p := range ended {
		answer := turnEndAnswer(p.request)
		if response, ok := answer.(ApprovalResponse); ok {
			w.announce(p, response) // first, so that it precedes what the asker does next
		}
		p.answer <- answer
	}
}

// turnEndAnswer is what a request gets when nobody will answer it any more.
func turnEndAnswer(r Request) any {
	switch r := r.(type) {
	case ApprovalRequest:
		return ApprovalResponse{RequestID: r.ID, Response: ApprovalReject}
	case QuestionRequest:
		return QuestionAnswers{}
	case ToolCallRequest:
		return FailedTool(turnEndedMessage, turnEndedBrief)
	default:
		return HookDecision{Action: hookAllow}
	}
}
