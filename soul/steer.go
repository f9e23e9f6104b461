package soul

import (
	"context"
	"sync"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Steerer is a Soul that takes input while a turn runs.
type Steerer interface {
	// Steer puts what the user says into the turn that runs, before its next model call;
	// a turn that would end goes on for it. It is false when no turn runs, and may be
	// called at any time. What comes while a turn fails, is cancelled or is blocked by a hook is
	// lost with it.
	Steer(in Input) bool
}

var _ Steerer = (*Builtin)(nil)

// maxSteers bounds the inputs that wait in a turn; more are refused.
const maxSteers = 256

// steers are the inputs that wait for the next model call.
type steers struct {
	mu      sync.Mutex
	running bool
	waiting []Input
}

func (s *steers) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
}

func (s *steers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.waiting = false, nil
}

// end is close, unless something waits; it tells whether it was.
func (s *steers) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = len(s.waiting) > 0
	return !s.running
}

func (s *steers) add(in Input) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running || len(s.waiting) >= maxSteers {
		return false
	}
	s.waiting = append(s.waiting, in)
	return true
}

func (s *steers) take() []Input {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.waiting
	s.waiting = nil
	return taken
}

// Steer puts input into the turn that runs; see Steerer.
func (b *Builtin) Steer(in Input) bool { return b.steers.add(in) }

// steer lets what waits enter the history, and tells whether there was anything.
func (b *Builtin) steer() bool { return b.takeSteers(true) }

// takeSteers is steer. Unless a turn is open in the history, the first of them opens one.
func (b *Builtin) takeSteers(open bool) bool {
	waiting := b.steers.take()
	for i, in := range waiting {
		m := llm.Message{Role: llm.RoleUser, Content: in.Parts}
		if i == 0 && !open {
			b.openTurn(m)
			b.openMailbox()
		} else {
			b.insert(m)
		}
		b.cfg.Wire.Send(wire.SteerInput{UserInput: in.Wire()})
	}
	return len(waiting) > 0
}

// heed goes on with a turn that was about to end, for what the user has said meanwhile.
// Open says that the history has the beginning of the turn.
func (b *Builtin) heed(ctx context.Context, out Outcome, open bool) (Outcome, error) {
	if err := b.accepts(nil); err != nil {
		return out, err
	}
	b.repeats = repeats{}
	b.takeSteers(open)
	more, err := b.steps(ctx)
	if err == nil && more.Stop == StopRefusal {
		b.leaveOut()
	}
	more.Steps += out.Steps
	return more, err
}

// insert lets a message enter the history that opens no turn.
func (b *Builtin) insert(m llm.Message) {
	m.Mark = b.record.marked()
	b.history.Append(m)
	b.record.note(m)
}
