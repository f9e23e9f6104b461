package session

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// faults makes the Nth operation of a kind fail, and all that follow if it lasts.
type faults struct {
	at    int
	lasts bool
	short bool // a write that fails writes half
	seen  int
	hit   bool
}

// errFault is what fails.
var errFault = syscall.ENOSPC

func (f *faults) fail() error {
	f.seen++
	if f.seen == f.at || f.lasts && f.seen > f.at {
		f.hit = true
		return errFault
	}
	return nil
}

// brokenFolder is a folder in which operations that change something can fail.
type brokenFolder struct {
	folder
	faults *faults
}

func (b brokenFolder) OpenFile(name string, flag int) (file, error) {
	if flag != 0 {
		if err := b.faults.fail(); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	f, err := b.folder.OpenFile(name, flag)
	if err != nil {
		return nil, err
	}
	return brokenFile{f, b.faults}, nil
}

func (b brokenFolder) Rename(from, to string) error {
	if err := b.faults.fail(); err != nil {
		return err
	}
	return b.folder.Rename(from, to)
}

func (b brokenFolder) Remove(name string) error {
	if err := b.faults.fail(); err != nil {
		return err
	}
	return b.folder.Remove(name)
}

type brokenFile struct {
	file
	faults *faults
}

func (b brokenFile) Write(p []byte) (int, error) {
	if err := b.faults.fail(); err != nil {
		n := 0
		if b.faults.short {
			n, _ = b.file.Write(p[:len(p)/2])
		}
		return n, err
	}
	return b.file.Write(p)
}

func (b brokenFile) Sync() error {
	if err := b.faults.fail(); err != nil {
		return err
	}
	return nil // these tests do not outlast a crash
}

func (b brokenFile) Truncate(size int64) error {
	if err := b.faults.fail(); err != nil {
		return err
	}
	return b.file.Truncate(size)
}

// life is what a session goes through. It gives the short form of the history that
// was acknowledged. Going back takes from it also when it fails: it may be done then.
func life(s *Session) (kept string, errs []error) {
	var words []string
	note := func(err error, then ...string) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		words = append(words, then...)
	}
	note(s.AppendSystem("be good"))
	note(s.AppendCheckpoint(0))
	note(s.AppendMessages(user("one")), "u:one")
	note(s.AppendStep(assistant("two", call("a", "{}")), 7, result("a", "r")), "a:two+a", "t:ar")
	note(s.AppendCheckpoint(1))
	note(s.AppendMessages(user("three")), "u:three")
	note(s.RevertTo(1))
	words = slices.DeleteFunc(words, func(w string) bool { return w == "u:three" })
	note(s.UpdateState(func(st *State) { st.CustomTitle = "t" }))
	note(s.SetOptions([]byte("{}")))
	view := s.Wire()
	view.Receive(wire.TurnBegin{UserInput: wire.UserInput{Text: "one"}})
	view.Receive(wire.TurnEnd{})
	note(s.AppendMessages(user("four")), "u:four")
	return strings.Join(words, " "), errs
}

// Whichever operation fails, once or for good: it is told, what was acknowledged is
// there, and the session goes on when there is room again.
func TestFaults(t *testing.T) {
	for _, kind := range []faults{{}, {short: true}, {lasts: true}, {lasts: true, short: true}} {
		name := fmt.Sprintf("lasts=%v,short=%v", kind.lasts, kind.short)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				f := kind
				f.at = at
				if !survives(t, &f) {
					if at < 20 {
						t.Fatalf("only %d operations could fail", at)
					}
					return
				}
			}
		})
	}
}

// survives tells whether anything failed.
func survives(t *testing.T, f *faults) bool {
	t.Helper()
	st := newStore(t)
	st.wrap = func(inner folder) folder { return brokenFolder{inner, f} }
	s, err := st.Create(workDir, "x")
	kept, errs := "", []error{err}
	if err == nil {
		kept, errs = life(s)
		errs = append(errs, s.Err())
		check(t, s.Close())
	}
	st.wrap = func(inner folder) folder { return inner }
	s, err = st.Open(workDir, "x")
	check(t, err)
	defer func() { check(t, s.Close()) }()
	got := texts(s.Restored().Messages)
	// What failed is perhaps there: the write before a sync that failed.
	if !f.hit && got != kept {
		t.Errorf("the history is %q, want %q", got, kept)
	}
	if f.hit && !contains(got, kept) {
		t.Errorf("fault %d: the history is %q, of %q that was acknowledged", f.at, got, kept)
	}
	for _, err := range errs {
		if err != nil && !errors.Is(err, errFault) && !errors.Is(err, ErrNoCheckpoint) {
			t.Errorf("fault %d: an error of another kind: %v", f.at, err)
		}
	}
	check(t, s.AppendMessages(user("later")))
	if !valid(s.Restored().Messages) {
		t.Errorf("fault %d: the history is not valid: %q", f.at, got)
	}
	return f.hit
}

// contains tells whether the words of one text stand in another, in order.
func contains(text, words string) bool {
	for _, w := range strings.Fields(words) {
		_, rest, ok := strings.Cut(text, w)
		if !ok {
			return false
		}
		text = rest
	}
	return true
}

// valid tells whether a model accepts a history.
func valid(messages []llm.Message) bool {
	for i := 0; i < len(messages); {
		m := messages[i]
		i++
		if m.Role == llm.RoleTool {
			return false
		}
		for _, c := range m.ToolCalls {
			if m.Role != llm.RoleAssistant {
				break
			}
			if i == len(messages) || messages[i].Role != llm.RoleTool || messages[i].ToolCallID != c.ID {
				return false
			}
			i++
		}
	}
	return true
}

// A failure is final for its file: there is no gap, and the first error stays.
func TestFailureIsFinal(t *testing.T) {
	f := &faults{}
	st := newStore(t)
	st.wrap = func(inner folder) folder { return brokenFolder{inner, f} }
	s := create(t, st, "x")
	check(t, s.AppendMessages(user("one")))
	f.at, f.short = f.seen+1, true
	first := s.AppendMessages(user("two"))
	if !errors.Is(first, errFault) {
		t.Fatalf("the write gave %v", first)
	}
	if err := s.AppendMessages(user("three")); !errors.Is(err, first) {
		t.Errorf("the next one gave %v, not the first error", err)
	}
	if err := s.RevertTo(0); !errors.Is(err, first) {
		t.Errorf("going back gave %v, not the first error", err)
	}
	if err := s.Err(); !errors.Is(err, first) {
		t.Errorf("Err gives %v", err)
	}
	if got := read(t, place(st, "x", contextName)); got != "{\"role\":\"user\",\"content\":\"one\"}\n" {
		t.Errorf("the file holds %q", got)
	}
	// The recording goes on.
	s.Wire().Receive(wire.TurnBegin{})
	if got := read(t, place(st, "x", wireName)); !strings.Contains(got, "TurnBegin") {
		t.Errorf("the recording holds %q", got)
	}
}

func TestRecordingFails(t *testing.T) {
	f := &faults{}
	st := newStore(t)
	st.wrap = func(inner folder) folder { return brokenFolder{inner, f} }
	s := create(t, st, "x")
	s.Wire().Receive(wire.TurnBegin{})
	check(t, s.Err())
	before := read(t, place(st, "x", wireName))
	f.at, f.short = f.seen+1, true
	s.Wire().Receive(wire.StepBegin{N: 1})
	s.Wire().Receive(wire.TurnEnd{})
	s.Wire().Receive(wire.TurnBegin{})
	if err := s.Err(); !errors.Is(err, errFault) {
		t.Errorf("Err gives %v", err)
	}
	if got := read(t, place(st, "x", wireName)); got != before {
		t.Errorf("the recording holds %q", got)
	}
	check(t, s.AppendMessages(user("one")))
}

func TestRecordingCannotBegin(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	write(t, place(st, "x", wireName)+"/file", "")
	s.Wire().Receive(wire.TurnBegin{})
	s.Wire().Receive(wire.TurnEnd{})
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "opening the recording") {
		t.Errorf("Err gives %v", err)
	}
}
