package scripted

import (
	"context"
	"strings"
	"time"

	"kimi-acp/soul/llm"
)

// The texts of an answer that holds nothing to act on.
const (
	emptyText     = "The API returned an empty response."
	thinkOnlyText = "The API returned a response containing only thinking content without any text or tool calls. " +
		"This usually indicates the stream was interrupted or the output token budget was exhausted during reasoning."
)

// play parses a script and yields its deltas. The whole script is parsed first,
// so that an error anywhere in it prevents every delta. The owner is the name
// under which an empty script is reported.
func play(ctx context.Context, text, owner string, yield func(llm.Delta, error) bool) {
	s, err := parse(text)
	if err == nil && !s.streamable() {
		err = failf("%s DSL produced no streamable parts.", owner)
	}
	if err != nil {
		yield(llm.Delta{}, err)
		return
	}
	if s.id != "" && !yield(llm.Delta{Kind: llm.DeltaID, Text: s.id}, nil) {
		return
	}
	var answer summary
	for _, st := range s.steps {
		if err := pause(ctx, st.pause); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if st.delta.Kind == 0 {
			continue
		}
		answer.add(st.delta)
		if !yield(st.delta, nil) {
			return
		}
	}
	finish, err := answer.end(s.finish)
	if err != nil {
		yield(llm.Delta{}, err)
		return
	}
	if s.usage != nil && !yield(llm.Delta{Kind: llm.DeltaUsage, Usage: *s.usage}, nil) {
		return
	}
	yield(llm.Delta{Kind: llm.DeltaFinish, Finish: finish}, nil)
}

// pause waits for d, which may be 0, or until ctx ends; then it gives ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// summary is what decides how an answer ends.
type summary struct {
	content bool // any part but a tool call
	think   bool
	text    bool // text that is not blank
	calls   bool
}

func (a *summary) add(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaText:
		a.content = true
		a.text = a.text || strings.TrimFunc(d.Text, isSpace) != ""
	case llm.DeltaThink:
		a.content = true
		a.think = true
	case llm.DeltaPart:
		a.content = true
	case llm.DeltaCall:
		a.calls = true
	}
}

// end gives the finish reason: the one that the script names, or the one that
// fits. An answer without text and calls is an error unless the script says that
// it was cut or filtered.
func (a *summary) end(named llm.FinishReason) (llm.FinishReason, error) {
	explained := named == llm.FinishLength || named == llm.FinishContentFilter
	switch {
	case explained:
		return named, nil
	case !a.content && !a.calls:
		return "", &llm.Error{Kind: llm.KindEmpty, Message: emptyText}
	case a.think && !a.text && !a.calls:
		return "", &llm.Error{Kind: llm.KindEmpty, Message: thinkOnlyText}
	case named != "":
		return named, nil
	case a.calls:
		return llm.FinishToolCalls, nil
	default:
		return llm.FinishStop, nil
	}
}
