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
