package session

import (
	"slices"
	"strings"
	"testing"
)

func TestAsides(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	var got string
	if s.Aside("a", &got) {
		t.Error("found what was not kept")
	}
	keep := func(key, value string) {
		t.Helper()
		check(t, s.SetAside(key, value))
	}
	want := func(key, value string) {
		t.Helper()
		if got = ""; !s.Aside(key, &got) || got != value {
			t.Errorf("%q holds %q, want %q", key, got, value)
		}
	}
	keep("a", "one")
	want("a", "one")
	keep("ключ \"<\n", "two")
	keep("a", "three\n")
	want("a", "three\n")
	if err := s.SetAside("large", strings.Repeat("x", maxAside)); err == nil {
		t.Error("what is too large was kept")
	}
	check(t, s.Close())

	// A torn line, and one that is none, are missing ones.
	appendTo(t, s.OwnDir()+"/"+asidesName, "nonsense\n{\"key\":\"a\",\"value\":\"torn")
	s = open(t, st, "x")
	want("a", "three\n")
	keep("b", "four")
	want("b", "four")
	want("ключ \"<\n", "two")
}

func TestFork(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendSystem("be good"))
	check(t, s.AppendTurn(0, user("one")))
	check(t, s.AppendStep(assistant("two"), 5))
	check(t, s.SetAside("a", "kept"))
	check(t, s.SetOptions([]byte(`{"mode":"plan"}`)))
	check(t, s.SetTitle("The talk"))
	before := snapshot(t, s.OwnDir()) + snapshot(t, place(st, "x", ""))
	f, err := st.Fork("x", workDir)
	check(t, err)
	if got := texts(f.Restored().Messages); got != "u:one a:two" || f.Restored().System != "be good" || f.Title() != "Fork: The talk" {
		t.Errorf("the fork %q holds %q", f.Title(), got)
	}
	var aside string
	if !f.Aside("a", &aside) || string(f.Options()) != `{"mode":"plan"}` {
		t.Errorf("beside it stand %q and %s", aside, f.Options())
	}
	check(t, f.AppendTurn(1, user("three")))
	check(t, f.Close())
	if after := snapshot(t, s.OwnDir()) + snapshot(t, place(st, "x", "")); after != before {
		t.Errorf("the session was changed:\n%s\nto\n%s", before, after)
	}
	if got := texts(open(t, st, f.ID()).Restored().Messages); got != "u:one a:two u:three" {
		t.Errorf("the fork was kept as %q", got)
	}
	if _, err := st.Fork("none", workDir); err == nil {
		t.Error("a fork of what is not there was made")
	}
}

func marks(s *Session) (out []int) {
	for _, m := range s.Restored().Messages {
		out = append(out, m.Mark)
	}
	return out
}

func TestMarks(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendTurn(0, user("one")))
	check(t, s.AppendCheckpoint(1))
	check(t, s.AppendStep(assistant("two"), 0))
	check(t, s.AppendMessages(user("<system>a note</system>")))
	check(t, s.AppendCheckpoint(2))
	check(t, s.AppendMessages(user("<system>another</system>")))
	check(t, s.AppendCheckpoint(3))
	check(t, s.AppendTurn(4, user("three")))
	check(t, s.Close())
	s = open(t, st, "x")
	if got := marks(s); !slices.Equal(got, []int{1, 2, 0, 3, 5}) {
		t.Errorf("marked are %v", got)
	}
	check(t, s.RevertTo(4))
	if got := marks(s); !slices.Equal(got, []int{1, 2, 0, 3}) || s.Restored().Checkpoints != 4 {
		t.Errorf("after going back: %v, %+v", got, s.Restored())
	}
	s.DropMessages()
	if len(s.Restored().Messages) > 0 {
		t.Error("the messages are kept")
	}
}
