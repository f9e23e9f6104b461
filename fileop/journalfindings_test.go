package fileop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

// since gives a report in short, one finding a line, and the next mark.
func (l *ledger) since(m fileop.Mark) (string, fileop.Mark) {
	l.Helper()
	found, next, err := l.journal.Since(l.Context(), l.op, m)
	if err != nil {
		l.Fatal(err)
	}
	var out []string
	for _, f := range found {
		line := fmt.Sprint(f.Verdict)
		if f.Action != "" {
			line = fmt.Sprint(f.Action, ".", f.Hunk, " ", line)
		}
		if f.Deleted {
			line += " deleted"
		}
		if f.Reason != "" {
			line += " (" + f.Reason + ")"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n"), next
}

// TestSince lets somebody act after an edit of three hunks. Told once, it is not told
// again.
func TestSince(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*ledger, fileop.ActionID)
		want string
	}{
		{"nothing", func(*ledger, fileop.ActionID) {}, ""},
		{"a hunk taken back", func(l *ledger, _ fileop.ActionID) { l.save(strings.Replace(threeHunks, "nine\n", "9\n", 1)) }, "a1.2 refused"},
		{"a hunk changed", func(l *ledger, _ fileop.ActionID) { l.save(strings.Replace(threeHunks, "nine\n", "neuf\n", 1)) }, "a1.2 changed"},
		{"a hunk changed, with its neighbour", func(l *ledger, _ fileop.ActionID) {
			l.save(strings.Replace(threeHunks, "8\nnine\n", "huit\n9\n", 1))
		}, "a1.2 changed"},
		{"an added line deleted", func(l *ledger, _ fileop.ActionID) { l.save(strings.Replace(threeHunks, "nineteen\n", "", 1)) }, "a1.3 refused"},
		{"other lines", func(l *ledger, _ fileop.ActionID) { l.save(strings.Replace(threeHunks, "V\n", "five\n", 1)) }, "changed"},
		{"typed, not saved", func(l *ledger, _ fileop.ActionID) {
			l.editor.edit(l.path, strings.NewReplacer("one\n", "1\n", "V\n", "five\n").Replace(threeHunks))
		}, "a1.1 refused\nchanged"},
		{"everything taken back", func(l *ledger, _ fileop.ActionID) { l.save(tenLines) }, "a1.1 refused\na1.2 refused\na1.3 refused"},
		{"deleted", func(l *ledger, _ fileop.ActionID) {
			if err := l.disk.Remove(l.Context(), l.path); err != nil {
				l.Fatal(err)
			}
		}, "refused deleted"},
		{"not text any more", func(l *ledger, _ fileop.ActionID) { l.save("\x00") }, "changed"},
		{"cannot be read", func(l *ledger, _ fileop.ActionID) { l.editor.refuses = errors.New("no") }, ""},
		{"reviewed", func(l *ledger, id fileop.ActionID) {
			l.refuse(id, 2)
			if err := l.journal.Keep(id, 1); err != nil {
				l.Fatal(err)
			}
		}, "a1.1 kept\na1.2 refused"},
		{"undone", func(l *ledger, _ fileop.ActionID) { l.undo(fileop.Which{All: true}) }, "a1.0 refused (restored)"},
		{"another edit", func(l *ledger, _ fileop.ActionID) { l.edits(1, 2, swap("nine\n", "neuf\n")) }, ""},
		{"an edit, and taken back", func(l *ledger, _ fileop.ActionID) {
			l.edits(1, 2, swap("17\n", "seventeen\n"))
			l.save(strings.Replace(threeHunks, "nine\n", "9\n", 1))
		}, "a1.2 refused\na2.1 refused"},
		{"changed before an edit", func(l *ledger, _ fileop.ActionID) {
			l.save(strings.Replace(threeHunks, "nine\n", "9\n", 1))
			l.edits(1, 2, swap("V\n", "five\n"))
		}, "a1.2 refused"},
		{"changed before and after an edit", func(l *ledger, _ fileop.ActionID) {
			l.save(strings.Replace(threeHunks, "nine\n", "9\n", 1))
			l.edits(1, 2, swap("V\n", "five\n"))
			l.save(strings.NewReplacer("nine\n", "9\n", "V\n", "cinq\n").Replace(threeHunks))
		}, "a1.2 refused\na2.1 changed"},
		{"changed before it was undone", func(l *ledger, _ fileop.ActionID) {
			l.save(strings.Replace(threeHunks, "V\n", "five\n", 1))
			l.undo(fileop.Which{All: true})
		}, "a1.0 refused (merged)\nchanged"},
		{"a proposal rejected", func(l *ledger, _ fileop.ActionID) {
			c := l.journal.Propose(fileop.Cause{}, l.plan(content("x\n")))
			if err := l.journal.Reject(c.Action(), "not like this"); err != nil {
				l.Fatal(err)
			}
		}, "a2.0 refused (not like this)"},
		{"a line brought back", func(l *ledger, _ fileop.ActionID) {
			l.edits(1, 2, swap("V\n", ""))
			l.save(threeHunks)
		}, "a2.1 refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, id := hunked(t)
			_, mark := l.since(fileop.Mark{})
			test.run(l, id)
			got, mark := l.since(mark)
			if got != test.want {
				t.Errorf("told\n%s\nwant\n%s", got, test.want)
			}
			if got, _ := l.since(mark); got != "" {
				t.Errorf("told again\n%s", got)
			}
			l.editor.refuses = nil
			l.reopen(ways["both"])
			if got, _ := l.since(fileop.Mark{}); got != test.want {
				t.Errorf("told after a restart\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestSinceToldBefore: what was told of a file is not told again when the agent edits
// it, and what the user does then is.
func TestSinceToldBefore(t *testing.T) {
	l, _ := hunked(t)
	l.save(strings.Replace(threeHunks, "nine\n", "9\n", 1))
	got, mark := l.since(fileop.Mark{})
	if got != "a1.2 refused" {
		t.Errorf("told %s", got)
	}
	l.edits(1, 2, swap("V\n", "five\n"))
	if got, mark = l.since(mark); got != "" {
		t.Errorf("told again %s", got)
	}
	l.save(strings.NewReplacer("nine\n", "9\n", "V\n", "cinq\n").Replace(threeHunks))
	if got, _ = l.since(mark); got != "a2.1 changed" {
		t.Errorf("told %s", got)
	}
}

func TestSinceCommand(t *testing.T) {
	s := newScanDesk(t)
	s.put(s.at("a"), "1\n2\n3\n")
	s.command(func() { s.put(s.at("a"), "1\ntwo\n3\n") })
	s.command(func() {
		if err := os.Rename(s.at("a"), s.at("b")); err != nil {
			t.Fatal(err)
		}
	})
	s.put(s.at("b"), "1\ntwo\n3\n4\n")
	found, _, err := s.journal.Since(t.Context(), s.op, fileop.Mark{})
	if err != nil || len(found) != 1 || found[0].Path != s.at("b") || found[0].Verdict != fileop.VerdictChanged || !strings.Contains(found[0].Diff, "+4\n") {
		t.Errorf("%+v, %v", found, err)
	}
	s.undo(fileop.Which{All: true})
	found, _, err = s.journal.Since(t.Context(), s.op, fileop.Mark{})
	if err != nil || len(found) != 2 || found[0].Reason != "merged" || found[1].Reason != "merged" {
		t.Errorf("after undoing: %+v, %v", found, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.journal.Since(ctx, s.op, fileop.Mark{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context: %v", err)
	}
}

// TestSinceWithoutContents says that a file was changed when it is not known how.
func TestSinceWithoutContents(t *testing.T) {
	l, _ := hunked(t)
	l.kept = fileop.NewMemContents(fileop.ContentLimits{})
	l.reopen(ways["both"])
	l.save("x\n")
	if got, _ := l.since(fileop.Mark{}); got != "changed" {
		t.Errorf("told %s", got)
	}
}

func TestReport(t *testing.T) {
	l, _ := hunked(t)
	l.save(strings.NewReplacer("one\n", "uno\n", "V\n", "five\n", "nine\n", "9\n").Replace(threeHunks))
	found, _, err := l.journal.Since(t.Context(), l.op, fileop.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	found = append(found,
		fileop.Finding{Action: "a2", Path: l.path, Verdict: fileop.VerdictRefused, Reason: "not now"},
		fileop.Finding{Action: "a2", Path: l.path, Hunk: 3, Verdict: fileop.VerdictKept},
		fileop.Finding{Path: l.path, Verdict: fileop.VerdictRefused, Deleted: true},
		fileop.Finding{Path: l.path, Verdict: fileop.VerdictChanged})
	want := `Part 1 of your change of PATH was changed by the user; keep to what stands there now:
--- PATH
+++ PATH
@@ -1 +1 @@
-one
+uno
Part 2 of your change of PATH was refused or taken back. Do not make it again unless you are asked to.
All that the user changed in PATH since you changed it:
--- PATH
+++ PATH
@@ -1,12 +1,12 @@
-one
+uno
 2
 3
 4
-V
+five
 6
 7
 8
-nine
+9
 10
 11
 12
Your change of PATH was refused or taken back (not now). Do not make it again unless you are asked to.
Part 3 of your change of PATH was kept by the user.
PATH, which you had changed, was deleted since. Do not bring it back unless you are asked to.
PATH was changed since you changed it; read it before you go on.
`
	if got := strings.ReplaceAll(fileop.Report(found), l.path, "PATH"); got != want {
		t.Errorf("got\n%s", got)
	}
	many := fileop.Report(make([]fileop.Finding, 1000))
	if len(many) > 17<<10 || !strings.Contains(many, "more are not listed") {
		t.Errorf("%d bytes, ending %q", len(many), many[len(many)-100:])
	}
	if got := fileop.Report(nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
