package soul

import (
	"cmp"
	"context"
	"encoding/json"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// The events on which a soul calls hooks.
const (
	HookPreToolUse         = "PreToolUse"
	HookPostToolUse        = "PostToolUse"
	HookPostToolUseFailure = "PostToolUseFailure"
	HookUserPromptSubmit   = "UserPromptSubmit"
	HookStop               = "Stop"
	HookStopFailure        = "StopFailure"
	HookPreCompact         = "PreCompact"
	HookPostCompact        = "PostCompact"
	HookSessionStart       = "SessionStart" // called by whoever opens sessions, as is the end
	HookSessionEnd         = "SessionEnd"
	HookSubagentStart      = "SubagentStart"
	HookSubagentStop       = "SubagentStop"
	HookNotification       = "Notification"
)

// HookEvents lists the events, in kimi-cli's order.
func HookEvents() []string {
	return []string{
		HookPreToolUse, HookPostToolUse, HookPostToolUseFailure, HookUserPromptSubmit, HookStop, HookStopFailure,
		HookSessionStart, HookSessionEnd, HookSubagentStart, HookSubagentStop, HookPreCompact, HookPostCompact, HookNotification,
	}
}

// Hooks have a say in what a soul does. Their methods may be called at once.
type Hooks interface {
	// Ask calls those who hook on an event and waits for them. They see data, and target
	// is what they filter by. Block says that one of them is against it, and why.
	Ask(ctx context.Context, event, target string, data map[string]any) (block bool, why string)
	// Tell calls them and does not wait.
	Tell(event, target string, data map[string]any)
}

func (b *Builtin) hook(ctx context.Context, event, target string, data map[string]any) (block bool, why string) {
	if b.cfg.Hooks == nil {
		return false, ""
	}
	return b.cfg.Hooks.Ask(ctx, event, target, data)
}

func (b *Builtin) hookAside(event, target string, data map[string]any) {
	if b.cfg.Hooks != nil {
		b.cfg.Hooks.Tell(event, target, data)
	}
}

// maxHookOutput bounds what hooks see of a tool's output, in bytes.
const maxHookOutput = 2000

// runHooked runs a tool call unless a hook is against it.
func (b *Builtin) runHooked(ctx context.Context, call llm.ToolCall) wire.ToolReturnValue {
	if b.cfg.Hooks == nil {
		return b.runTool(ctx, call)
	}
	input := json.RawMessage("{}")
	if call.Arguments != nil && json.Valid([]byte(*call.Arguments)) {
		input = json.RawMessage(*call.Arguments)
	}
	data := func(more string, value any) map[string]any {
		d := map[string]any{"tool_name": call.Name, "tool_input": input, "tool_call_id": call.ID}
		if more != "" {
			d[more] = value
		}
		return d
	}
	if block, why := b.hook(ctx, HookPreToolUse, call.Name, data("", nil)); block {
		return wire.FailedTool(cmp.Or(why, "Blocked by PreToolUse hook"), "Hook blocked")
	}
	value := b.runTool(ctx, call)
	if value.IsError {
		b.hookAside(HookPostToolUseFailure, call.Name, data("error", value.Message))
		return value
	}
	output := value.Output.Text
	if len(output) > maxHookOutput {
		output = output[:maxHookOutput]
	}
	b.hookAside(HookPostToolUse, call.Name, data("tool_output", output))
	return value
}
