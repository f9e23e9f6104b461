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

// rewind serves _kimi/session/rewind: the last turns are taken back, or steps, talk,
// plan and files together.
func (a *Agent) rewind(call *jsonrpc.Call) {
	p, s, err := a.addressed(call)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	back, err := backOf(p)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	rewinder, ok := s.mind().(soul.Rewinder)
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
			result.Text = rewinder.Rewind(ctx, back)
			s.savePlan()
		})
		return result, err
	})
}

// backOf reads how much is to be taken back: one turn, unless turns or steps say more.
func backOf(p members) (back soul.Back, err error) {
	stepsRaw, hasSteps := p["steps"]
	if hasSteps && (json.Unmarshal(stepsRaw, &back.Steps) != nil || back.Steps < 1) {
		return back, invalid("steps must be a number of steps, at least 1, not %s", clip(string(stepsRaw)))
	}
	turnsRaw, ok := p["turns"]
	least := 1
	if hasSteps {
		least = 0
	}
	switch {
	case !ok:
		back.Turns = least
	case json.Unmarshal(turnsRaw, &back.Turns) != nil || back.Turns < least:
		return back, invalid("turns must be a number of turns, at least %d, not %s", least, clip(string(turnsRaw)))
	}
	return back, nil
}
