package wireserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"

	"kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// desk stands between the tools and the client: it puts approvals and questions in
// kimi-cli's form, remembers lasting answers as kimi-cli does, by the kind of action,
// and words the results on which clients of kimi-cli count.
type desk struct {
	server *server

	mu       sync.Mutex
	turn     string            // id of the turn that runs
	lasting  map[string]bool   // actions that were approved for the session
	rejected map[string]string // by tool call: what the user wants instead
	over     bool              // the client is gone
}

var (
	_ tool.Asker       = (*desk)(nil)
	_ tool.Questioner  = (*desk)(nil)
	_ wire.ToolHandler = (*desk)(nil)
)

func newDesk(s *server) *desk {
	d := &desk{server: s, lasting: map[string]bool{}, rejected: map[string]string{}}
	for _, action := range s.opts.Kept.State().Approval.AutoApproveActions {
		d.lasting[action] = true
	}
	return d
}

// beginTurn gives the approvals of a turn their source.
func (d *desk) beginTurn() {
	var b [16]byte
	rand.Read(b[:]) // never fails
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn = hex.EncodeToString(b[:])
	clear(d.rejected)
}

// closed says that nobody answers any more.
func (d *desk) closed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
}

// Approve asks the client, unless it approved such actions for the session; see
// tool.Asker. An action that offers no lasting answer is always asked for.
func (d *desk) Approve(ctx context.Context, r wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	d.mu.Lock()
	source, lasts := "foreground_turn", d.lasting[r.Action] && r.Scope != ""
	turn := d.turn
	d.mu.Unlock()
	if lasts {
		return wire.ApprovalResponse{RequestID: r.ID, Response: wire.ApprovalApprove}, nil
	}
	if r.SourceKind == nil || *r.SourceKind == source {
		r.SourceKind, r.SourceID = &source, &turn
	}
	answer, err := d.server.wire.Approve(ctx, r)
	switch {
	case err != nil:
	case answer.Response == wire.ApprovalApproveForSession && r.Scope != "":
		d.remember(r.Action)
	case answer.Response == wire.ApprovalReject:
		d.mu.Lock()
		d.rejected[r.ToolCallID] = answer.Feedback
		d.mu.Unlock()
	}
	return answer, err
}

// remember makes an approval last, and gives it to what is open of its kind.
func (d *desk) remember(action string) {
	d.mu.Lock()
	d.lasting[action] = true
	d.mu.Unlock()
	for _, r := range d.server.wire.Pending() {
		if a, ok := r.(wire.ApprovalRequest); ok && a.Action == action && a.Scope != "" {
			d.server.wire.ResolveApproval(a.ID, wire.ApprovalApprove, "")
		}
	}
	err := d.server.opts.Kept.UpdateState(func(st *session.State) {
		if !slices.Contains(st.Approval.AutoApproveActions, action) {
			st.Approval.AutoApproveActions = append(st.Approval.AutoApproveActions, action)
		}
	})
	if err != nil {
		d.server.log.Warn("a lasting approval was not kept", "error", err)
	}
}

// ResolveApproval answers in the client's place; see tool.Asker.
func (d *desk) ResolveApproval(id string, a wire.Approval, feedback string) bool {
	return d.server.wire.ResolveApproval(id, a, feedback)
}

// Ask puts questions to the client; see tool.Questioner. Who is away dismisses them.
func (d *desk) Ask(ctx context.Context, r wire.QuestionRequest) (wire.QuestionAnswers, error) {
	if d.server.switches.On(switchAFK) {
		return nil, nil
	}
	return d.server.wire.Ask(ctx, r)
}

// Has reports whether we run the tool; the others are the client's.
func (d *desk) Has(name string) bool { return d.server.executor.Has(name) }

// The results in kimi-cli's words: its clients, and models that know them, go by these.
const (
	rejectedText  = "The tool call is rejected by the user. Stop what you are doing and wait for the user to tell you how to proceed."
	rejectedBrief = "Rejected by user"
	feedbackText  = "The tool call is rejected by the user. User feedback: "
	feedbackBrief = "Rejected: "
	cannotAskText = "The connected client does not support interactive questions. Do NOT call this tool again. Put your question in the text of your answer instead."
)

// CallTool runs a tool; see wire.ToolHandler.
func (d *desk) CallTool(ctx context.Context, r wire.ToolCallRequest) wire.ToolReturnValue {
	if r.Name == questionTool && !d.server.canAsk() {
		return wire.FailedTool(cannotAskText, "Client unsupported")
	}
	d.mu.Lock()
	delete(d.rejected, r.ID) // models give ids again
	d.mu.Unlock()
	v := d.server.executor.CallTool(ctx, r)
	d.mu.Lock()
	feedback, turnedDown := d.rejected[r.ID]
	over := d.over
	d.mu.Unlock()
	if !v.IsError || !turnedDown || over || ctx.Err() != nil {
		return v
	}
	if feedback != "" {
		return wire.FailedTool(feedbackText+feedback, feedbackBrief+feedback)
	}
	rejected := wire.FailedTool(rejectedText, rejectedBrief)
	rejected.Rejected = true
	return rejected
}
