package session

import (
	"io"

	"kimi-acp/soul/llm"
)

// Rewrite puts another conversation in the place of the history, which becomes
// context_N.jsonl: at any time context.jsonl is the one or the other. With system ""
// the new one has no system prompt yet. The checkpoints stand in front of the messages
// that they mark. tokens, ≥ 0, is the size of the new one, and checkpoint, ≥ 0, stands
// behind it. Restored tells what the history is then. When an error is not final (see
// Err), the history is as it was and goes on.
func (s *Session) Rewrite(system string, messages []llm.Message, tokens, checkpoint int) error {
	if tokens < 0 || tokens > maxNumber {
		return outOfRange("usage", tokens)
	}
	if checkpoint < 0 || checkpoint > maxNumber {
		return outOfRange("checkpoint", checkpoint)
	}
	var lines []byte
	if system != "" {
		lines = appendSystem(lines, system)
	}
	if len(lines) > s.maxLine {
		return s.tooLong(len(lines))
	}
	for _, m := range messages {
		if m.Mark > 0 {
			lines = appendCheckpoint(lines, m.Mark-1)
		}
		var err error
		if lines, err = s.encode(lines, m); err != nil {
			return err
		}
	}
	lines = appendCheckpoint(appendUsage(lines, tokens), checkpoint)

	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rotateTo(func(w io.Writer) error {
		_, err := w.Write(lines)
		return err
	})
}
