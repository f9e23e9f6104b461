package session

import (
	"errors"
	"slices"
	"testing"

	"kimi-acp/soul/llm"
)

func TestRewrite(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendSystem("be good"))
	check(t, s.AppendTurn(0, user("one")))
	check(t, s.AppendStep(assistant("1"), 10))
	check(t, s.AppendTurn(1, user("two")))
	check(t, s.AppendStep(assistant("2"), 20))
	old := read(t, place(st, "x", contextName))
	kept := []llm.Message{user("<system>a summary</system>"), user("two"), assistant("2")}
	kept[1].Mark = 2
	check(t, s.Rewrite("be good", kept, 7, 3))
	want := `{"role": "_system_prompt", "content": "be good"}` + "\n" +
		`{"role":"user","content":"<system>a summary</system>"}` + "\n" +
		`{"role": "_checkpoint", "id": 1}` + "\n" +
		`{"role":"user","content":"two"}` + "\n" +
		`{"role":"assistant","content":"2"}` + "\n" +
		`{"role": "_usage", "token_count": 7}` + "\n" +
		`{"role": "_checkpoint", "id": 3}` + "\n"
	if got := read(t, place(st, "x", contextName)); got != want {
		t.Errorf("the file holds\n%s", got)
	}
	if got := read(t, place(st, "x", "context_1.jsonl")); got != old {
		t.Errorf("what it was is\n%s", got)
	}
	r := s.Restored()
	if !slices.Equal(marks(s), []int{0, 2, 0}) || r.Tokens != 7 || r.Counted != 3 || r.Checkpoints != 4 || len(r.Skipped) != 0 {
		t.Errorf("restored %+v", r)
	}
	// It goes on, and back.
	check(t, s.AppendTurn(4, user("three")))
	check(t, s.RevertTo(4))
	check(t, s.RevertTo(1))
	if got := texts(s.Restored().Messages); got != texts(kept[:1]) {
		t.Errorf("before the turn that was kept: %s", got)
	}
}

// What cannot be written changes nothing and is not final.
func TestRewriteRefused(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendSystem("be good"))
	check(t, s.AppendMessages(user("one")))
	old := read(t, place(st, "x", contextName))
	s.maxLine = 100
	long := string(make([]byte, 200))
	for what, err := range map[string]error{
		"a long message": s.Rewrite("be good", []llm.Message{user(long)}, 0, 0),
		"a long prompt":  s.Rewrite(long, nil, 0, 0),
		"a checkpoint":   s.Rewrite("be good", nil, 0, -1),
		"a usage":        s.Rewrite("be good", nil, -1, 0),
	} {
		if err == nil {
			t.Errorf("%s was written", what)
		}
	}
	if got := read(t, place(st, "x", contextName)); got != old || s.Err() != nil {
		t.Errorf("the file holds\n%s, %v", got, s.Err())
	}
	check(t, s.Close())
	if err := s.Rewrite("be good", nil, 0, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// A conversation that comes from elsewhere has no system prompt until somebody gives it one.
func TestRewriteWithoutPrompt(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	said := user("one")
	said.Mark = 1
	check(t, s.Rewrite("", []llm.Message{said, assistant("1")}, 3, 1))
	if r := s.Restored(); r.System != "" || r.Checkpoints != 2 || !slices.Equal(marks(s), []int{1, 0}) {
		t.Errorf("restored %+v", r)
	}
	check(t, s.AppendSystem("be good"))
	want := `{"role": "_system_prompt", "content": "be good"}` + "\n"
	if got := read(t, place(st, "x", contextName)); got[:len(want)] != want {
		t.Errorf("the file begins with %q", got[:len(want)])
	}
}

// What was written since the session was opened can be read again, and its state has a
// name that no other state has.
func TestReread(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendSystem("be good"))
	states := map[[2]int]string{}
	note := func() {
		t.Helper()
		check(t, s.Reread())
		r := s.Restored()
		at, said := [2]int{r.Rotations, r.Checkpoints}, texts(r.Messages)
		if other, ok := states[at]; ok && other != said {
			t.Errorf("%v names both %q and %q", at, other, said)
		}
		states[at] = said
	}
	check(t, s.AppendTurn(0, user("one")))
	check(t, s.AppendStep(assistant("1"), 10))
	note()
	check(t, s.AppendTurn(1, user("two")))
	check(t, s.AppendStep(assistant("2"), 20))
	note()
	if got := texts(s.Restored().Messages); got != texts([]llm.Message{user("one"), assistant("1"), user("two"), assistant("2")}) {
		t.Errorf("read again: %s", got)
	}
	check(t, s.RevertTo(1))
	check(t, s.AppendTurn(1, user("other")))
	check(t, s.AppendStep(assistant("3"), 20))
	note()
	if len(states) != 3 {
		t.Errorf("the states are %v", states)
	}
	check(t, s.Close())
	if err := s.Reread(); !errors.Is(err, ErrClosed) {
		t.Errorf("read after the end: %v", err)
	}
}
