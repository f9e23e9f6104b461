package acp

import "testing"

func TestRoomForPromptsThatWait(t *testing.T) {
	const most = maxQueuedBytes
	for _, c := range []struct {
		queue []int // sizes, the first runs
		size  int
		want  bool
	}{
		{nil, most + 1, true},
		{[]int{most + 1}, most, true},
		{[]int{1}, most + 1, false},
		{[]int{most + 1, 1}, most - 1, true},
		{[]int{1, most / 2, most / 2}, 1, false},
		{make([]int, maxQueued), 0, true},
		{make([]int, maxQueued+1), 0, false},
	} {
		s := &session{}
		for _, size := range c.queue {
			s.queue = append(s.queue, &turn{size: size})
		}
		if got := s.room(c.size); got != c.want {
			t.Errorf("behind %d prompts, room for %d bytes: %v", len(c.queue), c.size, got)
		}
	}
}

// What a prompt carried, be it large, is let go of when its turn is over.
func TestQueueKeepsNoTurnsThatAreOver(t *testing.T) {
	s := &session{queue: []*turn{{size: 1}, {size: 2}}}
	whole := s.queue
	s.pop()
	if len(s.queue) != 1 || s.queue[0].size != 2 {
		t.Errorf("%d turns wait", len(s.queue))
	}
	for _, kept := range whole {
		if kept != nil && kept.size == 1 {
			t.Error("the turn that ran is still held")
		}
	}
}
