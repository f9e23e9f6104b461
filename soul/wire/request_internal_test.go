package wire

import "testing"

// TestEndTurnBeforePublication ends the turn between the two steps of asking: the
// request, and the event of its answer, must not be shown any more.
func TestEndTurnBeforePublication(t *testing.T) {
	w := New()
	w.Attach(Raw, ViewFunc(func(m Message) { t.Errorf("%v was shown", m) }))
	p := newPending(ApprovalRequest{ID: "r"})
	if open, err := w.register(p); !open || err != nil {
		t.Fatalf("register: %v, %v", open, err)
	}
	if shown := w.Pending(); len(shown) != 0 {
		t.Errorf("pending before it was published: %v", shown)
	}
	w.EndTurn()
	w.publishRequest(p)
	if w.withdraw(p) {
		t.Error("withdrawn although it was answered")
	}
	answer := (<-p.answer).(ApprovalResponse)
	if answer.Response != ApprovalReject {
		t.Errorf("answered %v", answer)
	}
	w.announce(p, answer)
}
