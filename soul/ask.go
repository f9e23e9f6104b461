package soul

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// RetryPolicy says how often and how long a failed model call is repeated. The
// n-th wait is Base·2ⁿ⁻¹ plus up to Jitter, at most Cap; a longer wait that the
// provider asked for is honoured up to MaxAsked.
type RetryPolicy struct {
	Attempts int // model calls per step, in all
	Base     time.Duration
	Jitter   time.Duration
	Cap      time.Duration
	MaxAsked time.Duration
}

// DefaultRetry has kimi-cli's numbers, and waits up to a minute when a provider
// says how long.
var DefaultRetry = RetryPolicy{Attempts: 3, Base: 300 * time.Millisecond, Jitter: 500 * time.Millisecond, Cap: 5 * time.Second, MaxAsked: time.Minute}

// maxDoublings keeps a wait from growing beyond what a Duration holds.
const maxDoublings = 20

// wait is the pause before attempt n+1.
func (p RetryPolicy) wait(n int, e *llm.Error) time.Duration {
	if e.RetryAfter > 0 {
		return min(e.RetryAfter, p.MaxAsked)
	}
	d := p.Base << min(n-1, maxDoublings)
	if p.Jitter > 0 {
		d += rand.N(p.Jitter)
	}
	return min(d, p.Cap)
}

// retryable reports whether the same request may succeed a moment later.
func retryable(k llm.Kind) bool {
	switch k {
	case llm.KindRateLimit, llm.KindOverloaded, llm.KindServer, llm.KindTimeout, llm.KindConnection, llm.KindEmpty:
		return true
	}
	return false
}

// ask calls the model until an answer is whole. A failed attempt is repeated
// only while nothing of it was shown, since what a user has read cannot be taken
// back.
func (b *Builtin) ask(ctx context.Context, n int) (*assembler, error) {
	req := &llm.Request{System: b.record.system, Messages: b.history.Messages(), Tools: b.cfg.Tools, CacheKey: b.cfg.SessionID}
	for attempt := 1; ; attempt++ {
		a := &assembler{send: b.cfg.Wire.Send}
		err := b.stream(ctx, req, a)
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			b.failCalls(a)
			return nil, context.Canceled
		}
		var e *llm.Error
		if !errors.As(err, &e) || a.begun || !retryable(e.Kind) || attempt >= b.cfg.Retry.Attempts {
			b.failCalls(a)
			return nil, fmt.Errorf("step %d: %w", n, err)
		}
		wait := b.cfg.Retry.wait(attempt, e)
		b.cfg.Wire.Send(retryEvent(n, attempt+1, b.cfg.Retry.Attempts, wait, e))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Canceled
		}
	}
}

// stream runs one model call into a.
func (b *Builtin) stream(ctx context.Context, req *llm.Request, a *assembler) error {
	for d, err := range b.model().Stream(ctx, req) {
		if err != nil {
			return err
		}
		if err := a.add(d); err != nil {
			return err
		}
	}
	if len(a.calls) > 0 || a.finish == llm.FinishContentFilter || a.finish == llm.FinishLength {
		return nil
	}
	a.closePart()
	for _, p := range a.parts {
		if p.Type != llm.PartThink && (p.Type != llm.PartText || strings.TrimSpace(p.Text) != "") {
			return nil
		}
	}
	return &llm.Error{Kind: llm.KindEmpty, Message: "the model's answer was empty: no text and no tool call"}
}

// retryEvent tells of a repetition in kimi-cli's words for the kind.
func retryEvent(n, nextAttempt, attempts int, wait time.Duration, e *llm.Error) wire.StepRetry {
	kind := "APIStatusError"
	switch e.Kind {
	case llm.KindTimeout:
		kind = "APITimeoutError"
	case llm.KindConnection:
		kind = "APIConnectionError"
	case llm.KindEmpty:
		kind = "APIEmptyResponseError"
	}
	r := wire.StepRetry{N: n, NextAttempt: nextAttempt, MaxAttempts: attempts, WaitS: wait.Seconds(), ErrorType: kind}
	if e.Status != 0 {
		status := e.Status
		r.StatusCode = &status
	}
	return r
}
