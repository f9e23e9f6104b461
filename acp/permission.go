package acp

import (
	"context"
	"encoding/json"
	"strings"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/wire"
)

// The options of a permission request. Editors merge options of one kind, so
// there is one of each.
const (
	allowOnce    = "allow_once"
	allowAlways  = "allow_always"
	rejectOnce   = "reject_once"
	rejectAlways = "reject_always"
)

type permissionRequest struct {
	SessionID string             `json:"sessionId"`
	ToolCall  toolCallUpdate     `json:"toolCall"`
	Options   []permissionOption `json:"options"`
}

type permissionOption struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
}

// askPermission asks the editor for an approval. The request is on its way when
// this returns; the answer is awaited by a goroutine that ends with the turn.
func (s *session) askPermission(r wire.ApprovalRequest) {
	if fromBackground(r) {
		s.askForBackground(r)
		return
	}
	turn := s.running()
	if turn == nil { // nobody would wait for the answer
		s.wire.ResolveApproval(r.ID, wire.ApprovalReject, "")
		return
	}
	pending, err := s.requestPermission(r)
	if err != nil {
		s.wire.ResolveApproval(r.ID, wire.ApprovalReject, "")
		return
	}
	s.tellAsked(r.Description)
	// Others may answer in the editor's place: a lasting answer, a mode.
	ctx, stop := context.WithCancel(turn.asking)
	s.mu.Lock()
	s.asks[r.ID] = stop
	s.mu.Unlock()
	turn.asks.Go(func() {
		defer s.settled(r.ID)
		raw, err := pending.Wait(ctx)
		if err != nil {
			s.agent.log.Info("a permission was not given", "session", s.id, "error", err)
			s.wire.ResolveApproval(r.ID, wire.ApprovalReject, "")
			return
		}
		s.resolve(r, turn, raw)
	})
}

// requestPermission sends the request for an approval.
func (s *session) requestPermission(r wire.ApprovalRequest) (*jsonrpc.Pending, error) {
	options := []permissionOption{{allowOnce, "Allow once", allowOnce}}
	if r.Scope != "" {
		options = append(options, permissionOption{allowAlways, "Allow " + r.Scope + " for this session", allowAlways})
	}
	options = append(options, permissionOption{rejectOnce, "Reject", rejectOnce})
	if r.Scope != "" {
		options = append(options, permissionOption{rejectAlways, "Reject " + r.Scope + " for this session", rejectAlways})
	}
	return s.agent.conn.Start("session/request_permission", permissionRequest{SessionID: s.id, ToolCall: s.view.calls.shown(r), Options: options})
}

// settled takes a permission request back that nobody waits for any more.
func (s *session) settled(requestID string) {
	s.mu.Lock()
	stop := s.asks[requestID]
	delete(s.asks, requestID)
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// resolve acts on an editor's answer. What was not offered, or cannot be
// understood, is no approval.
func (s *session) resolve(r wire.ApprovalRequest, t *turn, raw json.RawMessage) {
	result, _ := object(raw)
	outcome := result.sub("outcome")
	if outcome.optionalText("outcome") == "cancelled" {
		t.cancel()
	}
	answer := wire.ApprovalReject
	if outcome.optionalText("outcome") == "selected" {
		switch id := outcome.optionalText("optionId"); {
		case id == allowOnce:
			answer = wire.ApprovalApprove
		case id == allowAlways && r.Scope != "":
			answer = wire.ApprovalApproveForSession
		case id == rejectAlways && r.Scope != "":
			s.executor.RejectForSession(r.ID)
		}
	}
	s.wire.ResolveApproval(r.ID, answer, feedbackIn(result, outcome))
}

// maxFeedback bounds what an editor may say with an answer, in bytes.
const maxFeedback = 4000

// feedbackIn gives what the user wants instead, which an editor may send as the text
// "feedback" in the _meta of the result or of its outcome.
func feedbackIn(result, outcome members) string {
	for _, m := range []members{outcome, result} {
		text := strings.TrimSpace(m.sub("_meta").optionalText("feedback"))
		if len(text) > maxFeedback {
			text = strings.ToValidUTF8(text[:maxFeedback], "") + "…"
		}
		if text != "" {
			return text
		}
	}
	return ""
}

// running is the turn that runs, nil when none does.
func (s *session) running() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	return s.queue[0]
}
