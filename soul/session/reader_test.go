package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/wire"
)

func reader(t *testing.T, st *Store, id string) *Reader {
	t.Helper()
	r, err := st.Read("", id)
	check(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// kinds gives what a verification finds, in short.
func kinds(r *Reader) string {
	var all []string
	for _, f := range r.Verify().Findings {
		all = append(all, string(f.Kind))
	}
	return strings.Join(all, " ")
}

// Reading changes nothing, and needs no lock.
func TestReadBesideAWriter(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendSystem("be good"))
	check(t, s.AppendStep(assistant("two", call("a", "{}")), 7, result("a", "r")))
	s.Wire().Receive(wire.TurnBegin{UserInput: wire.UserInput{Text: "one"}})
	before := snapshot(t, st.share)
	r := reader(t, st, "x")
	h, err := r.History()
	check(t, err)
	if h.System != "be good" || texts(h.Messages) != "a:two+a t:ar" || h.Tokens != 7 || h.Findings != nil || h.Checked != h.Size {
		t.Errorf("history %+v", h)
	}
	if r.Title() != "one" || r.WorkDir() != workDir || r.ID() != "x" || r.Dir() != filepath.Dir(place(st, "x", contextName)) {
		t.Errorf("title %q of %q", r.Title(), r.WorkDir())
	}
	if got := kinds(r); got != "" {
		t.Errorf("verified: %s", got)
	}
	if diff := cmp.Diff(before, snapshot(t, st.share)); diff != "" {
		t.Error(diff)
	}
	check(t, s.AppendMessages(user("more")))
}

func TestReadNothing(t *testing.T) {
	st := newStore(t)
	if _, err := st.Read("", "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("without a share dir: %v", err)
	}
	check(t, create(t, st, "y").Close())
	if _, err := st.Read("", "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("gave %v", err)
	}
	if _, err := st.Read("", "../y"); err == nil {
		t.Error("took an id with a path")
	}
	if _, err := os.Stat(filepath.Join(st.share, oursName, sessionsName, "x")); err == nil {
		t.Error("made a folder")
	}
}

func TestVerify(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, st *Store)
		want   string
		after  string // what is found when it was opened and mended
	}{
		{"nothing", func(*testing.T, *Store) {}, "", ""},
		{"torn tail", func(t *testing.T, st *Store) {
			appendTo(t, place(st, "x", contextName), `{"role":"us`)
		}, "torn-tail", ""},
		{"bad line", func(t *testing.T, st *Store) {
			appendTo(t, place(st, "x", contextName), "nonsense\n")
		}, "bad-line", "bad-line"},
		{"lost", func(t *testing.T, st *Store) {
			path := place(st, "x", contextName)
			text := read(t, path)
			write(t, path, text[:strings.LastIndex(text[:len(text)-1], "\n")+1])
		}, "missing unanswered", ""},
		{"another byte", func(t *testing.T, st *Store) {
			path := place(st, "x", contextName)
			write(t, path, strings.Replace(read(t, path), "two", "too", 1))
		}, "changed", ""},
		{"zeros", func(t *testing.T, st *Store) {
			appendTo(t, place(st, "x", contextName), strings.Repeat("\x00", 10)+"\n"+`{"role":"user","content":"later"}`+"\n")
		}, "bad-line", "bad-line"},
		{"settings", func(t *testing.T, st *Store) {
			write(t, place(st, "x", stateName), "{")
		}, "settings", "settings"},
		{"recording", func(t *testing.T, st *Store) {
			appendTo(t, place(st, "x", wireName), "nonsense\n"+`{"timestamp": 1.0, "message": {"type": "FromTheFuture", "payload": {}}}`+"\n")
		}, "recording unknown", "recording unknown"},
		{"no history", func(t *testing.T, st *Store) {
			check(t, os.Remove(place(st, "x", contextName)))
		}, "no-history", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newStore(t)
			s := create(t, st, "x")
			check(t, s.AppendMessages(user("one")))
			check(t, s.AppendStep(assistant("two", call("a", "{}")), 0))
			check(t, s.AppendMessages(result("a", "r")))
			s.Wire().Receive(wire.TurnBegin{})
			check(t, s.Close())
			tt.damage(t, st)
			r := reader(t, st, "x")
			if got := kinds(r); got != tt.want {
				t.Errorf("found %q, want %q: %v", got, tt.want, r.Verify().Findings)
			}
			s = open(t, st, "x")
			check(t, s.Mend())
			check(t, s.Close())
			if got := kinds(r); got != tt.after {
				t.Errorf("after opening it: %q, want %q", got, tt.after)
			}
		})
	}
}

func TestFind(t *testing.T) {
	st := newStore(t)
	if _, err := st.Find("a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("in nothing: %v", err)
	}
	for _, id := range []string{"abc", "abd", "ab", "xyz"} {
		check(t, create(t, st, id).Close())
	}
	for prefix, want := range map[string]string{"ab": "ab", "abc": "abc", "x": "xyz", "xyz": "xyz"} {
		if got, err := st.Find(prefix); got != want || err != nil {
			t.Errorf("%s: %q, %v", prefix, got, err)
		}
	}
	var many *AmbiguousError
	_, err := st.Find("a")
	if !errors.As(err, &many) || many.Error() != `"a" is the beginning of 3 ids: ab, abc, abd; give more of it` {
		t.Errorf("a: %v", err)
	}
	for _, prefix := range []string{"", "..", "abcd"} {
		if id, err := st.Find(prefix); err == nil {
			t.Errorf("%q gave %q", prefix, id)
		}
	}
}

func TestRecording(t *testing.T) {
	st := kimiShare(t, "x")
	appendTo(t, place(st, "x", wireName), "\nnonsense\n"+`{"timestamp": 1.5, "message": {"type": "FromTheFuture", "payload": {}}}`)
	var types []string
	var last Recorded
	for m, err := range reader(t, st, "x").Recording() {
		check(t, err)
		types = append(types, m.Type)
		last = m
	}
	if want := "StatusUpdate TurnBegin StepBegin ContentPart ToolCall ToolResult TurnEnd TurnBegin TurnEnd  FromTheFuture"; strings.Join(types, " ") != want {
		t.Errorf("%q", types)
	}
	var unknown *wire.UnknownTypeError
	if !errors.As(last.Err, &unknown) || last.At.UnixMilli() != 1500 || string(last.Raw) != `{"type": "FromTheFuture", "payload": {}}` {
		t.Errorf("at the end %+v", last)
	}
	text := read(t, place(st, "x", wireName))
	if !strings.HasPrefix(text[last.Offset:], `{"timestamp": 1.5`) || strings.Count(text[:last.Offset], "\n") != last.Line-1 {
		t.Errorf("it is at %d, line %d", last.Offset, last.Line)
	}
}

// follow gives what Follow gives, until the context ends.
func follow(ctx context.Context, t *testing.T, r *Reader, from int64) (types <-chan string, end <-chan error) {
	t.Helper()
	got, done := make(chan string), make(chan error, 1)
	go func() {
		for m, err := range r.Follow(ctx, from) {
			if err != nil {
				done <- err
				return
			}
			got <- m.Type
		}
		done <- nil
	}()
	return got, done
}

func TestFollow(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	got, done := follow(ctx, t, reader(t, st, "x"), 0)
	expect := func(want string) {
		t.Helper()
		select {
		case typ := <-got:
			if typ != want {
				t.Fatalf("got %s, want %s", typ, want)
			}
		case err := <-done:
			t.Fatalf("it ended: %v", err)
		}
	}
	s.Wire().Receive(wire.TurnBegin{}) // there was no file before
	expect("TurnBegin")
	s.Wire().Receive(wire.StepBegin{N: 1})
	expect("StepBegin")
	// A line counts when it is whole.
	path := place(st, "x", wireName)
	appendTo(t, path, `{"timestamp": 1.0, "message": {"type": `)
	appendTo(t, path, `"TurnEnd", "payload": {}}}`+"\n")
	expect("TurnEnd")
	// Another file in its place is read from the beginning.
	write(t, path+".new", `{"timestamp": 1.0, "message": {"type": "CompactionBegin", "payload": {}}}`+"\n")
	check(t, os.Rename(path+".new", path))
	expect("CompactionBegin")
	appendTo(t, path, `{"timestamp": 1.0, "message": {"type": "CompactionEnd", "payload": {}}}`+"\n")
	expect("CompactionEnd")
	stop()
	if err := <-done; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestFollowDeleted(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	s.Wire().Receive(wire.TurnBegin{})
	s.Wire().Receive(wire.StepBegin{N: 1})
	check(t, s.Close())
	r := reader(t, st, "x")
	var second Recorded
	for second = range r.Recording() {
	}
	got, done := follow(t.Context(), t, r, second.Offset)
	if typ := <-got; typ != "StepBegin" {
		t.Errorf("began with %s", typ)
	}
	check(t, st.Delete("x"))
	if err := <-done; !errors.Is(err, ErrNotFound) {
		t.Errorf("it ended with %v", err)
	}
}
