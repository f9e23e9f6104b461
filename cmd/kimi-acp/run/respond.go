package run

import (
	"context"
	"errors"

	"kimi-acp/soul/wire"
)

const nobodyAnswer = "nobody is there to answer. Go on without it, and say at the end what was left undone."

var errNobody = errors.New("nobody is there to answer")

// responder answers the requests on a Wire, one at a time.
type responder struct {
	bus        *wire.Wire
	person     Person          // nil: nobody
	granted    map[string]bool // what was approved for the session, see coverage
	unanswered int
}

// receive answers a request before anything else is shown: what a person is asked
// at a terminal must not be torn apart by what happens meanwhile.
func (r *responder) receive(ctx context.Context, m wire.Message) {
	switch m := m.(type) {
	case wire.ApprovalRequest:
		answer, feedback := r.approval(ctx, m)
		r.bus.ResolveApproval(m.ID, answer, feedback)
	case wire.QuestionRequest:
		r.bus.ResolveQuestion(m.ID, r.person.Answer(ctx, m.Questions)) // asked of a person only
	}
}

func (r *responder) approval(ctx context.Context, m wire.ApprovalRequest) (wire.Approval, string) {
	if r.granted[coverage(m)] {
		return wire.ApprovalApprove, ""
	}
	answer, feedback, err := wire.ApprovalReject, "", errNobody
	if r.person != nil {
		answer, feedback, err = r.person.Approve(ctx, m)
	}
	switch {
	case ctx.Err() != nil:
		return wire.ApprovalReject, ""
	case err != nil:
		r.unanswered++
		return wire.ApprovalReject, nobodyAnswer
	case answer == wire.ApprovalApproveForSession && m.Scope != "":
		r.granted[coverage(m)] = true
	}
	return answer, feedback
}

// coverage is what an answer for the session covers, as far as a request tells. The
// Executor knows exactly and asks no more once it has the answer; but calls that
// run side by side have asked before that, and would ask again.
func coverage(m wire.ApprovalRequest) string {
	key := m.Action + "\n" + m.Scope
	if len(m.Files) == 0 {
		key += "\n" + m.Description
	}
	return key
}
