package fileop

import (
	"context"
	"errors"
	"io/fs"
	"testing"
)

// lateStore lets something happen before, or an error come after, one kind of call.
type lateStore struct {
	*Mem
	beforeRead func()
	afterwards error // of Write and Remove
}

func (s *lateStore) Read(ctx context.Context, path string) ([]byte, error) {
	if s.beforeRead != nil {
		s.beforeRead()
	}
	return s.Mem.Read(ctx, path)
}

func (s *lateStore) Write(ctx context.Context, path string, data []byte) error {
	return errors.Join(s.Mem.Write(ctx, path, data), s.afterwards)
}

func (s *lateStore) Remove(ctx context.Context, path string) error {
	return errors.Join(s.Mem.Remove(ctx, path), s.afterwards)
}

// TestFlush writes, exchanges and deletes files that somebody may have changed since
// they were looked at. A text of "-" is no file.
func TestFlush(t *testing.T) {
	lost := errors.New("the answer is lost")
	for _, test := range []struct {
		name       string
		was, now   string
		meanwhile  string // "": nothing happens
		afterwards error
		want       string
		err        error
		cancelled  bool
	}{
		{name: "text", was: "a\n", now: "b\n", want: "b\n"},
		{name: "text, changed meanwhile", was: "a\n", now: "b\n", meanwhile: "x\n", want: "x\n", err: ErrStale},
		{name: "text, answer lost", was: "a\n", now: "b\n", afterwards: lost, want: "b\n"},
		{name: "text, to be deleted", was: "a\n", now: "-", want: "-"},
		{name: "text, to be deleted, changed meanwhile", was: "a\n", now: "-", meanwhile: "x\n", want: "x\n", err: ErrStale},
		{name: "text, to be deleted, answer lost", was: "a\n", now: "-", afterwards: lost, want: "-"},
		{name: "text, to be deleted, cancelled", was: "a\n", now: "-", want: "a\n", cancelled: true, err: context.Canceled},
		{name: "raw", was: "\x00", now: "\x01\x00", want: "\x01\x00"},
		{name: "raw, changed meanwhile", was: "\x00", now: "\x01\x00", meanwhile: "\x02\x00", want: "\x02\x00", err: ErrStale},
		{name: "raw, deleted meanwhile", was: "\x00", now: "\x01\x00", meanwhile: "-", want: "-", err: ErrStale},
		{name: "raw, answer lost", was: "\x00", now: "\x01\x00", afterwards: lost, want: "\x01\x00"},
		{name: "raw, to be deleted", was: "\x00", now: "-", want: "-"},
		{name: "raw, cancelled", was: "\x00", now: "\x01\x00", want: "\x00", cancelled: true, err: context.Canceled},
		{name: "raw over text", was: "a\n", now: "\x00", want: "\x00"},
		{name: "raw for a new file", was: "-", now: "\x00", want: "\x00"},
		{name: "raw for a new file, which came meanwhile", was: "-", now: "\x00", meanwhile: "x", want: "x", err: ErrStale},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			s := &lateStore{Mem: NewMem(root)}
			path := root + "/file"
			put := func(text string) {
				if text != "-" {
					if err := s.Mem.Write(t.Context(), path, []byte(text)); err != nil {
						t.Fatal(err)
					}
				} else if err := s.Mem.Remove(t.Context(), path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
			put(test.was)
			files := undoFiles{operator: New(Options{Disk: s, Roots: []string{root}})}
			f, err := files.open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if f.now = nil; test.now != "-" {
				f.now = []byte(test.now)
			}
			if test.meanwhile != "" {
				put(test.meanwhile)
			}
			s.afterwards = test.afterwards
			ctx, cancel := context.WithCancel(t.Context())
			if test.cancelled {
				s.beforeRead = cancel
			}
			files.flush(ctx)
			cancel()
			s.beforeRead = nil
			if !errors.Is(f.err, test.err) {
				t.Errorf("error %v, want %v", f.err, test.err)
			}
			got, err := s.Mem.Read(t.Context(), path)
			if err != nil {
				got = []byte("-")
			}
			if string(got) != test.want {
				t.Errorf("the file holds %q, want %q", got, test.want)
			}
			if f.err == nil && test.want != "-" && string(f.left()) != test.want {
				t.Errorf("it says that it left %q", f.left())
			}
		})
	}
}

// TestFlushDirty leaves files alone that have unsaved changes.
func TestFlushDirty(t *testing.T) {
	root := t.TempDir()
	disk, editor := NewMem(root), NewMem(root)
	path := root + "/file"
	for s, text := range map[*Mem]string{disk: "a\n", editor: "typed\n"} {
		if err := s.Write(t.Context(), path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, now := range [][]byte{nil, []byte("\x00")} {
		files := undoFiles{operator: New(Options{Disk: disk, Editor: editor, EditorReads: true, EditorWrites: true, Roots: []string{root}})}
		f, err := files.open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		f.now = now
		files.flush(t.Context())
		if !errors.Is(f.err, ErrDirtyBuffer) {
			t.Errorf("to be %q: %v", now, f.err)
		}
		if got, err := disk.Read(t.Context(), path); err != nil || string(got) != "a\n" {
			t.Errorf("the disk holds %q, %v", got, err)
		}
	}
}

// TestFlushMoves writes a file before it deletes the one that it comes from, also
// when they change places, and deletes nothing when that fails.
func TestFlushMoves(t *testing.T) {
	root := t.TempDir()
	s := NewMem(root)
	files := undoFiles{operator: New(Options{Disk: s, Roots: []string{root}})}
	open := func(name, text string) *undoFile {
		if text != "" {
			if err := s.Write(t.Context(), root+"/"+name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := files.open(t.Context(), root+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	from, to, stays, away := open("from", "1"), open("to", ""), open("stays", "2"), open("away", "3")
	to.now, from.now, from.goesTo = from.now, nil, to
	away.now, stays.now, stays.goesTo = stays.now, nil, away
	if err := s.Write(t.Context(), away.path, []byte("changed")); err != nil {
		t.Fatal(err)
	}
	files.flush(t.Context())
	for name, want := range map[string]string{"to": "1", "stays": "2", "away": "changed"} {
		if got, err := s.Read(t.Context(), root+"/"+name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := s.Read(t.Context(), from.path); err == nil {
		t.Error("what moved is still at its old place")
	}
	if !errors.Is(stays.err, ErrStale) {
		t.Errorf("what could not move: %v", stays.err)
	}
}

func TestJournalForgets(t *testing.T) {
	j, err := OpenJournal(JournalOptions{File: discard{}, Contents: NewMemContents(ContentLimits{})})
	if err != nil {
		t.Fatal(err)
	}
	var first ActionID
	for n := range maxActions + 10 {
		c := j.Propose(Cause{}, Change{Path: "/file"})
		if n == 0 {
			first = c.action
			j.addTouch("/file", touch{seq: j.seq})
		}
	}
	if _, err := j.Action(first); !errors.Is(err, ErrNoAction) {
		t.Errorf("the first one: %v", err)
	}
	if len(j.actions) != maxActions || len(j.order) != maxActions || len(j.touches) != 0 {
		t.Errorf("%d actions, %d in order, %d files", len(j.actions), len(j.order), len(j.touches))
	}
	for range maxTouches + 5 {
		j.addTouch("/other", touch{blind: true})
	}
	if n := len(j.touches["/other"]); n != maxTouches {
		t.Errorf("%d touches", n)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func TestMoveError(t *testing.T) {
	a := TaskAction{ID: "a7", State: StateUndone}
	err := a.move(StateReviewed, "")
	if err == nil || err.Error() != "bug: the change a7 cannot move from undone to reviewed" {
		t.Error(err)
	}
	a.State = StateProposed
	long := "é" + string(make([]byte, maxReason-3)) + "é and more"
	if err := a.move(StateRejected, long); err != nil || a.Reason != long[:maxReason-1]+"…" {
		t.Errorf("%v, the reason has %d bytes", err, len(a.Reason))
	}
}
