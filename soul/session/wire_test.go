package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// replayed gives the types of what a session replays, and the error at the end.
func replayed(s *Session) (types string, last error) {
	var all []string
	for m, err := range s.Replay() {
		if err != nil {
			return strings.Join(all, " "), err
		}
		all = append(all, m.WireType())
	}
	return strings.Join(all, " "), nil
}

func TestRecordAndReplay(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	if types, err := replayed(s); types != "" || err != nil {
		t.Errorf("before anything: %q, %v", types, err)
	}
	w := wire.New()
	w.Attach(wire.Merged, s.Wire())
	sent := []wire.Event{
		wire.TurnBegin{UserInput: wire.UserInput{Text: "hi <é>"}},
		wire.StepBegin{N: 1},
		wire.ContentPart{Part: llm.Text("one ")},
		wire.ContentPart{Part: llm.Text("two")},
		wire.ToolProgress{ToolCallID: "a"},
		wire.TurnEnd{},
	}
	for _, e := range sent {
		w.Send(e)
	}
	var got []wire.Message
	for m, err := range s.Replay() {
		check(t, err)
		got = append(got, m)
	}
	want := []wire.Message{sent[0], sent[1], wire.ContentPart{Part: llm.Text("one two")}, wire.TurnEnd{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	check(t, s.Close())
	w.Send(wire.TurnBegin{}) // to a session that is closed
	text := read(t, place(st, "x", wireName))
	if !strings.HasPrefix(text, `{"type": "metadata", "protocol_version": "1.10"}`+"\n"+`{"timestamp": `) || strings.Count(text, "\n") != 5 {
		t.Errorf("the file holds %q", text)
	}
	// The header is written once.
	s = open(t, st, "x")
	s.Wire().Receive(wire.TurnBegin{})
	check(t, s.Close())
	if text := read(t, place(st, "x", wireName)); strings.Count(text, "metadata") != 1 {
		t.Errorf("the file holds %q", text)
	}
}

func TestReplayKimi(t *testing.T) {
	s := open(t, kimiShare(t, "x"), "x")
	types, err := replayed(s)
	if want := "StatusUpdate TurnBegin StepBegin ContentPart ToolCall ToolResult TurnEnd TurnBegin TurnEnd"; types != want || err != nil {
		t.Errorf("%q, %v", types, err)
	}
}

func TestReplayDamaged(t *testing.T) {
	st := kimiShare(t, "x")
	appendTo(t, place(st, "x", wireName), "\nnonsense\n"+
		`{"timestamp": 1.0, "message": {"type": "FromTheFuture", "payload": {}}}`+"\n"+
		`{"timestamp": 1.0, "message": {"type": "StepBegin", "payload": {"n": "x"}}}`+"\n"+
		`{"timestamp": 1.0, "message": {"type": "TurnBegin", "payload": {"user_input": "`+"a\tb\xff"+`"}}}`+"\n"+
		`{"timestamp": 1.0, "message": {"type": "Turn`)
	s := open(t, st, "x")
	types, err := replayed(s)
	var gap *GapError
	if !errors.As(err, &gap) || *gap != (GapError{Unknown: 1, Unreadable: 3}) {
		t.Errorf("at the end: %v", err)
	}
	if want := "the replay left out 1 messages of unknown types and 3 damaged lines"; err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
	if !strings.HasSuffix(types, "TurnEnd TurnBegin") {
		t.Errorf("replayed %q", types)
	}
	// What is recorded next is on a line of its own.
	s.Wire().Receive(wire.TurnBegin{UserInput: wire.UserInput{Text: "next"}})
	types, err = replayed(s)
	if !strings.HasSuffix(types, "TurnBegin TurnBegin") || err == nil {
		t.Errorf("replayed %q, %v", types, err)
	}
	// One may stop at any time.
	n := 0
	for range s.Replay() {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("stopped after %d", n)
	}
}

// Others may record too; that is no reason to stop.
func TestRecordBesideAnother(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	s.Wire().Receive(wire.TurnBegin{})
	appendTo(t, place(st, "x", wireName), `{"timestamp": 1.0, "message": {"type": "TurnEnd", "payload": {}}}`)
	s.Wire().Receive(wire.TurnBegin{})
	check(t, s.Err())
	if types, err := replayed(s); types != "TurnBegin TurnEnd TurnBegin" || err != nil {
		t.Errorf("replayed %q, %v", types, err)
	}
}

// A message without a form ends the recording of its turn only.
func TestRecordWithoutForm(t *testing.T) {
	s := create(t, newStore(t), "x")
	view := s.Wire()
	view.Receive(wire.TurnBegin{})
	view.Receive(wire.ContentPart{Part: llm.Part{Type: "hologram"}})
	view.Receive(wire.TurnEnd{})
	view.Receive(wire.TurnBegin{})
	if err := s.Err(); err == nil {
		t.Error("nothing was told")
	}
	if types, err := replayed(s); types != "TurnBegin TurnBegin" || err != nil {
		t.Errorf("replayed %q, %v", types, err)
	}
}
