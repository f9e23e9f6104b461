package acp

import (
	"kimi-acp/soul"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// openHooks makes the user's hooks of the session.
func (s *session) openHooks(guard *tool.Guard) {
	if s.agent.opts.Hooks != nil {
		s.hooks = s.agent.opts.Hooks(HookSpec{SessionID: s.id, Roots: s.roots, Trusted: guard.Trusted, Send: func(m wire.Event) {
			if s.state.State() == soul.SessionActive { // what a turn has left behind is no part of the conversation
				s.wire.Send(m)
			}
		}})
	}
}

// hooksOfSoul are the hooks as the session's soul calls them; nil: there are none.
func (s *session) hooksOfSoul() soul.Hooks {
	if s.hooks == nil {
		return nil
	}
	return s.hooks
}

// tellBegin tells the hooks that the session was made, or opened again.
func (s *session) tellBegin(source string) {
	if s.hooks != nil {
		s.hooks.Tell(soul.HookSessionStart, source, map[string]any{"source": source})
	}
}

// tellEnd tells the hooks, once, that the session is over.
func (s *session) tellEnd() {
	if s.hooks != nil {
		s.ending.Do(func() { s.hooks.Leave(soul.HookSessionEnd, "exit", map[string]any{"reason": "exit"}) })
	}
}

// endHooks tells the hooks that the session is over, and waits for those that run.
func (s *session) endHooks() {
	if s.hooks != nil {
		s.tellEnd()
		s.hooks.Close()
	}
}

// tellAsked tells the hooks that the user is asked for something, and may not look.
func (s *session) tellAsked(title string) {
	if s.hooks != nil {
		s.hooks.Tell(soul.HookNotification, "permission_prompt", map[string]any{
			"sink": "editor", "notification_type": "permission_prompt", "title": title, "body": "", "severity": "info",
		})
	}
}
