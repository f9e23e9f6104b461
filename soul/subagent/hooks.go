package subagent

import (
	"context"

	"kimi-acp/soul"
)

// toolHooks are the hooks of a session as the soul of an agent calls them: they have a
// say in what its tools do. What it is asked, and when it stops, is not the user's
// business.
type toolHooks struct{ session soul.Hooks }

// hooksOf gives the hooks of an agent's soul, nil when the session has none.
func hooksOf(session soul.Hooks) soul.Hooks {
	if session == nil {
		return nil
	}
	return toolHooks{session}
}

func (h toolHooks) concerns(event string) bool {
	switch event {
	case soul.HookUserPromptSubmit, soul.HookStop, soul.HookStopFailure, soul.HookNotification:
		return false
	}
	return true
}

// Ask calls those who hook on an event and waits; see soul.Hooks.
func (h toolHooks) Ask(ctx context.Context, event, target string, data map[string]any) (block bool, why string) {
	if !h.concerns(event) {
		return false, ""
	}
	return h.session.Ask(ctx, event, target, data)
}

// Tell calls them and does not wait; see soul.Hooks.
func (h toolHooks) Tell(event, target string, data map[string]any) {
	if h.concerns(event) {
		h.session.Tell(event, target, data)
	}
}

// maxHooked bounds what hooks see of a prompt and an answer, in code points.
const maxHooked = 500

// tellStart tells the hooks that an agent begins to work, and tellStop that it has.
func (c *Crew) tellStart(ctx context.Context, m *member, prompt string) {
	if c.opts.Hooks != nil {
		c.opts.Hooks.Ask(ctx, soul.HookSubagentStart, m.kind.Name, map[string]any{"agent_name": m.kind.Name, "prompt": clipped(prompt)})
	}
}

func (c *Crew) tellStop(m *member, answer string) {
	if c.opts.Hooks != nil {
		c.opts.Hooks.Tell(soul.HookSubagentStop, m.kind.Name, map[string]any{"agent_name": m.kind.Name, "response": clipped(answer)})
	}
}

func clipped(text string) string {
	if runes := []rune(text); len(runes) > maxHooked {
		return string(runes[:maxHooked])
	}
	return text
}
