package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// errStuck says that a cancelled turn did not end, and the program was killed.
var errStuck = errors.New("the kernel did not end its turn when it was cancelled")

// prompt has the kernel do the turn and waits until it is over, which is the answer and
// no event. When ctx ends, the kernel is told once; after CancelTime it is killed.
func (k *Kernel) prompt(ctx context.Context, p *peer, in soul.Input) (status string, err error) {
	pending, err := p.conn.Start("prompt", map[string]any{"user_input": in.Wire()})
	if err != nil {
		return "", err
	}
	waiting, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		if c, err := p.conn.Start("cancel", struct{}{}); err == nil {
			c.Forget() // that it is over already is no matter
		}
		late := time.NewTimer(k.cfg.CancelTime)
		defer late.Stop()
		select {
		case <-late.C:
			p.child.Kill()
			giveUp(errStuck)
		case <-p.over:
		case <-waiting.Done():
		}
	})
	raw, err := pending.Wait(waiting)
	if err != nil && errors.Is(context.Cause(waiting), errStuck) {
		err = errStuck
	}
	giveUp(nil)
	if !stop() {
		<-told
	}
	if err != nil {
		return "", err
	}
	var r promptResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", fmt.Errorf("read how the turn ended: %w", err)
	}
	return r.Status, nil
}

// failure words why a turn failed.
func (k *Kernel) failure(p *peer, err error, shown bool) error {
	if isGone(err) {
		how := p.ending()
		t := &soul.Trouble{Advice: "The kernel " + k.name() + " broke off in the middle of the turn: " + how.Error() + ". Send the prompt again; what it had done stays done.", Err: err}
		if !shown {
			t.Err = errors.Join(ErrUnused, err)
		}
		return t
	}
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return &soul.Trouble{Advice: "The kernel " + k.name() + " gave an answer that cannot be used. Send the prompt again.", Err: err}
	}
	switch e.Code {
	case wire.CodeNoModel:
		return &soul.Trouble{Advice: "The kernel " + k.name() + " has no model: log in with it, or name one in its settings.", Err: err}
	case wire.CodeNotSupported:
		return &llm.Error{Kind: llm.KindBadRequest, Message: e.Message, Err: err}
	case wire.CodeProvider:
		return &llm.Error{Kind: llm.KindUnknown, Message: e.Message, Err: err}
	case wire.CodeAuthExpired:
		return &llm.Error{Kind: llm.KindAuth, Message: e.Message, Err: err}
	}
	return &soul.Trouble{Advice: "The kernel " + k.name() + " failed: " + e.Message, Err: err}
}
