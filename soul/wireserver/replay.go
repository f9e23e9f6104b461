package wireserver

import (
	"context"
	"errors"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

type replayResult struct {
	Status   string `json:"status"`
	Events   int    `json:"events"`
	Requests int    `json:"requests"`
}

// replay sends what the session has recorded. Its requests want no answer.
func (s *server) replay(call *jsonrpc.Call) {
	ctx, done, ok := s.begin(replaying)
	if !ok {
		call.Reply(nil, errRunning())
		return
	}
	call.Go(func(context.Context) (any, error) {
		r, err := s.stream(ctx)
		done()
		if err != nil {
			s.log.Warn("the replay failed", "error", err)
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "Replay failed"}
		}
		return r, nil
	})
}

func (s *server) stream(ctx context.Context) (replayResult, error) {
	r := replayResult{Status: "finished"}
	for m, err := range s.opts.Kept.Replay() {
		var gap *session.GapError
		switch {
		case errors.As(err, &gap):
			s.log.Warn("the replay left lines out", "error", err)
			continue
		case err != nil:
			return r, err
		case ctx.Err() != nil:
			r.Status = "cancelled"
			return r, nil
		}
		if q, ok := m.(wire.Request); ok {
			p, err := s.conn.StartAs(jsonrpc.StringID(q.RequestID()), "request", envelope{m})
			if err != nil {
				return r, err
			}
			p.Forget()
			r.Requests++
			continue
		}
		if err := s.conn.Notify("event", envelope{m}); err != nil {
			return r, err
		}
		r.Events++
	}
	return r, nil
}
