package soul

import (
	"encoding/json"
	"fmt"
	"time"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// answerer is who gets a model call.
type answerer struct {
	llm.Provider
	circuit *llm.Circuit
	standIn bool // it is the fallback
}

// choose gives who gets the next call: the session's model, or the fallback while the
// circuit of the session's is open. It says so when that changes.
func (b *Builtin) choose() answerer {
	b.mu.Lock()
	provider, own := b.provider, b.circuit
	b.mu.Unlock()
	first := answerer{Provider: provider, circuit: circuitOf(provider, own)}
	second, ok := b.standIn(first)
	if !ok || first.circuit.Allow() {
		return first
	}
	b.mu.Lock()
	told := b.standsIn
	b.standsIn = true
	b.mu.Unlock()
	if !told {
		name := provider.Model().Name
		b.tell("warning", fmt.Sprintf("%s answers for %s", second.Model().Name, name),
			fmt.Sprintf("The provider of %s failed too often. It is tried again in a minute.", name))
	}
	return second
}

// standIn gives the fallback for a model, if there is one and it is another.
func (b *Builtin) standIn(first answerer) (answerer, bool) {
	if b.cfg.Fallback == nil || first.standIn {
		return answerer{}, false
	}
	second := answerer{Provider: b.cfg.Fallback, circuit: circuitOf(b.cfg.Fallback, nil), standIn: true}
	same := second.circuit == first.circuit && second.Model().Name == first.Model().Name
	return second, !same
}

// answered notes that a whole answer came, and says when that ends the fallback's time.
func (b *Builtin) answered(by answerer) {
	by.circuit.Succeed()
	b.mu.Lock()
	back := b.standsIn && !by.standIn
	b.standsIn = b.standsIn && !back
	b.mu.Unlock()
	if back {
		b.tell("info", by.Model().Name+" answers again", "")
	}
}

// circuitOf gives the circuit of a provider, own for one that nobody watches.
func circuitOf(p llm.Provider, own *llm.Circuit) *llm.Circuit {
	if g, ok := p.(llm.Guarded); ok && g.Circuit() != nil {
		return g.Circuit()
	}
	return own
}

// tell tells people of something that is no part of the answer.
func (b *Builtin) tell(severity, title, body string) {
	b.mu.Lock()
	b.told++
	id := fmt.Sprintf("model-%d", b.told)
	b.mu.Unlock()
	b.notify(wire.Notification{
		ID: id, Category: "system", Type: "model", SourceKind: "session", SourceID: b.cfg.SessionID,
		Title: title, Body: body, Severity: severity,
		CreatedAt: float64(time.Now().UnixMilli()) / 1000, Payload: json.RawMessage(`{}`),
	})
}

// notify tells people, and the hooks that want to know of notices.
func (b *Builtin) notify(n wire.Notification) {
	b.cfg.Wire.Send(n)
	b.hookAside(HookNotification, n.Type, map[string]any{
		"sink": "wire", "notification_type": n.Type, "title": n.Title, "body": n.Body, "severity": n.Severity,
	})
}
