package fileop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

const (
	tenLines   = "1\n2\n3\n4\nV\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n"
	threeHunks = "one\n2\n3\n4\nV\n6\n7\n8\nnine\n10\n11\n12\n13\n14\n15\n16\n17\n18\nnineteen\n"
)

// hunked is a ledger with an edit of three hunks.
func hunked(t *testing.T) (*ledger, fileop.ActionID) {
	l := newLedger(t, ways["both"])
	l.save(tenLines)
	id := l.edits(1, 1, content(threeHunks))
	if a := l.action(id); len(a.Hunks) != 3 {
		t.Fatalf("hunks %+v", a.Hunks)
	}
	return l, id
}

func (l *ledger) refuse(id fileop.ActionID, hunks ...int) fileop.Undone {
	l.Helper()
	r, err := l.journal.Refuse(l.Context(), l.op, id, hunks...)
	if err != nil {
		l.Fatal(err)
	}
	return r
}

func TestReviewHunks(t *testing.T) {
	t.Run("some of them", func(t *testing.T) {
		l, id := hunked(t)
		if r := l.refuse(id, 2); r.How != fileop.UndoRestored || r.Err != nil {
			t.Errorf("%+v", r)
		}
		l.wantDisk(strings.Replace(threeHunks, "nine\n", "9\n", 1))
		l.wantState(id, fileop.StateApplied)
		if err := l.journal.Keep(id, 1); err != nil {
			t.Fatal(err)
		}
		l.wantState(id, fileop.StateApplied)
		if err := l.journal.Keep(id); err != nil {
			t.Fatal(err)
		}
		l.wantState(id, fileop.StateReviewed)
		a := l.action(id)
		if !a.Partly() || a.Hunks[0].Verdict != fileop.VerdictKept || a.Hunks[1].Verdict != fileop.VerdictRefused || a.Hunks[2].Verdict != fileop.VerdictKept {
			t.Errorf("%+v", a)
		}
		l.reopen(ways["both"])
		if r := l.undo(fileop.Which{All: true}); r[0].How != fileop.UndoMerged {
			t.Errorf("%+v", r)
		}
		l.wantDisk(tenLines)
	})
	t.Run("all of them", func(t *testing.T) {
		l, id := hunked(t)
		l.refuse(id, 3, 1)
		l.wantDisk(strings.Replace(tenLines, "9\n", "nine\n", 1))
		l.refuse(id)
		l.wantDisk(tenLines)
		l.wantState(id, fileop.StateUndone)
		if a := l.action(id); a.Partly() {
			t.Errorf("%+v", a)
		}
	})
	t.Run("with changes by the user", func(t *testing.T) {
		l, id := hunked(t)
		mine := strings.NewReplacer("one\n", "uno\n", "V\n", "five\n").Replace(threeHunks)
		l.save(mine)
		if r := l.refuse(id, 2); r.How != fileop.UndoMerged {
			t.Errorf("%+v", r)
		}
		mine = strings.Replace(mine, "nine\n", "9\n", 1)
		l.wantDisk(mine)
		if r := l.refuse(id, 1); r.How != fileop.UndoKept || !errors.Is(r.Err, fileop.ErrConflict) {
			t.Errorf("%+v", r)
		}
		l.wantDisk(mine)
		if a := l.action(id); a.Hunks[0].Verdict != "" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("taken back by hand", func(t *testing.T) {
		l, id := hunked(t)
		l.save(strings.Replace(threeHunks, "nine\n", "9\n", 1))
		if r := l.refuse(id, 2); r.How != fileop.UndoAlready {
			t.Errorf("%+v", r)
		}
		if a := l.action(id); a.Hunks[1].Verdict != fileop.VerdictRefused {
			t.Errorf("%+v", a)
		}
	})
	t.Run("kept, then refused", func(t *testing.T) {
		l, id := hunked(t)
		if err := l.journal.Keep(id); err != nil {
			t.Fatal(err)
		}
		if r := l.refuse(id); r.How != fileop.UndoAlready { // none is open
			t.Errorf("%+v", r)
		}
		l.wantDisk(threeHunks)
		l.refuse(id, 1)
		l.wantDisk(strings.Replace(threeHunks, "one\n", "1\n", 1))
		l.wantState(id, fileop.StateReviewed)
		if err := l.journal.Keep(id, 1); !errors.Is(err, fileop.ErrNotApplied) {
			t.Errorf("kept after it was refused: %v", err)
		}
	})
	t.Run("a new file", func(t *testing.T) {
		l := newLedger(t, ways["both"])
		id := l.edits(1, 1, content("a\nb\n"))
		l.save("a\nb\nc\n")
		if r := l.refuse(id); !errors.Is(r.Err, fileop.ErrChangedSince) {
			t.Errorf("%+v", r)
		}
		l.save("a\nb\n")
		if r := l.refuse(id, 1); r.How != fileop.UndoRestored {
			t.Errorf("%+v", r)
		}
		if _, err := l.disk.Read(t.Context(), l.path); err == nil {
			t.Error("it is still there")
		}
		l.wantState(id, fileop.StateUndone)
	})
	t.Run("the file is gone", func(t *testing.T) {
		l, id := hunked(t)
		if err := l.disk.Remove(t.Context(), l.path); err != nil {
			t.Fatal(err)
		}
		if r := l.refuse(id, 1); !errors.Is(r.Err, fileop.ErrGone) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("the contents are lost", func(t *testing.T) {
		l, id := hunked(t)
		l.kept = fileop.NewMemContents(fileop.ContentLimits{})
		l.reopen(ways["both"])
		if r := l.refuse(id, 1); !errors.Is(r.Err, fileop.ErrContentLost) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("the editor refuses", func(t *testing.T) {
		l, id := hunked(t)
		l.editor.onWrite = func() error { l.editor.refuses = errors.New("no"); return l.editor.refuses }
		if r := l.refuse(id, 1); r.How != fileop.UndoKept || !errors.Is(r.Err, fileop.ErrRefused) {
			t.Errorf("%+v", r)
		}
	})
}

func TestReviewErrors(t *testing.T) {
	l, id := hunked(t)
	rejected := l.journal.Propose(fileop.Cause{}, l.plan(content("x\n"))).Action()
	empty := l.edits(1, 1, fileop.Edit{Path: l.root + "/empty", Content: ptr("")})
	for _, test := range []struct {
		id    fileop.ActionID
		hunks []int
		want  error
	}{
		{"a9", nil, fileop.ErrNoAction},
		{id, []int{4}, fileop.ErrNoHunk},
		{id, []int{1, 0}, fileop.ErrNoHunk},
		{rejected, nil, fileop.ErrNotApplied},
		{empty, nil, fileop.ErrNoHunk},
	} {
		if err := l.journal.Keep(test.id, test.hunks...); test.id != empty && !errors.Is(err, test.want) {
			t.Errorf("keeping %v of %s: %v, want %v", test.hunks, test.id, err, test.want)
		}
		if _, err := l.journal.Refuse(t.Context(), l.op, test.id, test.hunks...); !errors.Is(err, test.want) {
			t.Errorf("refusing %v of %s: %v, want %v", test.hunks, test.id, err, test.want)
		}
	}
	l.wantState(empty, fileop.StateReviewed) // it has no parts, so it was kept as a whole
	if err := l.journal.Keep(empty); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.journal.Refuse(ctx, l.op, id, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context: %v", err)
	}
	l.wantDisk(threeHunks)
}
