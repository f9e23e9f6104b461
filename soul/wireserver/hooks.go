package wireserver

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"sync"
	"time"

	"kimi-acp/soul"
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

// hooks calls the hooks of the client.
type hooks struct {
	server *server
	told   sync.WaitGroup

	mu   sync.Mutex
	subs []subscription
}

var _ soul.Hooks = (*hooks)(nil)

func newHooks(s *server) *hooks { return &hooks{server: s} }

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

// matching gives the hooks on an event whose matcher finds the target. One that is no
// regular expression finds nothing.
func (h *hooks) matching(event, target string) []subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []subscription
	for _, s := range h.subs {
		if *s.Event != event {
			continue
		}
		if s.Matcher != "" {
			if re, err := regexp.Compile(s.Matcher); err != nil || !re.MatchString(target) {
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// Ask calls the hooks on an event side by side and waits for them; see soul.Hooks. One
// that does not answer in time allows.
func (h *hooks) Ask(ctx context.Context, event, target string, data map[string]any) (block bool, why string) {
	subs, commands := h.matching(event, target), h.commands(event, target)
	if len(subs)+len(commands) == 0 {
		return false, ""
	}
	w := h.server.wire
	began := time.Now()
	w.Send(wire.HookTriggered{Event: event, Target: target, HookCount: len(subs) + len(commands)})
	input := map[string]any{"hook_event_name": event, "session_id": h.server.opts.Kept.ID(), "cwd": h.server.opts.Roots[0]}
	for k, v := range data {
		input[k] = v
	}
	raw, err := json.Marshal(input)
	if err != nil {
		h.server.log.Error("bug: a hook's input could not be encoded", "error", err)
		raw = nil
	}
	decisions := make([]wire.HookDecision, len(subs)+len(commands))
	var wg sync.WaitGroup
	for i, s := range subs {
		wg.Go(func() { decisions[i] = h.call(ctx, s, event, target, raw) })
	}
	for i, run := range commands {
		wg.Go(func() { decisions[len(subs)+i] = run(ctx, raw) })
	}
	wg.Wait()
	done := wire.HookResolved{Event: event, Target: target, Action: "allow", DurationMS: int(time.Since(began).Milliseconds())}
	for _, d := range decisions {
		if d.Action == "block" {
			done.Action, done.Reason = d.Action, d.Reason
			break
		}
	}
	w.Send(done)
	return done.Action == "block", done.Reason
}

// commands are the hooks of the settings on an event.
func (h *hooks) commands(event, target string) []func(context.Context, []byte) wire.HookDecision {
	if h.server.opts.Hooks == nil {
		return nil
	}
	return h.server.opts.Hooks(event, target)
}

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

// Tell calls the hooks on an event and does not wait; see soul.Hooks.
func (h *hooks) Tell(event, target string, data map[string]any) {
	if len(h.matching(event, target))+len(h.commands(event, target)) == 0 {
		return
	}
	h.told.Go(func() { h.Ask(context.Background(), event, target, data) })
}

// wait waits for the hooks that were told of something.
func (h *hooks) wait() { h.told.Wait() }
