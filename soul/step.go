package soul

import (
	"context"
	"slices"
	"strings"
	"sync"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// next is what follows a step.
type next uint8

const (
	stepContinue  next = iota // tools ran: the model goes on
	stepDone                  // the model had nothing more to do
	stepCut                   // cut at the output limit
	stepRefused               // refused by the provider's filter
	stepCancelled             // the turn's context ended after tools had started
	stepCircling              // tools ran, and the model goes round in circles
	stepRejected              // the user turned a call down, which ends the turn
)

// step is one model call and the tool calls that it asks for. The history grows
// by the whole step or not at all. Once a tool has started, the step counts, also
// when the turn is cancelled: the model must know what was done.
func (b *Builtin) step(ctx context.Context, n int) (next, error) {
	answer, err := b.ask(ctx, n)
	if err != nil {
		return stepDone, err
	}
	b.count(answer)
	message := answer.message()
	if answer.finish == llm.FinishContentFilter {
		b.failCalls(answer)
		return stepRefused, nil
	}
	if answer.finish == llm.FinishLength {
		// Calls that were cut off must not run; what was said stays.
		message.ToolCalls = nil
		if len(message.Content) > 0 {
			b.commit(answer, message)
		}
		b.sendStatus(answer)
		b.failCalls(answer)
		return stepCut, nil
	}
	if len(message.ToolCalls) == 0 {
		b.commit(answer, message)
		b.sendStatus(answer)
		return stepDone, nil
	}
	b.sendStatus(answer)
	b.record.stepBegins(message)
	results, circling, rejected := b.runTools(ctx, message.ToolCalls)
	b.commit(answer, message, results...)
	mail, sent := b.mail()
	if ctx.Err() != nil {
		return stepCancelled, nil
	}
	if rejected && b.cfg.Profile.rejectionEnds {
		return stepRejected, nil
	}
	if sent && !rejected && b.goBackWith(ctx, mail) {
		return stepContinue, nil
	}
	if circling != "" {
		b.say("I stopped: %s. Tell me what to do differently, or send “continue”.", circling)
		return stepCircling, nil
	}
	return stepContinue, nil
}

// count adds a model call to the session's usage.
func (b *Builtin) count(a *assembler) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if a.usage != nil {
		b.used.InputOther += a.usage.InputOther
		b.used.InputCacheRead += a.usage.InputCacheRead
		b.used.InputCacheCreation += a.usage.InputCacheCreation
		b.used.Output += a.usage.Output
	}
}

// runTools runs the calls of one message side by side; the Executor behind the
// Wire orders those that change something. It waits for all of them, and says why the
// turn had better end when the model goes round in circles. Rejected
// says that the user turned a call down.
func (b *Builtin) runTools(ctx context.Context, calls []llm.ToolCall) (messages []llm.Message, circling string, rejected bool) {
	values := make([]wire.ToolReturnValue, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() {
			values[i] = bounded(b.runHooked(ctx, call))
			b.record.did(ToolMessage(call.ID, values[i])) // before anybody sees it
			b.cfg.Wire.Send(wire.ToolResult{ToolCallID: call.ID, ReturnValue: values[i]})
		})
	}
	wg.Wait()
	reminders, circling := b.repeats.note(calls, values)
	for i, call := range calls {
		m := ToolMessage(call.ID, values[i])
		if reminders[i] != "" {
			m.Content = append(m.Content, llm.Text("<system-reminder>"+reminders[i]+"</system-reminder>"))
		}
		messages = append(messages, m)
	}
	rejected = slices.ContainsFunc(values, func(v wire.ToolReturnValue) bool { return v.Rejected })
	return messages, circling, rejected
}

func (b *Builtin) runTool(ctx context.Context, call llm.ToolCall) wire.ToolReturnValue {
	if !b.knows(call.Name) {
		return wire.FailedTool("Tool `"+call.Name+"` not found", "")
	}
	value, err := b.cfg.Wire.CallTool(ctx, wire.ToolCallRequest{ID: call.ID, Name: call.Name, Arguments: call.Arguments})
	switch {
	case err == nil:
		return value
	case ctx.Err() != nil:
		return wire.FailedTool("The user stopped the turn before this tool was done. It may have had effects; check before you rely on either.", "Interrupted")
	default:
		return wire.FailedTool("The tool could not be run: "+err.Error(), "Not run")
	}
}

// knows tells whether there is a tool of that name.
func (b *Builtin) knows(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known[name]
}

// failCalls closes tool calls on the Wire that will never run.
func (b *Builtin) failCalls(a *assembler) {
	for _, c := range a.calls {
		if !c.shown {
			continue
		}
		b.cfg.Wire.Send(wire.ToolResult{ToolCallID: c.call.ID, ReturnValue: wire.FailedTool("The model's answer was cut off before this call was complete, so it was not run.", "Cut off")})
	}
}

// ToolMessage is a tool's outcome as the model reads it.
func ToolMessage(id string, v wire.ToolReturnValue) llm.Message {
	var parts []llm.Part
	system := func(s string) { parts = append(parts, llm.Text("<system>"+s+"</system>")) }
	output := v.Output.Parts
	if output == nil && v.Output.Text != "" {
		output = []llm.Part{llm.Text(v.Output.Text)}
	}
	hasText := false
	for _, p := range output {
		hasText = hasText || p.Type == llm.PartText && strings.TrimSpace(p.Text) != ""
	}
	switch {
	case v.IsError:
		system("ERROR: " + v.Message)
	case v.Message != "":
		system(v.Message)
	case len(output) == 0:
		system("Tool output is empty.")
	case !hasText:
		system("Tool returned non-text content.")
	}
	return llm.Message{Role: llm.RoleTool, ToolCallID: id, Content: append(parts, output...)}
}

// commit lets a step enter the history, and the record of it.
func (b *Builtin) commit(answer *assembler, message llm.Message, results ...llm.Message) {
	tokens := 0
	message.Mark = b.record.marked()
	b.history.Append(message)
	if answer.usage != nil {
		tokens = answer.usage.Total()
		b.history.Reported(tokens)
	}
	b.history.Append(results...)
	b.record.step(message, tokens, results)
}

// sendStatus tells the usage of a model call and how full the context is.
func (b *Builtin) sendStatus(a *assembler) {
	used, size := b.history.Tokens(), b.modelInUse().ContextSize
	if a.usage != nil {
		used = a.usage.Total()
		if b.cfg.Profile.sparseStatus {
			used = a.usage.Input()
		}
	}
	ratio := float64(used) / float64(max(size, 1))
	planMode := b.cfg.Controls != nil && b.cfg.Controls.Mode() == "plan"
	status := wire.StatusUpdate{TokenUsage: a.usage, PlanMode: &planMode}
	if a.usage != nil || !b.cfg.Profile.sparseStatus {
		status.ContextUsage, status.ContextTokens, status.MaxContextTokens = &ratio, &used, &size
	}
	if a.id != "" {
		status.MessageID = &a.id
	}
	b.cfg.Wire.Send(status)
}
