package soul

import (
	"sync"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Steerer is a Soul that takes input while a turn runs.
type Steerer interface {
	// Steer puts what the user says into the turn that runs, before its next model call;
	// a turn that would end goes on for it. It is false when no turn runs, and may be
	// called at any time. What comes while a turn fails or is cancelled is lost with it.
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
func (b *Builtin) steer() bool {
	waiting := b.steers.take()
	for _, in := range waiting {
		b.insert(llm.Message{Role: llm.RoleUser, Content: in.Parts})
		b.cfg.Wire.Send(wire.SteerInput{UserInput: in.Wire()})
	}
	return len(waiting) > 0
}

// insert lets a message enter the history that opens no turn.
func (b *Builtin) insert(m llm.Message) {
	m.Mark = b.record.marked()
	b.history.Append(m)
	b.record.note(m)
}
