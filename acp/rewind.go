package acp

import (
	"context"
	"encoding/json"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
)

type rewindResult struct {
	Text string `json:"text"` // for people, Markdown: what came back and what could not
}

// rewind serves _kimi/session/rewind: the last turns are taken back, talk, plan and
// files together.
func (a *Agent) rewind(call *jsonrpc.Call) {
	p, s, err := a.addressed(call)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	turns := 1
	if raw, ok := p["turns"]; ok && (json.Unmarshal(raw, &turns) != nil || turns < 1) {
		call.ReplyNow(nil, invalid("turns must be a number of turns, at least 1, not %s", clip(string(raw))))
		return
	}
	rewinder, ok := s.soul.(soul.Rewinder)
	if !ok {
		call.ReplyNow(nil, invalidRequest("This session's kernel cannot take turns back"))
		return
	}
	call.Go(func(ctx context.Context) (any, error) {
		if s.busy() {
			return nil, invalidRequest("A prompt of this session runs; wait for its end, or cancel it, and take turns back then")
		}
		var result rewindResult
		err := s.awake(func() {
			s.catchUp()
			result.Text = rewinder.Rewind(ctx, turns)
			s.savePlan()
		})
		return result, err
	})
}
