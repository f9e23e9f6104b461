package soul

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kimi-acp/soul/llm"
)

// askBeside asks something that is no part of the conversation, of the small model where
// there is one that takes it, else, and when that fails, of the session's. request gives
// what is asked; its argument is how often that was too long so far. Of an answer no more
// than most bytes are of use. The error says that nobody answered, or is the end of ctx.
func (b *Builtin) askBeside(ctx context.Context, request func(tooLong int) *llm.Request, most int) (string, error) {
	tooLong, attempt, waited := 0, 1, time.Duration(0)
	small := b.small()
	for {
		req := request(tooLong)
		model := small
		if !small.takes(req) {
			small.circuit.Release()
			if model, small = b.choose(), (answerer{}); model.Provider == nil {
				return "", ErrNoModel
			}
		}
		answer, err := b.readAnswer(ctx, model, req, most)
		if err == nil {
			if small.Provider == nil {
				b.answered(model)
			} else {
				model.circuit.Succeed()
			}
			return answer, nil
		}
		var e *llm.Error
		if !errors.As(err, &e) {
			e = &llm.Error{Message: err.Error()}
		}
		if ctx.Err() == nil && e.Kind.Remedy().Switch {
			model.circuit.Fail()
		} else {
			model.circuit.Release()
		}
		if ctx.Err() != nil {
			return "", context.Canceled
		}
		if small.Provider != nil { // the session's model is asked at once
			b.cfg.Logger.Info("the small model did not answer", "session", b.cfg.SessionID, "error", err)
			small = answerer{}
			continue
		}
		wait, inTime := b.cfg.Retry.wait(attempt, e, waited)
		switch {
		case attempt < b.cfg.Retry.Attempts && e.Kind.Remedy().Compact:
			tooLong++
			wait = 0
		case attempt >= b.cfg.Retry.Attempts || !inTime || !e.Repeatable():
			return "", fmt.Errorf("%w: %w", errNobodyAnswers, err)
		}
		attempt++
		waited += wait
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return "", context.Canceled
		}
	}
}

// errNobodyAnswers is that no model could be asked something beside the conversation.
var errNobodyAnswers = errors.New("no model answers")

// small is the small model, as long as its circuit lets it be asked; else nobody.
func (b *Builtin) small() answerer {
	if b.cfg.Small == nil {
		return answerer{}
	}
	a := answerer{Provider: b.cfg.Small, circuit: circuitOf(b.cfg.Small, nil)}
	if !a.circuit.Allow() {
		return answerer{}
	}
	return a
}

// takes tells whether a request fits a model's window, with room for an answer. Nobody
// takes none.
func (a answerer) takes(req *llm.Request) bool {
	if a.Provider == nil {
		return false
	}
	tokens := llm.EstimateText(req.System)
	for _, m := range req.Messages {
		tokens += llm.EstimateTokens(m)
	}
	return tokens < a.Model().ContextSize*8/10
}

// readAnswer makes one model call. Of an answer that goes on for longer than is of
// use, the rest is not waited for.
func (b *Builtin) readAnswer(ctx context.Context, p llm.Provider, req *llm.Request, most int) (string, error) {
	var text strings.Builder
	a := &assembler{}
	for d, err := range p.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		switch d.Kind {
		case llm.DeltaText:
			text.WriteString(d.Text)
		case llm.DeltaUsage:
			a.usage = &d.Usage
		}
		if text.Len() > most {
			break
		}
	}
	b.count(a)
	if strings.TrimSpace(text.String()) == "" {
		return "", &llm.Error{Kind: llm.KindEmpty, Message: "the answer was empty"}
	}
	return text.String(), nil
}
