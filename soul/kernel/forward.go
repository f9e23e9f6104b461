package kernel

import (
	"context"
	"errors"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/wire"
)

// forwarder takes what a kernel sends. It may block in Send, which slows the kernel.
type forwarder struct{ kernel *Kernel }

// Handle takes one event or request.
func (f *forwarder) Handle(c *jsonrpc.Call) {
	k := f.kernel
	if m := c.Method(); m != "event" && m != "request" {
		c.Reply(nil, jsonrpc.Wire.MethodNotFound(m))
		return
	}
	m, err := wire.Decode(c.Params())
	if err != nil {
		// A later version of the Wire is no reason to stop. A request gets an answer, so
		// that the kernel does not wait for ever.
		if unknown, ok := errors.AsType[*wire.UnknownTypeError](err); ok {
			k.cfg.Logger.Debug("the kernel sent something of an unknown type", "type", unknown.Error())
		} else {
			k.cfg.Logger.Warn("the kernel sent something that cannot be read", "error", err)
		}
		c.Reply(nil, jsonrpc.Wire.InvalidParams(c.Method()))
		return
	}
	if e, ok := m.(wire.Event); ok {
		k.event(e)
		return
	}
	k.request(c, m)
}

// event forwards an event as it is, but for the answers to approvals: those are told
// here, by whoever was asked.
func (k *Kernel) event(e wire.Event) {
	t := k.running()
	switch m := e.(type) {
	case wire.ApprovalResponse:
		k.decided(m)
		return
	case wire.StatusUpdate:
		k.noteStatus(m)
	case wire.CompactionEnd:
		k.forget()
	case wire.Notification, wire.MCPLoadingBegin, wire.MCPLoadingEnd, wire.HookTriggered, wire.HookResolved:
	default:
		if t == nil {
			k.cfg.Logger.Debug("the kernel sent an event of a turn when none ran", "type", e.WireType())
			return
		}
		if t.stale(e) {
			return
		}
		e = t.complete(e)
	}
	if t != nil && !t.note(e) {
		return
	}
	if _, ok := e.(wire.StepBegin); ok {
		k.beginStep(t)
	}
	k.cfg.Wire.Send(e)
}

// request has a request of the kernel's served on the Wire of this process. Outside of
// turns only background agents ask, and only for approval.
func (k *Kernel) request(c *jsonrpc.Call, m wire.Message) {
	t := k.running()
	if t != nil && !t.enter() {
		t = nil
	}
	serve := func(f func(ctx context.Context) any) {
		c.Go(func(ctx context.Context) (any, error) {
			if t != nil {
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				defer t.calls.Done()
				defer cancel()
				defer context.AfterFunc(t.ctx, cancel)()
			}
			return f(ctx), nil
		})
	}
	answer := func(result any) {
		if t != nil {
			t.calls.Done()
		}
		c.Reply(result, nil)
	}
	// The errors that the Wire gives come with the answer that is then right.
	switch m := m.(type) {
	case wire.ToolCallRequest:
		switch {
		case t == nil:
			answer(wire.ToolResult{ToolCallID: m.ID, ReturnValue: wire.FailedTool("No turn runs.", "No turn")})
		case !k.offers(m.Name):
			answer(wire.ToolResult{ToolCallID: m.ID, ReturnValue: wire.FailedTool("Tool `"+m.Name+"` not found", "No such tool")})
		default:
			t.serve(m.ID)
			for _, e := range t.overtook(m) {
				if t.note(e) {
					k.cfg.Wire.Send(e)
				}
			}
			serve(func(ctx context.Context) any {
				value, _ := k.cfg.Wire.CallTool(ctx, m)
				if value.IsError && value.Message == "" {
					value.Message = "The tool failed." // an empty one ends kimi-cli's turn
				}
				t.keep(m.ID, value)
				return wire.ToolResult{ToolCallID: m.ID, ReturnValue: value}
			})
		}
	case wire.ApprovalRequest:
		why := k.refuses(m)
		if t == nil && (m.SourceKind == nil || *m.SourceKind != sourceBackground) {
			why = "No turn runs."
		}
		if why != "" {
			answer(wire.ApprovalResponse{RequestID: m.ID, Response: wire.ApprovalReject, Feedback: why})
			return
		}
		taken, take := context.WithCancel(context.Background())
		k.asking(m.ID, take)
		serve(func(ctx context.Context) any {
			defer k.asking(m.ID, nil)
			defer take()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(taken, cancel)()
			response, _ := k.cfg.Wire.Approve(ctx, m)
			return response
		})
	case wire.QuestionRequest:
		if t == nil {
			answer(questionAnswer{m.ID, wire.QuestionAnswers{}})
			return
		}
		serve(func(ctx context.Context) any {
			answers, _ := k.cfg.Wire.Ask(ctx, m)
			if answers == nil {
				answers = wire.QuestionAnswers{}
			}
			return questionAnswer{m.ID, answers}
		})
	case wire.HookRequest: // nobody here has subscribed to any
		answer(map[string]string{"request_id": m.ID, "action": "allow", "reason": ""})
	}
}

// asking notes that an approval is asked for, and how to take that back; nil: no longer.
func (k *Kernel) asking(id string, take context.CancelFunc) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if take == nil {
		delete(k.asked, id)
		return
	}
	k.asked[id] = take
}

// decided takes back an approval that the kernel no longer needs, since it has decided
// itself. What is answered already stays.
func (k *Kernel) decided(m wire.ApprovalResponse) {
	if k.cfg.Wire.ResolveApproval(m.RequestID, m.Response, m.Feedback) {
		return
	}
	k.mu.Lock()
	take := k.asked[m.RequestID]
	k.mu.Unlock()
	if take != nil { // it was about to be asked for
		take()
	}
}

// sourceBackground is the SourceKind of a background agent's approvals.
const sourceBackground = "background_agent"

type questionAnswer struct {
	RequestID string               `json:"request_id"`
	Answers   wire.QuestionAnswers `json:"answers"`
}

func (k *Kernel) offers(name string) bool {
	for _, t := range k.cfg.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

func (k *Kernel) refuses(m wire.ApprovalRequest) string {
	if k.cfg.Refuse == nil {
		return ""
	}
	return k.cfg.Refuse(m)
}
