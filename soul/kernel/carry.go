package kernel

import (
	"errors"
	"fmt"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

// carryOver puts what was said with another kernel into the session of this one, before
// its program starts and reads it. Nobody else writes to that session: the program of
// the kernel before has ended.
func (k *Kernel) carryOver() error {
	r := &k.record
	switch {
	case r.carry == nil:
		return nil
	case k.cfg.Sessions == nil || !k.cfg.Program.goesOn():
		r.carry = nil
		k.notice = "The kernel " + k.name() + " does not know what was said before.\n\n"
		return nil
	}
	if err := handOver(k.cfg.Sessions, k.cfg.Launch.WorkDir, k.cfg.Launch.SessionID, r.carry); err != nil {
		return fmt.Errorf("hand the conversation over: %w", err)
	}
	r.carry = nil
	k.forget() // what was told of the moment stands in the conversation, or nowhere
	k.known()
	return nil
}

// handOver makes messages the history of a session, which is made if there is none. The
// system prompt is left to the program.
func handOver(store *session.Store, workDir, id string, messages []llm.Message) error {
	s, err := store.Open(workDir, id)
	if errors.Is(err, session.ErrNotFound) {
		s, err = store.Create(workDir, id)
	}
	if err != nil {
		return err
	}
	marked := make([]llm.Message, 0, len(messages))
	turns, tokens := 0, 0
	for _, m := range messages {
		m.Mark = 0
		if session.OpensTurn(m) {
			turns++
			m.Mark = turns
		}
		marked = append(marked, m)
		tokens += llm.EstimateTokens(m)
	}
	return errors.Join(s.Rewrite("", marked, tokens, turns), s.Close())
}
