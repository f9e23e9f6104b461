package kernel

import (
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// SessionID is the id of the session in which a kernel keeps the history of the session
// id. It is another one, so that no folder ever has two writers.
func SessionID(id string) string { return session.KernelPrefix + id }

// record writes down what was said and done in the turns of a kernel: for lists of
// sessions, and for another kernel that goes on with the session. It is used by the
// goroutine of the turn, and between turns by that of the caller.
type record struct {
	kept   *session.Session // nil: nothing is written
	begun  bool             // the system prompt is written
	state  state            // of the history in kept, which this kernel knows
	carry  []llm.Message    // what the kernel's own session does not hold; nil: it holds all
	failed bool
}

// state names a state of a session's history, see session.Restored, and the kernel
// whose own session holds the same. Kernels read each other's records not always.
type state struct {
	Kernel      string `json:"kernel"`
	Rotations   int    `json:"rotations"`
	Checkpoints int    `json:"checkpoints"` // id of the next one
}

// knownKey is where a session keeps the last state of its history that was written by a
// kernel.
const knownKey = "kernel"

// Keep writes what is said from here on to s; see soul.Keeper. What s holds already, and
// the kernel's own session does not, is carried over with the next start.
func (k *Kernel) Keep(s *session.Session) {
	r := s.Restored()
	k.record = record{kept: s, begun: r.System != "", state: state{k.cfg.Program.identity(), r.Rotations, r.Checkpoints}}
	var known state
	if len(r.Messages) > 0 && (!s.Aside(knownKey, &known) || known != k.record.state) {
		k.record.carry = r.Messages
	}
	s.DropMessages()
}

// Park lets go of the session, and of the program until the next turn; see soul.Keeper.
func (k *Kernel) Park() {
	k.record = record{}
	k.mu.Lock()
	p := k.peer
	k.peer = nil
	k.mu.Unlock()
	if p != nil {
		p.end(k.cfg.Patience)
	}
}

// write writes a turn down.
func (k *Kernel) write(in wire.UserInput, steps [][]llm.Message) {
	r := &k.record
	if r.kept == nil || r.failed {
		return
	}
	var err error
	if !r.begun && k.cfg.System != nil {
		err = r.kept.AppendSystem(k.cfg.System())
	}
	r.begun = true
	if err == nil {
		err = r.kept.AppendTurn(r.state.Checkpoints, userMessage(in))
	}
	k.noteEdits()
	for _, step := range steps {
		if err == nil {
			err = r.kept.AppendMessages(step...)
		}
	}
	r.state.Checkpoints++
	if err != nil {
		r.failed = true
		k.cfg.Logger.Warn("what is said is no longer written", "error", err)
		return
	}
	k.known()
}

// known notes that the kernel's own session holds all that the host's does.
func (k *Kernel) known() {
	if !k.cfg.Program.goesOn() {
		return
	}
	if err := k.record.kept.SetAside(knownKey, k.record.state); err != nil {
		// The whole conversation is carried over again with the next start.
		k.cfg.Logger.Debug("what the kernel knows was not noted", "error", err)
	}
}
