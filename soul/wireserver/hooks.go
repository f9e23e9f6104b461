package wireserver

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"kimi-acp/soul"
	"kimi-acp/soul/hook"
	"kimi-acp/soul/wire"
)

// subscription is a hook of the client.
type subscription struct {
	ID      *string `json:"id"`
	Event   *string `json:"event"`
	Matcher string  `json:"matcher"` // a regular expression that the target must hold; "": any
	Timeout *laxInt `json:"timeout"` // seconds
}

// defaultHookTimeout is how long a hook may take when it does not say.
const defaultHookTimeout = 30 // seconds

// maxHooks bounds the subscriptions, which add up.
const maxHooks = 1000

type hookInfo struct {
	Supported  []string   `json:"supported_events"`
	Configured hookCounts `json:"configured"`
}

// hookCounts are numbers by event, in the order in which the events came.
type hookCounts struct {
	events []string
	counts map[string]int
}

// MarshalJSON gives an object.
func (h hookCounts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range h.events {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		n, err := json.Marshal(h.counts[e])
		if err != nil {
			return nil, err
		}
		b.WriteByte(':')
		b.Write(n)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// hooks calls the hooks of the client, and those of the settings in the same round.
type hooks struct {
	*hook.Rounds
	server *server

	mu   sync.Mutex
	subs []subscription
}

var _ soul.Hooks = (*hooks)(nil)

func newHooks(s *server) *hooks {
	h := &hooks{server: s}
	h.Rounds = hook.NewRounds(hook.RoundsOptions{
		SessionID: s.opts.Kept.ID(), Dir: s.opts.Roots[0], Find: h.find, Send: s.wire.Send, Logger: s.log,
	})
	return h
}

// subscribe adds hooks. Those on events that there are not are dropped.
func (h *hooks) subscribe(subs []subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range subs {
		if slices.Contains(soul.HookEvents(), *s.Event) && len(h.subs) < maxHooks {
			h.subs = append(h.subs, s)
		}
	}
}

func (h *hooks) info() hookInfo {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := hookCounts{counts: map[string]int{}}
	for _, s := range h.subs {
		if c.counts[*s.Event] == 0 {
			c.events = append(c.events, *s.Event)
		}
		c.counts[*s.Event]++
	}
	return hookInfo{Supported: soul.HookEvents(), Configured: c}
}

// find gives the hooks on an event that want to know of a target.
func (h *hooks) find(event, target string) []hook.Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []hook.Call
	for _, s := range h.subs {
		if *s.Event == event && hook.Matches(s.Matcher, target) {
			found = append(found, func(ctx context.Context, payload []byte) wire.HookDecision {
				return h.call(ctx, s, event, target, payload)
			})
		}
	}
	if h.server.opts.Hooks != nil {
		found = append(found, h.server.opts.Hooks(event, target)...)
	}
	return found
}

// call asks the client. A hook that does not answer in time allows.
func (h *hooks) call(ctx context.Context, s subscription, event, target string, raw json.RawMessage) wire.HookDecision {
	seconds := defaultHookTimeout
	if s.Timeout != nil {
		seconds = int(*s.Timeout)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	d, _ := h.server.wire.CallHook(ctx, wire.HookRequest{SubscriptionID: *s.ID, Event: event, Target: target, InputData: raw}) // which allows when it fails
	return d
}
