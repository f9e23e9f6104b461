package hook

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"kimi-acp/soul/wire"
)

const (
	// maxTold bounds the rounds of a session that go on and are not waited for.
	maxTold = 64
	// closeGrace is how long those that go on may take when the session is closed.
	closeGrace = 2 * time.Second
)

// Call calls one hook with what it reads, and gives its decision: "block", or anything
// else, which allows. It returns soon after the context ends.
type Call func(ctx context.Context, payload []byte) wire.HookDecision

// RoundsOptions are what the rounds of a session are made from.
type RoundsOptions struct {
	SessionID string
	Dir       string // the folder worked in
	// Find gives the hooks on an event that want to know of a target.
	Find   func(event, target string) []Call
	Send   func(wire.Event) // told of what hooks decide; nil: nobody is
	Logger *slog.Logger     // nil: none
}

// Rounds calls the hooks of one session, all those on an event at once, whoever runs
// them. Its methods may be called at once.
type Rounds struct {
	o    RoundsOptions
	ctx  context.Context //nolint:containedctx // the life of what is told and not waited for
	stop context.CancelFunc
	told sync.WaitGroup
	room chan struct{}
}

// NewRounds makes the rounds of a session. The caller closes them.
func NewRounds(o RoundsOptions) *Rounds {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Rounds{o: o, room: make(chan struct{}, maxTold)}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Close waits a moment for what was told, ends the rest, and returns when nothing runs.
func (r *Rounds) Close() {
	timer := time.AfterFunc(closeGrace, r.stop)
	r.told.Wait()
	timer.Stop()
	r.stop()
}

// Ask calls the hooks on an event side by side and waits for them. They read data; block
// says that one is against it, and why.
func (r *Rounds) Ask(ctx context.Context, event, target string, data map[string]any) (block bool, why string) {
	calls := r.o.Find(event, target)
	if len(calls) == 0 {
		return false, ""
	}
	began := time.Now()
	r.send(wire.HookTriggered{Event: event, Target: target, HookCount: len(calls)})
	payload := r.payload(event, data)
	decisions := make([]wire.HookDecision, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { decisions[i] = call(ctx, payload) })
	}
	wg.Wait()
	done := wire.HookResolved{Event: event, Target: target, Action: "allow", DurationMS: int(time.Since(began).Milliseconds())}
	if i := slices.IndexFunc(decisions, func(d wire.HookDecision) bool { return d.Action == "block" }); i >= 0 {
		done.Action, done.Reason = "block", decisions[i].Reason
	}
	r.send(done)
	return done.Action == "block", done.Reason
}

// Tell calls the hooks on an event and does not wait. Where too many run already, the
// event is lost, which is logged.
func (r *Rounds) Tell(event, target string, data map[string]any) {
	if len(r.o.Find(event, target)) == 0 {
		return
	}
	select {
	case r.room <- struct{}{}:
	default:
		r.o.Logger.Warn("too many hooks run; an event is not told", "session", r.o.SessionID, "event", event)
		return
	}
	r.told.Go(func() {
		defer func() { <-r.room }()
		r.Ask(r.ctx, event, target, data)
	})
}

func (r *Rounds) send(m wire.Event) {
	if r.o.Send != nil {
		r.o.Send(m)
	}
}

// payload is what hooks read.
func (r *Rounds) payload(event string, data map[string]any) []byte {
	all := map[string]any{"hook_event_name": event, "session_id": r.o.SessionID, "cwd": r.o.Dir}
	maps.Copy(all, data)
	raw, err := json.Marshal(all)
	if err != nil {
		r.o.Logger.Error("bug: a hook's input could not be encoded", "event", event, "error", err)
		return []byte("{}")
	}
	return raw
}

// Matches tells whether a hook with the matcher wants to know of a target. A matcher that
// is no regular expression finds nothing.
func Matches(matcher, target string) bool {
	if matcher == "" {
		return true
	}
	re, err := regexp.Compile(matcher)
	return err == nil && re.MatchString(target)
}
