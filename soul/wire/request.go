package wire

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"kimi-acp/internal/uuid"
)

// ErrDuplicateID says that a request with the same id is pending.
var ErrDuplicateID = errors.New("a request with this id is pending")

// ToolHandler serves tool calls in this process. Its methods may be called at once.
type ToolHandler interface {
	// Has reports whether the handler serves the tool of that name.
	Has(name string) bool
	// CallTool runs the tool. A failure, also that ctx ended, is a value with
	// IsError.
	CallTool(ctx context.Context, req ToolCallRequest) ToolReturnValue
}

// HandleTools makes h serve the tool calls that it has from now on; nil: none.
func (w *Wire) HandleTools(h ToolHandler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tools = h
}

// Approve publishes the request (with a new ID if it has none) and waits for
// ResolveApproval or EndTurn. The ApprovalResponse is sent as an event before
// Approve returns. When ctx ends first, the answer is ApprovalReject with ctx's
// error. ErrDuplicateID: the request was not published, the answer is
// ApprovalReject. On a closed Wire the answer is ApprovalReject at once.
func (w *Wire) Approve(ctx context.Context, req ApprovalRequest) (ApprovalResponse, error) {
	if req.ID == "" {
		req.ID = uuid.New()
	}
	p := newPending(req)
	answer, err := w.ask(ctx, p)
	response := answer.(ApprovalResponse)
	w.announce(p, response)
	return response, err
}

// Ask publishes the questions (with a new ID if they have none) and waits for
// ResolveQuestion or EndTurn; empty answers: they were dismissed. When ctx ends
// first, the answers are empty, with ctx's error. ErrDuplicateID: not published.
// On a closed Wire the answers are empty at once.
func (w *Wire) Ask(ctx context.Context, req QuestionRequest) (QuestionAnswers, error) {
	if req.ID == "" {
		req.ID = uuid.New()
	}
	answer, err := w.ask(ctx, newPending(req))
	return answer.(QuestionAnswers), err
}

// CallTool has the tool run by the ToolHandler, if that has it; no view sees such a
// call, and the error is nil. Any other call is published (with a new ID if it has
// none) and waits for ResolveTool or EndTurn. When ctx ends first, the value is
// that of a turn's end, with ctx's error. ErrDuplicateID: not published. On a
// closed Wire the value is that of a turn's end at once.
func (w *Wire) CallTool(ctx context.Context, req ToolCallRequest) (ToolReturnValue, error) {
	if req.ID == "" {
		req.ID = uuid.New()
	}
	w.mu.Lock()
	tools := w.tools
	w.mu.Unlock()
	if tools != nil && tools.Has(req.Name) {
		return tools.CallTool(ctx, req), nil
	}
	answer, err := w.ask(ctx, newPending(req))
	return answer.(ToolReturnValue), err
}

// CallHook publishes the request (with a new ID if it has none) and waits for
// ResolveHook or EndTurn. When ctx ends first, the hook allows, with ctx's error.
// ErrDuplicateID: not published, and the hook allows. On a closed Wire it allows
// at once.
func (w *Wire) CallHook(ctx context.Context, req HookRequest) (HookDecision, error) {
	if req.ID == "" {
		req.ID = newHookID()
	}
	answer, err := w.ask(ctx, newPending(req))
	return answer.(HookDecision), err
}

func newPending(r Request) *pending {
	return &pending{request: r, answer: make(chan any, 1)}
}

// ask publishes p and waits for its answer. Whatever happens, there is an answer.
func (w *Wire) ask(ctx context.Context, p *pending) (any, error) {
	if err := ctx.Err(); err != nil {
		return turnEndAnswer(p.request), err
	}
	open, err := w.register(p)
	if err != nil || !open {
		return turnEndAnswer(p.request), err
	}
	w.publishRequest(p)
	select {
	case answer := <-p.answer:
		return answer, nil
	case <-ctx.Done():
	}
	if w.withdraw(p) {
		return turnEndAnswer(p.request), ctx.Err()
	}
	return <-p.answer, nil // someone was told that the answer counts
}

// register makes p answerable, before any view can see it. False: the Wire closes.
func (w *Wire) register(p *pending) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ending {
		return false, nil
	}
	for _, other := range w.requests {
		if other.request.RequestID() == p.request.RequestID() {
			return false, fmt.Errorf("%s %q: %w", p.request.WireType(), p.request.RequestID(), ErrDuplicateID)
		}
	}
	w.requests = append(w.requests, p)
	return true, nil
}

// withdraw takes p off the list; false: it was taken off for an answer.
func (w *Wire) withdraw(p *pending) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.requests, p)
	if i < 0 {
		return false
	}
	w.requests = slices.Delete(w.requests, i, i+1)
	return true
}

// publishRequest shows p to the views, unless the turn ended meanwhile.
func (w *Wire) publishRequest(p *pending) {
	w.delivery.Lock()
	defer w.delivery.Unlock()
	w.mu.Lock()
	p.published = slices.Contains(w.requests, p)
	published := p.published
	w.mu.Unlock()
	if published {
		w.publish(p.request)
	}
}

// announce sends the event of an approval's answer once, if the views know the
// request.
func (w *Wire) announce(p *pending, response ApprovalResponse) {
	w.delivery.Lock()
	defer w.delivery.Unlock()
	w.mu.Lock()
	published := p.published
	w.mu.Unlock()
	if !published || p.announced {
		return
	}
	p.announced = true
	w.publish(response)
}

// newHookID gives 12 random hex digits.
func newHookID() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
