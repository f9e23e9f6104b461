package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"kimi-acp/soul/llm"
)

// maxAnswer bounds the events of one answer, in bytes.
const maxAnswer = 64 << 20

// answer turns events into deltas and knows when they make a whole answer.
type answer struct {
	emit     func(llm.Delta) error
	thinkKey string // Config.ReasoningKey

	size   int
	id     bool // DeltaID was emitted
	think  bool // DeltaThink was emitted
	said   bool // DeltaText was emitted
	text   bool // and its text is not blank
	calls  calls
	usage  *llm.Usage
	finish string // in the vendor's words, "": not yet

	chunk chunk // reused
}

// add takes one event. Its error ends the call.
func (a *answer) add(line []byte) error {
	if a.size += len(line); a.size > maxAnswer {
		return malformed("the answer has more than %d bytes", maxAnswer)
	}
	c := &a.chunk
	if !fastChunk(line, c) {
		if err := decodeChunk(line, c); err != nil {
			return malformed("the provider sent an event that cannot be read: %s", excerpt(line))
		}
		if !c.hasThink && !plainThinkKey(a.thinkKey) {
			c.think, c.hasThink = thinkUnder(line, a.thinkKey)
		}
	}
	if c.failure != nil {
		return eventError(c.failure)
	}
	if err := a.pieces(c); err != nil {
		return err
	}
	if c.usage != nil {
		a.usage = c.usage
	}
	if c.finish != "" {
		a.finish = c.finish
	}
	return nil
}

// pieces emits what an event adds to the answer.
func (a *answer) pieces(c *chunk) error {
	if !a.id && len(c.id) > 0 {
		a.id = true
		if err := a.emit(llm.Delta{Kind: llm.DeltaID, Text: string(c.id)}); err != nil {
			return err
		}
	}
	// An empty thought is told once, and before all text: some vendors send one
	// with every event.
	if c.think != "" || c.hasThink && !a.think && !a.said {
		a.think = true
		if err := a.emit(llm.Delta{Kind: llm.DeltaThink, Text: c.think}); err != nil {
			return err
		}
	}
	if c.text != "" {
		a.said = true
		a.text = a.text || strings.TrimSpace(c.text) != ""
		if err := a.emit(llm.Delta{Kind: llm.DeltaText, Text: c.text}); err != nil {
			return err
		}
	}
	for i := range c.calls {
		if err := a.calls.add(&c.calls[i], a.emit); err != nil {
			return err
		}
	}
	return nil
}

// end closes the answer after the stream has ended with err, which is io.EOF at
// its regular end. A stream is whole when a finish reason was seen; what went
// wrong after that does not matter.
func (a *answer) end(l *lines, err error) error {
	if a.finish == "" {
		if err := a.unfinished(l, err); err != nil {
			return err
		}
	}
	reason, err := a.reason()
	if err != nil {
		return err
	}
	if err := a.calls.flush(a.emit); err != nil {
		return err
	}
	if err := a.checkEmpty(reason); err != nil {
		return err
	}
	switch {
	case reason == llm.FinishStop && a.calls.begun > 0:
		reason = llm.FinishToolCalls
	case reason == llm.FinishToolCalls && a.calls.begun == 0:
		reason = llm.FinishStop
	}
	if a.usage != nil {
		if err := a.emit(llm.Delta{Kind: llm.DeltaUsage, Usage: *a.usage}); err != nil {
			return err
		}
	}
	return a.emit(llm.Delta{Kind: llm.DeltaFinish, Finish: reason})
}

// unfinished says why a stream ended without a finish reason. It gives nil if
// the body was no stream but an answer in one piece, which is then taken.
func (a *answer) unfinished(l *lines, err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	stray := bytes.TrimSpace(l.stray)
	var c chunk
	isEvent := len(stray) > 0 && decodeChunk(stray, &c) == nil
	switch {
	case isEvent && c.failure != nil:
		return eventError(c.failure)
	case isEvent && !l.data && c.finish != "":
		return a.add(stray)
	case l.done:
		return malformed("the answer ended without a finish reason")
	case l.data:
		return &llm.Error{Kind: llm.KindConnection, Message: "the answer broke off before its end"}
	case len(stray) > 0:
		return malformed("the provider sent something that is no stream of events: %s", excerpt(stray))
	default:
		return &llm.Error{Kind: llm.KindEmpty, Message: "the provider sent an empty body"}
	}
}

// reason puts the vendors' finish reasons into ours. Some of them are failures.
func (a *answer) reason() (llm.FinishReason, error) {
	switch a.finish {
	case "length", "max_tokens", "model_length":
		return llm.FinishLength, nil
	case "tool_calls", "function_call", "tool_use":
		return llm.FinishToolCalls, nil
	case "content_filter", "sensitive", "safety":
		return llm.FinishContentFilter, nil
	case "error", "network_error":
		return "", &llm.Error{Kind: llm.KindServer, Message: "the provider failed in the middle of its answer"}
	case "insufficient_system_resource":
		return "", &llm.Error{Kind: llm.KindOverloaded, Message: "the provider ran out of capacity in the middle of its answer"}
	}
	return llm.FinishStop, nil
}

func (a *answer) checkEmpty(reason llm.FinishReason) error {
	switch {
	case a.text || a.calls.begun > 0 || reason == llm.FinishLength || reason == llm.FinishContentFilter:
		return nil
	case a.think:
		return &llm.Error{Kind: llm.KindEmpty, Message: "the answer holds thinking only, no text and no tool call"}
	default:
		return &llm.Error{Kind: llm.KindEmpty, Message: "the answer holds no text and no tool call"}
	}
}

func malformed(format string, args ...any) error {
	return &llm.Error{Kind: llm.KindMalformed, Message: fmt.Sprintf(format, args...)}
}
