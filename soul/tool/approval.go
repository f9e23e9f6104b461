package tool

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"kimi-acp/fileop"
	"kimi-acp/internal/policy"
	"kimi-acp/soul/wire"
)

// Action is something that a tool wants approved before it does it.
type Action struct {
	Name        string // the kind of action, e.g. "edit file"
	Description string // one line for people, e.g. "Edit file `P`"
	// Key is what an answer for the session covers: every action with an equal
	// Key. Empty: an answer covers this action alone.
	Key   string
	Scope string // Key in words, e.g. "edits in this workspace"
	// Rules are those that an answer makes, lines for policy.ParseRules, and Lasts how
	// far they may reach. Empty: the answer holds by Key alone.
	Rules  string
	Lasts  policy.Scope
	Effect Effect // what it would do, which is what modes go by
	Firm   Firmness
	// Bound stands for the bytes that are asked about, see Invocation.granted. Zero:
	// the answer is for one call of Approve.
	Bound   fileop.Digest
	Display []wire.Block
	Files   []wire.FileChange
}

// RejectedError says that an action was not approved.
type RejectedError struct {
	Feedback string // what the user wants instead, may be empty
	Cause    error  // why the user could not be asked; nil: the user answered
}

// Error says who did not approve.
func (e *RejectedError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("no approval could be asked for: %v", e.Cause)
	}
	return "rejected by the user"
}

// Unwrap gives the cause.
func (e *RejectedError) Unwrap() error { return e.Cause }

func (e *RejectedError) result() wire.ToolReturnValue {
	switch {
	case e.Cause != nil:
		return failure(fmt.Sprintf("Nothing was done: this needs the user's approval, and the user could not be asked (%v). Do not try to reach the same by other means.", e.Cause), "Not approved")
	case e.Feedback != "":
		return failure("The user rejected this call, and nothing was done. Do not try to reach the same by other means; go on as the user says: "+e.Feedback, "Rejected: "+shorten(e.Feedback, maxBrief))
	}
	v := failure("The user rejected this call, and nothing was done. Do not try to reach the same by other means; stop here and wait for the user to say how to go on.", "Rejected by user")
	v.Rejected = true
	return v
}

var errNoAsker = errors.New("nobody is there to answer")

// approvals asks the user, and knows what need not be asked: by the mode, and by
// answers that hold for the session. It may be used by several goroutines at once.
type approvals struct {
	asker Asker

	mu      sync.Mutex
	mode    Mode
	lasting []answer                 // in the order in which they were given
	open    map[string]*openApproval // by request id
}

// openApproval is a request that waits for its answer.
type openApproval struct {
	action Action
	cancel context.CancelFunc // ends the wait of a request that the Asker cannot answer
	// settled is what a new mode said last while the request was open; verdictAsk:
	// nothing. What the user has answered before that stands, unless it is refused.
	settled verdict
}

func newApprovals(asker Asker) *approvals {
	return &approvals{asker: asker, mode: ModeDefault, open: map[string]*openApproval{}}
}

func (a *approvals) currentMode() Mode {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mode
}

// ask returns nil when r is approved, a *RejectedError when it is not, errPlanMode
// when the mode refuses it, and ctx's error when ctx ended. Waits is called when the user
// is asked, and what it gives when that is over.
func (a *approvals) ask(ctx context.Context, r wire.ApprovalRequest, action Action, waits func() func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	open := &openApproval{action: action, cancel: cancel}
	if done, err := a.begin(r.ID, open); done {
		return err
	}
	over := waits()
	answer, err := a.asker.Approve(waiting, r)
	over()
	settled, lasting := a.end(r.ID, open)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case settled == verdictRefuse:
		return errPlanMode
	case lasting:
		// A lasting rejection that came while this one was open outweighs its answer.
		return &RejectedError{Feedback: answer.Feedback}
	case settled == verdictAllow && err != nil:
		return nil
	case err != nil:
		return &RejectedError{Cause: err}
	case answer.Response == wire.ApprovalApprove:
		return nil
	case answer.Response == wire.ApprovalApproveForSession:
		a.remember(action, true)
		return nil
	}
	return &RejectedError{Feedback: answer.Feedback}
}

// begin notes an open request; done says that it need not be put to the user.
func (a *approvals) begin(id string, open *openApproval) (done bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	allowed, lasts := a.answered(open.action.Key)
	verdict := a.mode.judge(open.action.Effect, open.action.Firm)
	switch {
	case verdict == verdictRefuse:
		return true, errPlanMode
	case lasts && !allowed:
		return true, &RejectedError{}
	case lasts, verdict == verdictAllow:
		return true, nil
	case a.asker == nil:
		return true, &RejectedError{Cause: errNoAsker}
	}
	a.open[id] = open
	return false, nil
}

// end takes a request off the list, and says what mode and session have come to say
// about it meanwhile.
func (a *approvals) end(id string, open *openApproval) (settled verdict, lastingRejection bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, id)
	allowed, lasts := a.answered(open.action.Key)
	return open.settled, lasts && !allowed
}

// setMode turns a mode on and settles the open requests that it decides.
func (a *approvals) setMode(m Mode) {
	a.mu.Lock()
	a.mode = m
	answers := map[string]wire.Approval{}
	cancels := map[string]context.CancelFunc{}
	for id, open := range a.open {
		verdict := m.judge(open.action.Effect, open.action.Firm)
		if verdict == verdictAsk {
			continue
		}
		open.settled, cancels[id] = verdict, open.cancel
		answers[id] = wire.ApprovalApprove
		if verdict == verdictRefuse {
			answers[id] = wire.ApprovalReject
		}
	}
	a.mu.Unlock()
	for id, answer := range answers {
		if !a.asker.ResolveApproval(id, answer, "") {
			// The Asker does not know it yet, or someone has just answered it.
			cancels[id]()
		}
	}
}

// remember makes an answer last and gives it to the open requests that it
// covers. A request that the Asker does not know yet is asked once more than
// needed; the user's answer to it counts.
func (a *approvals) remember(action Action, allowed bool) {
	key := action.Key
	if key == "" {
		return
	}
	a.mu.Lock()
	a.keep(action, allowed)
	var covered []string
	for id, open := range a.open {
		if open.action.Key == key {
			covered = append(covered, id)
		}
	}
	a.mu.Unlock()
	answer := wire.ApprovalReject
	if allowed {
		answer = wire.ApprovalApprove
	}
	for _, id := range covered {
		a.asker.ResolveApproval(id, answer, "")
	}
}

// rejectForSession rejects an open request and what its key covers from now on.
func (a *approvals) rejectForSession(id string) bool {
	a.mu.Lock()
	open, ok := a.open[id]
	a.mu.Unlock()
	if !ok {
		return false
	}
	a.remember(open.action, false)
	if open.action.Key == "" {
		a.asker.ResolveApproval(id, wire.ApprovalReject, "")
	}
	return true
}
