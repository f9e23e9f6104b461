package tool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"kimi-acp/soul/wire"
)

// Action is something that a tool wants approved before it does it.
type Action struct {
	Name        string // the kind of action, e.g. "edit file"
	Description string // one line for people, e.g. "Edit file `P`"
	// Key is what an answer for the session covers: every action with an equal
	// Key. Empty: an answer covers this action alone.
	Key     string
	Scope   string // Key in words, e.g. "edits in this workspace"
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
	return failure("The user rejected this call, and nothing was done. Do not try to reach the same by other means; stop here and wait for the user to say how to go on.", "Rejected by user")
}

var errNoAsker = errors.New("nobody is there to answer")

// approvals asks the user, and remembers the answers that hold for the session.
// It may be used by several goroutines at once.
type approvals struct {
	asker Asker

	mu      sync.Mutex
	lasting map[string]bool   // Action.Key → allowed
	open    map[string]string // id of an unanswered request → Action.Key
}

func newApprovals(asker Asker) *approvals {
	return &approvals{asker: asker, lasting: map[string]bool{}, open: map[string]string{}}
}

// ask returns nil when r is approved, a *RejectedError when it is not, and ctx's
// error when ctx ended.
func (a *approvals) ask(ctx context.Context, r wire.ApprovalRequest, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if a.asker == nil {
		return &RejectedError{Cause: errNoAsker}
	}
	a.mu.Lock()
	if allowed, ok := a.lasting[key]; ok {
		a.mu.Unlock()
		return verdict(allowed)
	}
	a.open[r.ID] = key
	a.mu.Unlock()

	answer, err := a.asker.Approve(ctx, r)

	a.mu.Lock()
	delete(a.open, r.ID)
	allowed, ok := a.lasting[key]
	a.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &RejectedError{Cause: err}
	case ok && !allowed:
		// A lasting rejection that came while this one was open outweighs its answer.
		return &RejectedError{Feedback: answer.Feedback}
	case answer.Response == wire.ApprovalApprove:
		return nil
	case answer.Response == wire.ApprovalApproveForSession:
		a.remember(key, true)
		return nil
	}
	return &RejectedError{Feedback: answer.Feedback}
}

func verdict(allowed bool) error {
	if allowed {
		return nil
	}
	return &RejectedError{}
}

// remember makes an answer last and gives it to the open requests that it
// covers. A request that the Asker does not know yet is asked once more than
// needed; the user's answer to it counts.
func (a *approvals) remember(key string, allowed bool) {
	if key == "" {
		return
	}
	a.mu.Lock()
	a.lasting[key] = allowed
	var covered []string
	for id, k := range a.open {
		if k == key {
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
	key, ok := a.open[id]
	a.mu.Unlock()
	if !ok {
		return false
	}
	a.remember(key, false)
	if key == "" {
		a.asker.ResolveApproval(id, wire.ApprovalReject, "")
	}
	return true
}

// newRequestID gives a random UUID, version 4.
func newRequestID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
