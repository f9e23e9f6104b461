package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
)

// turn is one prompt, or a change of kernels: it waits in the session's queue, runs, and is answered once.
type turn struct {
	call   *jsonrpc.Call
	input  soul.Input
	blocks []json.RawMessage // of the prompt, nil: all are text
	kernel string            // instead of a prompt: the kernel to go over to; "": it is a prompt
	size   int               // of the request, in bytes
	prompt json.RawMessage   // its blocks, as they came; nil: it is no prompt
	file   string            // in which the prompt is kept while it waits, "": none; under waiting.mu
	begun  bool              // it waits no more; under waiting.mu
	ctx    context.Context   //nolint:containedctx // the life of the turn, from its place in the queue on
	cancel context.CancelFunc

	woken  chan struct{}   // closed when what the session keeps is open for the turn, or could not be opened
	asking context.Context //nolint:containedctx // the time in which the editor may be asked; set when the turn begins
	asks   sync.WaitGroup  // the goroutines that wait for the editor's answers
}

// prompt queues a prompt. All of it happens on the reader, before the next
// message is looked at: a cancel in the same packet finds the turn.
func (a *Agent) prompt(call *jsonrpc.Call) {
	p, s, err := a.addressed(call)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	input, err := parsePrompt(p["prompt"], s.mind().Status().Images)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	input = s.look(input, p["prompt"])
	a.enqueue(s, &turn{call: call, input: input, blocks: blocksToKeep(p["prompt"]), size: len(call.Params()), prompt: p["prompt"]})
}

// enqueue puts a turn behind those that run and wait, or answers why it is not taken.
func (a *Agent) enqueue(s *session, t *turn) {
	call := t.call
	t.ctx, t.cancel = context.WithCancel(a.ctx)
	t.woken = make(chan struct{})
	// A cancelled request ends its turn, also while it waits in the queue.
	context.AfterFunc(call.Context(), t.cancel)

	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		t.cancel()
		call.ReplyNow(nil, unknownSession(s.id))
		return
	}
	if !s.room(t.size) {
		s.mu.Unlock()
		t.cancel()
		call.ReplyNow(nil, invalidRequest("Too many prompts wait in this session; let some finish or cancel"))
		return
	}
	s.queue = append(s.queue, t)
	idle := !s.draining
	s.draining = true
	if idle {
		s.idle = make(chan struct{})
		s.stopParking()
	}
	s.mu.Unlock()
	if idle {
		a.turns.Go(s.drain)
	} else {
		s.keepWaiting(t)
	}
}

// room reports whether one more prompt, of size bytes, may wait; mu is held.
func (s *session) room(size int) bool {
	if len(s.queue) == 0 {
		return true // it runs next
	}
	for _, t := range s.queue[1:] {
		size += t.size
	}
	return len(s.queue) <= maxQueued && size <= maxQueuedBytes
}

// pop takes the turn that ran off the queue, and keeps nothing of it.
func (s *session) pop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.Delete(s.queue, 0, 1)
}

// cancel ends the running turn of a session. Prompts that wait stay queued.
func (a *Agent) cancel(raw json.RawMessage) {
	p, err := parseParams(raw)
	if err != nil {
		return
	}
	s, err := a.session(p)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		s.queue[0].cancel()
	}
}

// drain runs the queued prompts one after the other until none is left. It
// answers each before it looks at the next, so that no turn begins before the
// answer to the one before it.
func (s *session) drain() {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.draining = false
			close(s.idle)
			s.parkLater()
			s.mu.Unlock()
			s.agent.parkOldest()
			return
		}
		t := s.queue[0]
		s.mu.Unlock()

		answer := s.serve(t)
		t.cancel()

		if s.agent.ctx.Err() == nil || !s.waitsOn(t) {
			s.forget(t)
		}
		// Off the queue first: a cancel behind the answer must not find this turn.
		s.pop()
		answer()
	}
}

// serve does what was queued, and gives what answers it.
func (s *session) serve(t *turn) (answer func()) {
	if t.kernel != "" {
		return s.changeKernel(t)
	}
	result, err := s.serveTurn(t)
	return func() { t.call.Reply(result, err) }
}

// serveTurn runs one turn, of a session that may have been parked.
func (s *session) serveTurn(t *turn) (result any, err error) {
	s.working.Lock()
	defer s.working.Unlock()
	err = s.wake()
	close(t.woken)
	if err != nil {
		return nil, err
	}
	if s.agent.ctx.Err() != nil && s.waitsOn(t) {
		return promptResult{"cancelled"}, nil // the next process offers it
	}
	s.keepAllWaiting()
	s.move(soul.SessionActive)
	defer s.move(soul.SessionIdle)
	return s.run(t)
}

// run runs one turn and says what happened in it, all before its answer.
func (s *session) run(t *turn) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.agent.log.Error("bug: a turn panicked", "session", s.id, "panic", p, "stack", string(debug.Stack()))
			result, err = nil, promptError(fmt.Errorf("panic: %v", p))
		}
		s.view.endTurn()
	}()
	<-s.told // a prompt may come in the packet behind session/new
	if known := s.client.profile; s.firstTurn() && (known.ReannounceCommands || known.Name == "") {
		// The editor may have lost what came right behind session/new.
		s.announceCommands()
	}
	if t.call.Context().Err() != nil {
		t.cancel() // what does so by itself may not have come to it yet
	}
	s.catchUp()
	if s.planDue {
		s.showPlan()
	}
	defer s.savePlan()
	asking, endAsking := context.WithCancel(t.ctx)
	t.asking = asking
	askNoMore := s.beginAsking(t)
	defer func() { // what the editor is still asked is taken back before the turn is answered
		askNoMore()
		endAsking()
		t.asks.Wait()
	}()
	out, err := s.runWith(t)
	s.commandsChanged()
	switch {
	case t.ctx.Err() != nil && (err != nil || out.Stop == soul.StopCancelled):
		return promptResult{"cancelled"}, nil
	case err != nil:
		s.agent.log.Warn("a turn failed", "session", s.id, "error", err)
		return nil, promptError(err)
	}
	s.title(t.input.Text)
	return promptResult{stopReason(out.Stop)}, nil
}

// runWith has the soul run a turn, and behind it the turns that it was told to bring back.
func (s *session) runWith(t *turn) (out soul.Outcome, err error) {
	for next := t; next != nil; {
		s.asked = next.blocks
		s.begins(next)
		s.journal.BeginTurn()
		if next != t {
			s.view.endTurn()
			s.showResent(next)
		}
		out, err = s.mind().Run(t.ctx, next.input)
		if err != nil || t.ctx.Err() != nil {
			break
		}
		if next, err = s.resend(t); err != nil {
			break
		}
	}
	s.begins(nil)
	return out, err
}

type promptResult struct {
	StopReason string `json:"stopReason"`
}

func stopReason(r soul.StopReason) string {
	switch r {
	case soul.StopMaxTokens:
		return "max_tokens"
	case soul.StopMaxSteps:
		return "max_turn_requests"
	case soul.StopRefusal:
		return "refusal"
	case soul.StopCancelled:
		return "cancelled"
	}
	return "end_turn"
}

// firstTurn reports, once, that the first turn begins.
func (s *session) firstTurn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.announced
	s.announced = true
	return first
}

// showTitle tells the editor what the session is called.
func (s *session) showTitle(title string) {
	s.update(sessionInfoUpdate{SessionUpdate: "session_info_update", Title: title, UpdatedAt: time.Now().UTC().Format(time.RFC3339)})
}

func (s *session) move(to soul.SessionState) {
	if err := s.state.Move(to); err != nil {
		s.agent.log.Error(err.Error())
	}
}
