package soul

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// asking is one step's way to a whole answer of a model, over as many calls as it
// takes. It is the only layer that repeats calls: what it gives up on is marked final.
type asking struct {
	soul     *Builtin
	step     int
	attempt  int           // of the model in use, from 1
	waited   time.Duration // in all
	said     []llm.Part    // by an attempt that broke off, if it is worth going on from; else nil
	untold   bool          // the last attempt has not told said on the Wire
	stripped bool          // images were taken out
	last     *llm.Message  // asked behind the conversation, once and for words alone; nil: the turn goes on
}

// ask calls the model until an answer is whole. When an attempt breaks off after much
// was said, the next one goes on from there; else it begins again. On the Wire a step
// is told from its beginning after each StepRetry, as Wire clients expect.
func (b *Builtin) ask(ctx context.Context, n int) (*assembler, error) {
	return b.pose(ctx, &asking{soul: b, step: n, attempt: 1})
}

// askLast asks the model a question behind the conversation, once, and for an answer
// without tools that is cut off when it grows too long.
func (b *Builtin) askLast(ctx context.Context, n int, question llm.Message) (*assembler, error) {
	return b.pose(ctx, &asking{soul: b, step: n, attempt: 1, last: &question})
}

// pose calls the model until what is asked has its answer.
func (b *Builtin) pose(ctx context.Context, s *asking) (*assembler, error) {
	var model answerer
	for {
		if !model.standIn {
			// Who stands in does so to the step's end: two models that fail slowly would else
			// be asked in turn without end, since the first one's rest is over each time.
			model = b.choose()
		}
		a := &assembler{send: b.cfg.Wire.Send, kept: textOf(s.said)}
		if s.last != nil {
			a.most = concludeSize
		}
		err := stream(ctx, model, s.request(), a)
		if err == nil {
			b.answered(model)
			return a, nil
		}
		b.failCalls(a)
		if ctx.Err() != nil {
			model.circuit.Release()
			return nil, context.Canceled
		}
		var e *llm.Error
		if !errors.As(err, &e) {
			model.circuit.Release()
			return nil, fmt.Errorf("step %d: %w", s.step, err)
		}
		if s.said != nil && e.Kind == llm.KindEmpty { // what broke off was all there was to say
			b.answered(model)
			a.settle()
			return a, nil
		}
		s.keep(a)
		if err := s.recover(ctx, model, e); err != nil {
			if ctx.Err() == nil {
				s.leave()
			}
			return nil, err
		}
	}
}

// request is what the model is asked next.
func (s *asking) request() *llm.Request {
	b := s.soul
	messages := b.history.Messages()
	if s.said != nil {
		messages = append(messages,
			llm.Message{Role: llm.RoleAssistant, Content: s.said},
			llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(goOn)}})
	}
	req := &llm.Request{System: b.record.system, Messages: messages, Tools: b.tellTools(), CacheKey: b.cfg.SessionID}
	if s.last != nil {
		req.Messages, req.ToolChoice = append(messages, *s.last), llm.ToolChoiceNone
	}
	return req
}

// recover prepares the next attempt after a failure and returns when it may begin, or
// gives the error that ends the step.
func (s *asking) recover(ctx context.Context, model answerer, e *llm.Error) error {
	b, remedy := s.soul, e.Kind.Remedy()
	if remedy.Switch {
		model.circuit.Fail()
	} else {
		model.circuit.Release()
	}
	if s.last != nil {
		return fmt.Errorf("the last answer: %w", e)
	}
	wait, inTime := b.cfg.Retry.wait(s.attempt, e, s.waited)
	repeats := e.Repeatable() && s.attempt < b.cfg.Retry.Attempts && inTime
	_, hasStandIn := b.standIn(model)
	switch {
	case remedy.Strip && !s.stripped && b.history.DropImages():
		s.stripped = true
		b.tell("warning", "Images were left out", "The provider cannot read an image of the conversation, so the model goes on without them.")
		b.cfg.Wire.Send(retryEvent(s.step, s.attempt, b.cfg.Retry.Attempts, 0, e))
		return nil
	case remedy.Switch && hasStandIn && (!repeats || model.circuit.State() == llm.CircuitOpen):
		model.circuit.Trip()
		s.attempt = 1
		b.cfg.Wire.Send(retryEvent(s.step, s.attempt, b.cfg.Retry.Attempts, 0, e))
		return nil
	case !repeats:
		final := *e
		final.Final = true
		return fmt.Errorf("step %d: %w", s.step, &final)
	}
	s.attempt++
	s.waited += wait
	b.cfg.Wire.Send(retryEvent(s.step, s.attempt, b.cfg.Retry.Attempts, wait, e))
	if r, ok := model.Provider.(llm.Reconnecter); ok && e.Status == 0 {
		r.Reconnect() // no response, or not all of it: the connections are under suspicion
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Canceled
	}
}

// stream runs one model call into a.
func stream(ctx context.Context, p llm.Provider, req *llm.Request, a *assembler) error {
	for d, err := range p.Stream(ctx, req) {
		if err != nil {
			return err
		}
		if err := a.add(d); err != nil {
			return err
		}
		if a.most > 0 && a.size > a.most {
			a.finish = llm.FinishLength
			break
		}
	}
	a.settle()
	if len(a.calls) > 0 || a.finish == llm.FinishContentFilter || a.finish == llm.FinishLength {
		return nil
	}
	a.closePart()
	if says(a.parts) {
		return nil
	}
	return &llm.Error{Kind: llm.KindEmpty, Message: "the model's answer was empty: no text and no tool call"}
}

// retryEvent tells of a repetition in kimi-cli's words for the kind.
func retryEvent(n, nextAttempt, attempts int, wait time.Duration, e *llm.Error) wire.StepRetry {
	r := wire.StepRetry{N: n, NextAttempt: nextAttempt, MaxAttempts: attempts, WaitS: wait.Seconds(), ErrorType: failureName(e)}
	if e.Status != 0 {
		status := e.Status
		r.StatusCode = &status
	}
	return r
}

// failureName is kimi-cli's word for the kind of a failed model call.
func failureName(e *llm.Error) string {
	switch e.Kind {
	case llm.KindTimeout, llm.KindStalled:
		return "APITimeoutError"
	case llm.KindConnection:
		return "APIConnectionError"
	case llm.KindEmpty:
		return "APIEmptyResponseError"
	case llm.KindMalformed:
		return "ChatProviderError"
	}
	return "APIStatusError"
}

// errorName is kimi-cli's word for what ended a turn.
func errorName(err error) string {
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		return failureName(e)
	case errors.Is(err, ErrNoModel):
		return "LLMNotSet"
	}
	return "Exception"
}
