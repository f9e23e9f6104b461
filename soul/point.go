package soul

import (
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

// point is a place in a conversation to which it can go back: the beginning of a turn,
// or of a step of it.
type point struct {
	index      int // of the message that would be the first to go
	checkpoint int // in front of it
	opens      bool
}

// points gives the places in a conversation, the first one first.
func points(messages []llm.Message) (out []point) {
	for i, m := range messages {
		if m.Mark > 0 {
			out = append(out, point{i, m.Mark - 1, session.OpensTurn(m)})
		}
	}
	return out
}

// turnsOf gives the places of the last n turns, of fewer where there are fewer, and the
// steps of the turn that comes before them. The oldest stand first.
func turnsOf(all []point, n int) (turns, steps []point) {
	for i := len(all) - 1; i >= 0; i-- {
		switch {
		case all[i].opens && len(turns) == n:
			return turns, steps
		case all[i].opens:
			turns, steps = append([]point{all[i]}, turns...), nil
		default:
			steps = append([]point{all[i]}, steps...)
		}
	}
	if len(turns) < n {
		steps = nil
	}
	return turns, steps
}
