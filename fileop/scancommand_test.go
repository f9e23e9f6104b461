package fileop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kimi-acp/fileop"
)

// scanDesk is a folder on disk in which commands run.
type scanDesk struct {
	*testing.T
	root    string
	disk    *fileop.Disk
	op      *fileop.Operator
	journal *fileop.Journal
	scans   *fileop.CommandScans
}

func newScanDesk(t *testing.T) *scanDesk { return newLimitedScanDesk(t, fileop.ScanLimits{}) }

func newLimitedScanDesk(t *testing.T, l fileop.ScanLimits) *scanDesk {
	root := t.TempDir()
	s := &scanDesk{T: t, root: root, disk: openDisk(t, root), journal: openMemJournal(t)}
	s.op = fileop.New(fileop.Options{Disk: s.disk, Roots: []string{root}, Recorder: s.journal})
	s.scans = fileop.NewCommandScans(s.op, s.journal, &memScratch{}, l)
	return s
}

func (s *scanDesk) at(name string) string { return filepath.Join(s.root, name) }

// put writes a file as a program does, not by replacing it; "-" deletes it.
func (s *scanDesk) put(path, text string) {
	s.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if text == "-" {
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	} else if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scanDesk) want(path, text string) {
	s.Helper()
	got, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		got = []byte("-")
	} else if err != nil {
		s.Fatal(err)
	}
	if string(got) != text {
		s.Errorf("%s holds %.100q, want %.100q", path, got, text)
	}
}

func (s *scanDesk) command(run func()) []fileop.TaskAction {
	s.Helper()
	found, coverage := s.covered(run)
	if note := coverage.Note(); note != "" {
		s.Errorf("not covered: %s", note)
	}
	return found
}

func (s *scanDesk) covered(run func()) ([]fileop.TaskAction, fileop.Coverage) {
	s.Helper()
	scan, err := s.scans.Before(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	run()
	found, coverage, err := scan.After(s.Context(), fileop.Cause{Turn: 1, Tool: "Shell"})
	if err != nil {
		s.Fatal(err)
	}
	return found, coverage
}

func (s *scanDesk) undo(which fileop.Which) []fileop.Undone {
	s.Helper()
	results, err := s.journal.Undo(s.Context(), s.op, which)
	if err != nil {
		s.Fatal(err)
	}
	return results
}

// commandOnDisk runs a command beside a desk in memory: its file is laid on disk for
// the time of the scans.
func (l *ledger) commandOnDisk(run func()) []fileop.TaskAction {
	l.Helper()
	d := openDisk(l, l.root)
	lay := func() {
		data, err := l.disk.Read(l.Context(), l.path)
		if err == nil {
			err = os.WriteFile(l.path, data, 0o644)
		}
		if err != nil {
			l.Fatal(err)
		}
	}
	lay()
	op := fileop.New(fileop.Options{Disk: d, Roots: []string{l.root}})
	scan, err := fileop.NewCommandScans(op, l.journal, &memScratch{}, fileop.ScanLimits{}).Before(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	run()
	lay()
	found, _, err := scan.After(l.Context(), fileop.Cause{})
	if err != nil {
		l.Fatal(err)
	}
	return found
}

// brief is an action as the tests compare it: "kind path confidence".
func (s *scanDesk) brief(actions []fileop.TaskAction) string {
	var out []string
	for _, a := range actions {
		rel, err := filepath.Rel(s.root, a.Path)
		if err != nil {
			s.Fatal(err)
		}
		line := fmt.Sprint(a.Kind, " ", filepath.ToSlash(rel))
		if a.NewPath != "" {
			rel, err = filepath.Rel(s.root, a.NewPath)
			if err != nil {
				s.Fatal(err)
			}
			line += " to " + filepath.ToSlash(rel)
		}
		out = append(out, fmt.Sprint(line, " ", a.Confidence))
	}
	return strings.Join(out, "\n")
}

func TestCommandScan(t *testing.T) {
	for _, test := range []struct {
		name   string
		before map[string]string
		run    func(*scanDesk)
		want   string
	}{
		{"nothing", map[string]string{"a": "1\n"}, func(*scanDesk) {}, ""},
		{"an edit", map[string]string{"a": "1\n"}, func(s *scanDesk) { s.put(s.at("a"), "2\n") }, "edit a 0.9"},
		{"the same bytes", map[string]string{"a": "1\n"}, func(s *scanDesk) { s.put(s.at("a"), "1\n") }, ""},
		{"a create", nil, func(s *scanDesk) { s.put(s.at("d/a"), "2\n") }, "create d/a 0.9"},
		{"a delete", map[string]string{"a": "1\n"}, func(s *scanDesk) { s.put(s.at("a"), "-") }, "delete a 0.9"},
		{"a rename", map[string]string{"a": "1\n"}, func(s *scanDesk) { s.move("a", "b") }, "rename a to b 0.9"},
		{"a copy and a delete", map[string]string{"a": "1\n"}, func(s *scanDesk) { s.put(s.at("b"), "1\n"); s.put(s.at("a"), "-") }, "rename a to b 0.8"},
		{"a rename and an edit", map[string]string{"a": "1\n"}, func(s *scanDesk) { s.move("a", "b"); s.put(s.at("b"), "2\n") }, "delete a 0.9\ncreate b 0.9"},
		{"renames of the same bytes", map[string]string{"a": "1\n", "b": "1\n"}, func(s *scanDesk) { s.move("a", "z"); s.move("b", "y") }, "rename a to z 0.9\nrename b to y 0.9"},
		{"a rename onto another", map[string]string{"a": "1\n", "b": "2\n"}, func(s *scanDesk) { s.move("a", "b") }, "delete a 0.9\nedit b 0.9"},
		{"empty files", map[string]string{"a": ""}, func(s *scanDesk) { s.move("a", "b") }, "delete a 0.9\ncreate b 0.9"},
		{"what is no text", map[string]string{"a": "\x00"}, func(s *scanDesk) { s.put(s.at("a"), "\x01\x00") }, "edit a 0.9"},
		{
			"with the time set back",
			map[string]string{"a": "1\n"},
			func(s *scanDesk) { s.put(s.at("a"), "2\n"); s.setTime("a", time.Unix(1e9, 0)) }, "edit a 0.9",
		},
		{"only the time", map[string]string{"a": "1\n"}, func(s *scanDesk) { s.setTime("a", time.Unix(1e9, 0)) }, ""},
		{
			"what is ignored",
			map[string]string{".gitignore": "x\n", "x": "1\n"},
			func(s *scanDesk) { s.put(s.at("x"), "2\n") }, "",
		},
		{
			"what is ignored now",
			map[string]string{".gitignore": "", "x": "1\n", "y": "1\n"},
			func(s *scanDesk) { s.put(s.at(".gitignore"), "x\ny\n"); s.put(s.at("x"), "2\n") }, "edit x 0.9\nedit .gitignore 0.9",
		},
		{
			"what comes into sight",
			map[string]string{".gitignore": "x\ny\n", "x": "1\n", "y": "1\n"},
			func(s *scanDesk) { s.setOld("y"); s.put(s.at(".gitignore"), ""); s.put(s.at("x"), "2\n") },
			"edit .gitignore 0.9\nedit x 0.5\nedit y 0.5",
		},
		{"a folder in its place", map[string]string{"a": "1\n"}, func(s *scanDesk) { s.put(s.at("a"), "-"); s.put(s.at("a/b"), "2\n") }, "delete a 0.9\ncreate a/b 0.9"},
		{"a link in its place", map[string]string{"a": "1\n", "b": "2\n"}, func(s *scanDesk) {
			s.put(s.at("a"), "-")
			if err := os.Symlink("b", s.at("a")); err != nil {
				s.Skip(err)
			}
		}, "delete a 0.9"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScanDesk(t)
			for name, text := range test.before {
				s.put(s.at(name), text)
			}
			found := s.found(func() { test.run(s) })
			if diff := cmp.Diff(test.want, s.brief(found)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, a := range found {
				if !a.Cause.Command || a.Cause.Turn != 1 || a.Cause.Tool != "Shell" || a.State != fileop.StateApplied {
					t.Errorf("%+v", a)
				}
			}
			if diff := cmp.Diff(found, s.journal.Actions(fileop.Which{All: true}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the journal has (-found +got):\n%s", diff)
			}
		})
	}
}

// TestCommandScanLargeFiles moves, touches and changes files that are not read.
func TestCommandScanLargeFiles(t *testing.T) {
	s := newScanDesk(t)
	large := strings.Repeat("x", fileop.MaxEdit+1)
	for _, name := range []string{"moved", "changed", "restored"} {
		s.put(s.at(name), large)
	}
	found, _ := s.covered(func() {
		s.move("moved", "there")
		s.put(s.at("changed"), large+"y")
		if err := os.Chmod(s.at("restored"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.put(s.at("new"), large)
	})
	want := "rename moved to there 0.9\nedit changed 0.5\ncreate new 0.9"
	if diff := cmp.Diff(want, s.brief(found)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, r := range s.undo(fileop.Which{All: true}) {
		if rename := r.Kind == fileop.ActionRename; rename != (r.How != fileop.UndoKept) {
			t.Errorf("%+v", r)
		}
	}
	s.want(s.at("moved"), large)
	s.want(s.at("new"), large)
}

// TestCommandScanNames counts files whose names cannot be journaled.
func TestCommandScanNames(t *testing.T) {
	s := newScanDesk(t)
	if err := os.WriteFile(s.at("caf\xe9"), nil, 0o644); err != nil {
		t.Skip(err)
	}
	found, coverage := s.covered(func() { s.put(s.at("caf\xe9"), "changed") })
	if len(found) != 0 || coverage.Unusable != 1 || !strings.Contains(coverage.Note(), "files that could not be looked at: 1") {
		t.Errorf("%+v, %q", found, coverage.Note())
	}
}

func (s *scanDesk) found(run func()) []fileop.TaskAction {
	s.Helper()
	found, _ := s.covered(run)
	return found
}

func (s *scanDesk) move(from, to string) {
	s.Helper()
	if err := os.Rename(s.at(from), s.at(to)); err != nil {
		s.Fatal(err)
	}
}

func (s *scanDesk) setTime(name string, at time.Time) {
	s.Helper()
	if err := os.Chtimes(s.at(name), at, at); err != nil {
		s.Fatal(err)
	}
}

func (s *scanDesk) setOld(name string) { s.setTime(name, time.Unix(1e9, 0)) }

// TestCommandScansInARow remembers what it has seen, and its edits have hunks.
func TestCommandScansInARow(t *testing.T) {
	s := newScanDesk(t)
	s.put(s.at("a"), "1\n2\n3\n")
	for i := range 3 {
		before, after := fmt.Sprintf("1\n%d\n3\n", 2+i), fmt.Sprintf("1\n%d\n3\n", 3+i)
		found := s.command(func() { s.put(s.at("a"), after) })
		if len(found) != 1 || len(found[0].Hunks) != 1 || found[0].Hunks[0].OldStart != 2 {
			t.Fatalf("%+v", found)
		}
		diff, err := s.journal.Diff(found[0].ID)
		if err != nil || !strings.Contains(diff, fmt.Sprintf("-%d\n+%d\n", 2+i, 3+i)) {
			t.Errorf("from %q to %q: %s, %v", before, after, diff, err)
		}
	}
	if found := s.command(func() {}); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	s.undo(fileop.Which{All: true})
	s.want(s.at("a"), "1\n2\n3\n")
}

// TestCommandScanBounds names what it does not cover, and deletes nothing of which
// it does not know that it is new.
func TestCommandScanBounds(t *testing.T) {
	for _, test := range []struct {
		name   string
		limits fileop.ScanLimits
		want   string
		note   string
		undone string // of a, b, c after undoing
	}{
		{
			"too many files",
			fileop.ScanLimits{Files: 2},
			"edit a 0.9\nedit b 0.9",
			"Not every change by this command can be undone: for want of time or room the files looked at were only 2.", "1\n 2\n changed 3\n",
		},
		{
			"too large",
			fileop.ScanLimits{FileBytes: 1},
			"edit a 0.5\nedit b 0.5\nedit c 0.5",
			"Not every change by this command can be undone: changed files whose contents from before were not kept: 3.", "changed 1\n changed 2\n changed 3\n",
		},
		{
			"no room",
			fileop.ScanLimits{Bytes: 1},
			"edit a 0.9\nedit b 0.9\nedit c 0.9",
			"Not every change by this command can be undone: changed files whose contents from before were not kept: 3.", "changed 1\n changed 2\n changed 3\n",
		},
		{
			"too many changes",
			fileop.ScanLimits{Changes: 1},
			"edit a 0.9",
			"Not every change by this command can be undone: changes beyond those that are taken down: 2.", "1\n changed 2\n changed 3\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newLimitedScanDesk(t, test.limits)
			for n, name := range []string{"a", "b", "c"} {
				s.put(s.at(name), fmt.Sprintf("%d\n", n+1))
			}
			found, coverage := s.covered(func() {
				for n, name := range []string{"a", "b", "c"} {
					s.put(s.at(name), fmt.Sprintf("changed %d\n", n+1))
				}
			})
			if got := s.brief(found); got != test.want {
				t.Errorf("found\n%s, want\n%s", got, test.want)
			}
			if got := coverage.Note(); got != test.note {
				t.Errorf("noted %q, want %q", got, test.note)
			}
			for _, r := range s.undo(fileop.Which{All: true}) {
				if r.How == fileop.UndoKept && !errors.Is(r.Err, fileop.ErrContentLost) {
					t.Errorf("%+v", r)
				}
			}
			got := ""
			for _, name := range []string{"a", "b", "c"} {
				data, err := os.ReadFile(s.at(name))
				if err != nil {
					t.Error(err)
				}
				got += " " + string(data)
			}
			if strings.TrimPrefix(got, " ") != test.undone {
				t.Errorf("undone to %q, want %q", got, test.undone)
			}
		})
	}
}

// TestCommandScanUnreached: a file that lies beyond what was looked at before the
// command is not taken for one that the command has made.
func TestCommandScanUnreached(t *testing.T) {
	s := newLimitedScanDesk(t, fileop.ScanLimits{Files: 2})
	for _, name := range []string{"a", "b", "c"} {
		s.put(s.at(name), name)
	}
	found, _ := s.covered(func() {
		s.put(s.at("a"), "-")
		s.put(s.at("c"), "changed")
	})
	if got := s.brief(found); got != "delete a 0.9\nedit c 0.5" {
		t.Errorf("found %s", got)
	}
	s.undo(fileop.Which{All: true})
	s.want(s.at("a"), "a")
	s.want(s.at("c"), "changed")
}

// TestCommandScanStartsOver makes room when most of the scratch file is of no use.
func TestCommandScanStartsOver(t *testing.T) {
	s := newLimitedScanDesk(t, fileop.ScanLimits{Bytes: 100})
	s.put(s.at("a"), "0")
	for i := range 100 {
		found := s.command(func() { s.put(s.at("a"), strings.Repeat("x", 1+i%9)) })
		if i > 0 && len(found) != 1 {
			t.Fatalf("in round %d: %+v", i, found)
		}
	}
}

func TestCommandScanErrors(t *testing.T) {
	s := newScanDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	scan, err := s.scans.Before(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.scans.Before(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("before: %v", err)
	}
	if _, _, err := scan.After(ctx, fileop.Cause{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after: %v", err)
	}
	mem := fileop.New(fileop.Options{Disk: fileop.NewMem(s.root), Roots: []string{s.root}})
	if _, err := fileop.NewCommandScans(mem, s.journal, &memScratch{}, fileop.ScanLimits{}).Before(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("of a store that cannot be walked: %v", err)
	}
}

// brokenScratch cannot be written, or not be read.
type brokenScratch struct {
	memScratch
	write, read error
}

func (b *brokenScratch) WriteAt(p []byte, at int64) (int, error) {
	if b.write != nil {
		return 0, b.write
	}
	return b.memScratch.WriteAt(p, at)
}

func (b *brokenScratch) ReadAt(p []byte, at int64) (int, error) {
	if b.read != nil {
		return 0, b.read
	}
	return b.memScratch.ReadAt(p, at)
}

// TestCommandScanBrokenScratch finds changes all the same, without contents.
func TestCommandScanBrokenScratch(t *testing.T) {
	for name, scratch := range map[string]*brokenScratch{
		"write": {write: io.ErrShortWrite}, "read": {read: io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScanDesk(t)
			s.scans = fileop.NewCommandScans(s.op, s.journal, scratch, fileop.ScanLimits{})
			s.put(s.at("a"), "1\n")
			if found := s.found(func() { s.put(s.at("a"), "2\n") }); s.brief(found) != "edit a 0.9" {
				t.Errorf("found %+v", found)
			}
			if r := s.undo(fileop.Which{All: true}); !errors.Is(r[0].Err, fileop.ErrContentLost) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestCommandAndBuffer undoes what a command did to a file that has unsaved changes.
func TestCommandAndBuffer(t *testing.T) {
	l := newLedger(t, ways["both"])
	l.save("1\n2\n3\n4\n5\n")
	l.commandOnDisk(func() { l.save("1\ntwo\n3\n4\n5\n") })
	l.editor.edit(l.path, "1\n2\n3\n4\nfive, typed\n")
	if r := l.undo(fileop.Which{All: true}); len(r) != 1 || r[0].How != fileop.UndoAlready || r[0].Err != nil {
		t.Errorf("%+v", r)
	}
	l.wantDisk("1\n2\n3\n4\nfive, typed\n")
}

// TestCommandScanNoTime says so when there was no time to look, and takes nothing for
// new then.
func TestCommandScanNoTime(t *testing.T) {
	s := newLimitedScanDesk(t, fileop.ScanLimits{Before: time.Nanosecond})
	s.put(s.at("a"), "1\n")
	found, coverage := s.covered(func() { s.put(s.at("a"), "changed\n") })
	if got := s.brief(found); got != "edit a 0.5" || !coverage.Partial {
		t.Errorf("%s, %+v", got, coverage)
	}
	if r := s.undo(fileop.Which{All: true}); !errors.Is(r[0].Err, fileop.ErrContentLost) {
		t.Errorf("%+v", r)
	}
	s.want(s.at("a"), "changed\n")
}

// TestCommandScanOthers has the user change files while a command runs: what he saves
// after its end, and what he saves of a text that was unsaved before, is not taken for
// the command's.
func TestCommandScanOthers(t *testing.T) {
	s := newScanDesk(t)
	for _, name := range []string{"command", "late", "unsaved", "still unsaved"} {
		s.put(s.at(name), "1\n")
	}
	e := &editor{disk: s.disk}
	s.op = fileop.New(fileop.Options{Disk: s.disk, Editor: e, EditorReads: true, EditorWrites: true, Roots: []string{s.root}, Recorder: s.journal})
	s.scans = fileop.NewCommandScans(s.op, s.journal, &memScratch{}, fileop.ScanLimits{})
	for _, name := range []string{"unsaved", "still unsaved"} {
		e.edit(s.at(name), "typed\n")
		if _, err := s.op.Read(t.Context(), s.at(name)); err != nil { // the editor is known to have it
			t.Fatal(err)
		}
	}
	scan, err := s.scans.Before(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.put(s.at("command"), "2\n")
	s.put(s.at("still unsaved"), "2\n")
	delete(e.buffers, s.at("unsaved"))
	s.put(s.at("unsaved"), "typed\n")
	scan.Ended()
	wait := time.NewTicker(time.Millisecond)
	defer wait.Stop()
	for late := false; !late; <-wait.C { // until the file system's clock, which lags, is past the end
		s.put(s.at("late"), "2\n")
		late = s.changedLaterThan(s.at("late"), s.at("command"))
	}
	found, coverage, err := scan.After(t.Context(), fileop.Cause{Turn: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.brief(found); got != "edit command 0.9\nedit still unsaved 0.9" || coverage.Others != 2 {
		t.Errorf("%s, %+v", got, coverage)
	}
	if !strings.Contains(coverage.Note(), "changed meanwhile") {
		t.Error(coverage.Note())
	}
	s.undo(fileop.Which{All: true})
	s.want(s.at("command"), "1\n")
	s.want(s.at("late"), "2\n")
	s.want(s.at("unsaved"), "typed\n")
}

// changedLaterThan tells whether a file was changed so much later than another one
// that no clock of a file system takes them for one moment.
func (s *scanDesk) changedLaterThan(path, other string) bool {
	s.Helper()
	a, err := os.Stat(path)
	if err != nil {
		s.Fatal(err)
	}
	b, err := os.Stat(other)
	if err != nil {
		s.Fatal(err)
	}
	return a.ModTime().Sub(b.ModTime()) > 20*time.Millisecond
}
