package fileop_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/fileop"
)

// TestRedoGivesWhatStoodThere: what an undoing took out of the files comes back, byte for
// byte, and can be taken back again.
func TestRedoGivesWhatStoodThere(t *testing.T) {
	checkUndo(t, func(w *undoWorld) {
		w.run()
		before := w.files(undoNames...)
		w.undo(w.op, fileop.Which{All: true})
		results, err := w.journal.Redo(w.ctx, w.op)
		if errors.Is(err, fileop.ErrNothingUndone) {
			return // nothing had been changed
		}
		if err != nil {
			w.Fatal(err)
		}
		if diff := cmp.Diff(before, w.files(undoNames...)); diff != "" {
			w.Fatalf("redone: %v\n(-want +got):\n%s", results, diff)
		}
		w.undo(w.op, fileop.Which{All: true})
		if diff := cmp.Diff(w.want(), w.files(undoNames...)); diff != "" {
			w.Fatalf("undone again\n(-want +got):\n%s", diff)
		}
	})
}

// TestRedo brings back one undoing after the other, also after a restart, and leaves
// what the user did since.
func TestRedo(t *testing.T) {
	const five = "1\n2\n3\n4\n5\n"
	for _, test := range []struct {
		name  string
		since string // what the user makes of the undone file; "-": he deletes it
		want  string
		how   fileop.UndoHow
		err   error
	}{
		{"nothing since", five, "1\ntwo\n3\n4\n5\n", fileop.UndoRestored, nil},
		{"another line since", "1\n2\n3\n4\nFIVE\n", "1\ntwo\n3\n4\nFIVE\n", fileop.UndoMerged, nil},
		{"the same line since", "1\nII\n3\n4\n5\n", "1\nII\n3\n4\n5\n", fileop.UndoKept, fileop.ErrConflict},
		{"brought back by hand", "1\ntwo\n3\n4\n5\n", "1\ntwo\n3\n4\n5\n", fileop.UndoAlready, nil},
		{"deleted since", "-", "-", fileop.UndoKept, fileop.ErrGone},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLedger(t, ways["both"])
			l.save(five)
			id := l.edits(1, 1, swap("2", "two"))
			l.undo(fileop.Which{All: true})
			if test.since == "-" {
				if err := l.disk.Remove(t.Context(), l.path); err != nil {
					t.Fatal(err)
				}
			} else {
				l.save(test.since)
			}
			l.reopen(ways["both"])
			results, err := l.journal.Redo(t.Context(), l.op)
			if err != nil || len(results) != 1 || results[0].How != test.how || !errors.Is(results[0].Err, test.err) {
				t.Errorf("%+v, %v", results, err)
			}
			if test.want != "-" {
				l.wantDisk(test.want)
			}
			a, _ := l.journal.Action(id)
			if stands := a.State == fileop.StateApplied; stands != (test.err == nil) {
				t.Errorf("it is %s", a.State)
			}
			if _, err := l.journal.Redo(t.Context(), l.op); test.err == nil && !errors.Is(err, fileop.ErrNothingUndone) {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

func TestRedoOneByOne(t *testing.T) {
	l := newLedger(t, ways["disk only"])
	l.save("0\n")
	for turn := 1; turn <= 3; turn++ {
		l.edits(turn, 1, content(fmt.Sprintf("%d\n", turn)))
	}
	for turn := 3; turn > 0; turn-- {
		l.undo(fileop.Which{Turn: turn})
	}
	l.wantDisk("0\n")
	for _, want := range []string{"1\n", "2\n", "3\n"} {
		if _, err := l.journal.Redo(t.Context(), l.op); err != nil {
			t.Fatal(err)
		}
		l.wantDisk(want)
	}
	if _, err := l.journal.Redo(t.Context(), l.op); !errors.Is(err, fileop.ErrNothingUndone) {
		t.Error(err)
	}
	l.undo(fileop.Which{All: true})
	l.wantDisk("0\n")
}

// TestRedoIsTold: the model hears that what it believed undone stands again, and of
// nothing that the user has not done.
func TestRedoIsTold(t *testing.T) {
	l := newLedger(t, ways["disk only"])
	l.save("1\n2\n")
	l.edits(1, 1, swap("2", "two"))
	l.undo(fileop.Which{All: true})
	_, mark, err := l.journal.Since(t.Context(), l.op, fileop.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.journal.Redo(t.Context(), l.op); err != nil {
		t.Fatal(err)
	}
	findings, _, err := l.journal.Since(t.Context(), l.op, mark)
	if err != nil {
		t.Fatal(err)
	}
	want := "Your change of " + l.path + " was kept by the user (brought back after it was undone).\n"
	if got := fileop.Report(findings); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	l.save("1\n2\nthree\n")
	findings, _, err = l.journal.Since(t.Context(), l.op, mark)
	if err != nil || !strings.Contains(fileop.Report(findings), "+three") {
		t.Errorf("told %q, %v", fileop.Report(findings), err)
	}
}
