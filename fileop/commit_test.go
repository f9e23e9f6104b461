package fileop_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"kimi-acp/fileop"
	"kimi-acp/fileop/storetest"
)

// TestEdits checks bytes on disk for every way that an editor may offer, with an
// editor that shows files as they are and one that hides mark and line ends.
func TestEdits(t *testing.T) {
	edits := []struct {
		name string
		old  string // "-": no file
		edit fileop.Edit
		want string
	}{
		{"new", "-", content("a\nb\n"), "a\nb\n"},
		{"new, CRLF", "-", content("a\r\nb"), "a\r\nb"},
		{"new, mixed and marked", "-", content("\ufeffa\r\nb\n"), "\ufeffa\r\nb\n"},
		{"new, empty", "-", content(""), ""},
		{"emptied", "a\n", content(""), ""},
		{"LF onto LF", "a\n", content("b\n"), "b\n"},
		{"LF onto CRLF", "a\r\n", content("b\nc\n"), "b\r\nc\r\n"},
		{"CRLF onto LF", "a\n", content("b\r\nc\r\n"), "b\nc\n"},
		{"CRLF onto a single line", "a", content("b\r\nc\r\n"), "b\r\nc\r\n"},
		{"LF onto a single line", "a", content("b\nc\n"), "b\nc\n"},
		{"a mark and nothing else", "a\n", content("\ufeffa\n"), "\ufeffa\n"},
		{"onto a mark", "\ufeffa\r\n", content("b\n"), "\ufeffb\r\n"},
		{"a mark onto a mark", "\ufeffa\n", content("\ufeffb\n"), "\ufeffb\n"},
		{"onto a mixed file", "a\r\nb\nc\r\n", content("a\nB\nc\nd\n"), "a\r\nB\nc\r\nd\r\n"},
		{"append", "a\r\n", fileop.Edit{Content: ptr("b\nc"), Append: true}, "a\r\nb\r\nc"},
		{"append to nothing", "-", fileop.Edit{Content: ptr("b\n"), Append: true}, "b\n"},
		{"replace", "\ufeffalpha\r\nbeta\r\ngamma\r\n", swap("beta", "BETA"), "\ufeffalpha\r\nBETA\r\ngamma\r\n"},
		{"replace lines", "a\r\nb\r\nc\r\n", swap("a\nb\n", "x\ny\nz\n"), "x\r\ny\r\nz\r\nc\r\n"},
		{"replace with CRLF given", "a\nb\n", swap("a\r\nb", "x\r\ny"), "x\ny\n"},
		{"no final newline", "a\nb", swap("b", "c"), "a\nc"},
		{"CJK", "名前\r\n", swap("名前", "なまえ"), "なまえ\r\n"},
		{"mixed keeps the rest", "a\r\nb\nc\r\nd\n", swap("b\nc", "b\nX\nc"), "a\r\nb\nX\r\nc\r\nd\n"},
	}
	for name, w := range ways {
		for _, hides := range []bool{false, true} {
			for _, e := range edits {
				style := "/shown/"
				if hides {
					style = "/hidden/"
				}
				t.Run(name+style+e.name, func(t *testing.T) {
					d := newDesk(t, w)
					d.editor.hidesStyle, d.editor.empty = hides, hides
					if e.old != "-" {
						d.save(e.old)
					}
					c := d.plan(e.edit)
					if (c.Before == nil) != (e.old == "-") || c.Before != nil && *c.Before != plain(e.old) {
						t.Errorf("before is %v, want %q", c.Before, plain(e.old))
					}
					r := d.commit(c)
					d.wantDisk(e.want)
					if r.Adjusted || r.Unsaved || r.ReadBack != nil || r.Actual != c.After {
						t.Errorf("result %+v", r)
					}
					if through := w.writes && (w.reads || e.old == "-"); through != (len(d.editor.written) == 1) {
						t.Errorf("the editor was sent %q", d.editor.written)
					}
				})
			}
		}
	}
}

// TestEditorOwnsBOM has an editor that hides a byte order mark and puts it back: the
// one that is sent must not become text, and is sent no more after that.
func TestEditorOwnsBOM(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.editor.hidesStyle, d.editor.ownStyle = true, true
	d.save("\ufeffa\n")
	r := d.commit(d.plan(swap("a", "b")))
	d.wantDisk("\ufeffb\n")
	if r.Adjusted || r.Actual != "b\n" {
		t.Errorf("result %+v", r)
	}
	d.commit(d.plan(swap("b", "c")))
	d.wantDisk("\ufeffc\n")
	if want := []string{"\ufeffb\n", "b\n", "c\n"}; !slices.Equal(d.editor.written, want) {
		t.Errorf("the editor was sent %q, want %q", d.editor.written, want)
	}
}

func TestStale(t *testing.T) {
	tests := []struct {
		name   string
		way    way
		old    string // "-": no file
		change func(*desk)
		stale  bool
	}{
		{"nothing", ways["both"], "a\n", func(*desk) {}, false},
		{"disk", ways["disk only"], "a\n", func(d *desk) { d.save("b\n") }, true},
		{"disk, line ends only", ways["disk only"], "a\n", func(d *desk) { d.save("a\r\n") }, true},
		{"disk under an editor", ways["both"], "a\n", func(d *desk) { d.save("b\n") }, true},
		{"disk under an editor that writes", ways["writes only"], "a\n", func(d *desk) { d.save("b\n") }, true},
		{"disk under a buffer", ways["both"], "a\n", func(d *desk) { d.editor.edit(d.path, "a\n"); d.save("b\n") }, true},
		{"buffer", ways["both"], "a\n", func(d *desk) { d.editor.edit(d.path, "typed\n") }, true},
		{"buffer, made clean", ways["both"], "a\n", func(d *desk) { d.editor.edit(d.path, "a\n") }, false},
		{"made meanwhile on disk", ways["disk only"], "-", func(d *desk) { d.save("") }, true},
		{"made meanwhile in the editor", ways["both"], "-", func(d *desk) { d.editor.edit(d.path, "typed") }, true},
		{"removed meanwhile", ways["disk only"], "a\n", func(d *desk) { _ = d.disk.Remove(d.Context(), d.path) }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, test.way)
			if test.old != "-" {
				d.save(test.old)
			}
			c := d.plan(content("planned\n"))
			test.change(d)
			_, err := d.op.Commit(t.Context(), c)
			if errors.Is(err, fileop.ErrStale) != test.stale || !test.stale && err != nil {
				t.Fatalf("error %v, want stale %v", err, test.stale)
			}
			if got, _ := d.disk.Read(t.Context(), d.path); (string(got) == "planned\n") == test.stale {
				t.Errorf("the disk holds %q", got)
			}
		})
	}
}

// TestStaleLink re-points a link between plan and commit.
func TestStaleLink(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("same\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink("one", link); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	op := fileop.New(fileop.Options{Disk: openDisk(t, root), Roots: []string{root}})
	e := swap("same", "new")
	e.Path = "link"
	c, err := op.Plan(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if c.Path != link || filepath.Base(c.Real) != "one" {
		t.Errorf("path %s, real %s", c.Path, c.Real)
	}
	if err := errors.Join(os.Remove(link), os.Symlink("two", link)); err != nil {
		t.Fatal(err)
	}
	if _, err := op.Commit(t.Context(), c); !errors.Is(err, fileop.ErrStale) {
		t.Errorf("error %v, want ErrStale", err)
	}
	if err := errors.Join(os.Remove(link), os.Symlink(t.TempDir(), link)); err != nil {
		t.Fatal(err)
	}
	if _, err := op.Commit(t.Context(), c); !errors.Is(err, fileop.ErrOutside) {
		t.Errorf("error %v, want ErrOutside", err)
	}
}

func TestDirtyBuffer(t *testing.T) {
	for name, w := range map[string]way{"reads only": ways["reads only"], "both": ways["both"]} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, w)
			d.save("saved\n")
			d.editor.edit(d.path, "typed\nunsaved\n")
			e := swap("typed", "TYPED")
			e.Path = d.path
			c, err := d.op.Plan(t.Context(), e)
			if !w.writes {
				if !errors.Is(err, fileop.ErrDirtyBuffer) {
					t.Errorf("error %v, want ErrDirtyBuffer", err)
				}
				d.wantDisk("saved\n")
				return
			}
			if err != nil || !c.Dirty {
				t.Fatalf("change %+v, %v", c, err)
			}
			d.commit(c)
			d.wantDisk("TYPED\nunsaved\n")
		})
	}
}

// TestEditorAdjusts has an editor that formats on save.
func TestEditorAdjusts(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.editor.format = strings.ToUpper
	d.save("a\r\n")
	r := d.commit(d.plan(content("b\n")))
	if !r.Adjusted || r.Actual != "B\n" || r.Unsaved || r.Change.After != "b\n" {
		t.Errorf("result %+v", r)
	}
}

func TestEditorDoesNotSave(t *testing.T) {
	for _, name := range []string{"both", "writes only"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, ways[name])
			d.editor.keepsDirty = true
			r := d.commit(d.plan(content("b\n")))
			if !r.Unsaved || r.Adjusted || r.Actual != "b\n" || r.ReadBack != nil {
				t.Errorf("result %+v", r)
			}
			if _, err := d.disk.Read(t.Context(), d.path); err == nil {
				t.Error("the file is on disk")
			}
		})
	}
}

// TestEditorRefusesWrite has the editor say no: the disk stays as it is.
func TestEditorRefusesWrite(t *testing.T) {
	for old, way := range map[string]way{"a\n": ways["both"], "-": ways["writes only"]} {
		d := newDesk(t, way)
		if old != "-" {
			d.save(old)
		}
		c := d.plan(content("b\n"))
		d.editor.noWrites = errors.New("no raw notebooks")
		_, err := d.op.Commit(t.Context(), c)
		if !errors.Is(err, fileop.ErrRefused) || !strings.Contains(err.Error(), "no raw notebooks") || errors.Is(err, fileop.ErrUnconfirmed) {
			t.Errorf("error %v", err)
		}
		if got, _ := d.disk.Read(t.Context(), d.path); string(got) == "b\n" {
			t.Error("the refusal was got past on disk")
		}
	}
}

// TestEditorThatOnlyWrites is given new files. What is on disk may be open there with
// text that nobody else sees, so it is changed on disk.
func TestEditorThatOnlyWrites(t *testing.T) {
	d := newDesk(t, ways["writes only"])
	d.commit(d.plan(content("a\n")))
	d.wantDisk("a\n")
	d.editor.edit(d.path, "a\ntyped\n")
	d.commit(d.plan(content("b\n")))
	d.wantDisk("b\n")
	if want := []string{"a\n"}; !slices.Equal(d.editor.written, want) || d.editor.buffers[d.path] != "a\ntyped\n" {
		t.Errorf("the editor was sent %q and holds %q", d.editor.written, d.editor.buffers[d.path])
	}
}

// TestEditorLagsBehind has an editor that only reads and does not notice what is
// written on disk: its old text is neither unsaved nor what counts.
func TestEditorLagsBehind(t *testing.T) {
	d := newDesk(t, ways["reads only"])
	d.save("one\r\n")
	d.editor.edit(d.path, "one\n") // a buffer that stays as it is
	d.commit(d.plan(swap("one", "two")))
	d.wantDisk("two\r\n")
	c := d.plan(swap("two", "three"))
	d.editor.edit(d.path, "two\n") // it has noticed the first write
	d.commit(c)
	d.wantDisk("three\r\n")
	d.commit(d.plan(swap("three", "four")))
	d.wantDisk("four\r\n")

	d.editor.edit(d.path, "typed\n")
	if _, err := d.op.Plan(t.Context(), withPath(content("x"), d.path)); !errors.Is(err, fileop.ErrDirtyBuffer) {
		t.Errorf("error %v, want ErrDirtyBuffer for what is typed", err)
	}
	d.editor.edit(d.path, "one\n")
	d.save("by somebody else\n")
	if _, err := d.op.Plan(t.Context(), withPath(content("x"), d.path)); !errors.Is(err, fileop.ErrDirtyBuffer) {
		t.Errorf("error %v, want ErrDirtyBuffer when the disk is not as we left it", err)
	}
}

// TestConcurrentCommits plans many changes on one state: one of them wins, all
// others are stale.
func TestConcurrentCommits(t *testing.T) {
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, w)
			d.save("start\n")
			var changes []fileop.Change
			for i := range 16 {
				changes = append(changes, d.plan(content(strings.Repeat("x", i+1))))
			}
			var mu sync.Mutex
			var won []string
			var wg sync.WaitGroup
			for _, c := range changes {
				wg.Go(func() {
					_, err := d.op.Commit(t.Context(), c)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						won = append(won, c.After)
					case !errors.Is(err, fileop.ErrStale):
						t.Errorf("error %v, want ErrStale", err)
					}
				})
			}
			wg.Wait()
			if len(won) != 1 {
				t.Fatalf("%d commits won", len(won))
			}
			d.wantDisk(won[0])
		})
	}
}

// TestCommitWaitsItsTurn holds one commit in the middle: another one to the same file
// does not begin, one to another file does, and one that gives up leaves.
func TestCommitWaitsItsTurn(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.save("a\n")
	first, second, third := d.plan(content("first\n")), d.plan(content("second\n")), d.plan(content("third\n"))
	elsewhere, err := d.op.Plan(t.Context(), withPath(content("x"), "other"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int32
		release := make(chan struct{})
		d.editor.onRead = func() {
			if begun.Add(1) == 1 {
				<-release
			}
		}
		errs := map[string]error{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		start := func(ctx context.Context, name string, c fileop.Change) {
			wg.Go(func() {
				_, err := d.op.Commit(ctx, c)
				mu.Lock()
				defer mu.Unlock()
				errs[name] = err
			})
			synctest.Wait()
		}
		start(t.Context(), "first", first)
		start(t.Context(), "second", second)
		ctx, cancel := context.WithCancel(t.Context())
		start(ctx, "third", third)
		if n := begun.Load(); n != 1 {
			t.Errorf("%d commits to one file have begun", n)
		}
		start(t.Context(), "elsewhere", elsewhere)
		if begun.Load() == 1 {
			t.Error("a commit to another file waits too")
		}
		cancel()
		synctest.Wait()
		mu.Lock()
		if err := errs["third"]; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that gave up: %v", err)
		}
		mu.Unlock()
		close(release)
		wg.Wait()
		if errs["first"] != nil || errs["elsewhere"] != nil || !errors.Is(errs["second"], fileop.ErrStale) {
			t.Errorf("errors %v", errs)
		}
	})
	d.wantDisk("first\n")
}

// TestFaults lets each operation on disk and editor fail, before or after it did its
// work. The file is old or new, and what Commit says of it is true.
func TestFaults(t *testing.T) {
	injected := errors.New("injected")
	kinds := map[string]func(fileop.Store, int, error) *storetest.Fault{
		"before": storetest.FailBefore, "after": storetest.FailAfter,
	}
	for wayName, w := range ways {
		for kind, fail := range kinds {
			for _, which := range []string{"disk", "editor"} {
				for _, old := range []string{"old\r\n", "-"} {
					t.Run(strings.Join([]string{wayName, kind, which, old}, "/"), func(t *testing.T) {
						for n := 1; ; n++ {
							d := newDesk(t, w)
							if old != "-" {
								d.save(old)
							}
							disk, editor := storetest.FailBefore(d.disk, 0, nil), storetest.FailBefore(d.editor, 0, nil)
							broken := &disk
							if which == "editor" {
								broken = &editor
							}
							*broken = fail(*broken, n, injected)
							op := fileop.New(fileop.Options{
								Disk: disk, Editor: editor, EditorReads: w.reads, EditorWrites: w.writes, Roots: []string{d.root},
							})
							checkFault(t, d, op, old)
							if (*broken).Calls() < n {
								return // the fault lies behind the last operation
							}
						}
					})
				}
			}
		}
	}
}

func checkFault(t *testing.T, d *desk, op *fileop.Operator, old string) {
	t.Helper()
	c, err := op.Plan(t.Context(), withPath(content("new\n"), d.path))
	committed := false
	var r fileop.Result
	if err == nil {
		committed = true
		r, err = op.Commit(t.Context(), c)
	}
	want := "new\r\n"
	if old == "-" || c.Before == nil {
		want = "new\n"
	}
	got, readErr := d.disk.Read(t.Context(), d.path)
	now := string(got)
	if errors.Is(readErr, fs.ErrNotExist) {
		now = "-"
	}
	switch {
	case now != old && now != want:
		t.Errorf("the disk holds %q, neither old nor new", now)
	case now != old && !committed:
		t.Errorf("planning changed the disk")
	case err == nil && now != want:
		t.Errorf("committed without an error, but the disk holds %q", now)
	case errors.Is(err, fileop.ErrUnconfirmed) && (now != want || r.Actual != "new\n"):
		t.Errorf("unconfirmed, but the disk holds %q and the result is %+v", now, r)
	case err != nil && !errors.Is(err, fileop.ErrUnconfirmed) && now != old:
		t.Errorf("error %v, but the disk holds %q", err, now)
	}
}

// TestReadBackFails keeps a commit done when nothing can be read back.
func TestReadBackFails(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.save("a\n")
	c := d.plan(content("b\n"))
	reads := 0
	d.editor.onRead = func() {
		if reads++; reads == 2 {
			d.editor.refuses = errors.New("closed")
		}
	}
	r := d.commit(c)
	if r.ReadBack == nil || r.Actual != "b\n" || r.Adjusted {
		t.Errorf("result %+v", r)
	}
	d.wantDisk("b\n")
}

// TestCancelledWhileWriting ends the context before the editor answers: the caller
// hears that it ended, and that the file has changed all the same.
func TestCancelledWhileWriting(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.save("a\n")
	c := d.plan(content("b\n"))
	ctx, cancel := context.WithCancel(t.Context())
	d.editor.onWrite = func() error { cancel(); return ctx.Err() }
	r, err := d.op.Commit(ctx, c)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, fileop.ErrUnconfirmed) || errors.Is(err, fileop.ErrRefused) {
		t.Errorf("error %v, want context.Canceled and ErrUnconfirmed", err)
	}
	if r.Actual != "b\n" || r.Adjusted {
		t.Errorf("result %+v", r)
	}
	d.wantDisk("b\n")
}

// TestEditorForgets has an editor that says yes to a new file and has none then.
func TestEditorForgets(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.editor.drops = true
	if r := d.commit(d.plan(content("b\n"))); !errors.Is(r.ReadBack, fs.ErrNotExist) {
		t.Errorf("result %+v", r)
	}
}

// TestReadBackFromDisk has an editor that only reads and knows nothing of a new file
// yet: what was written on disk is read back there.
func TestReadBackFromDisk(t *testing.T) {
	d := newDesk(t, ways["reads only"])
	c := d.plan(content("b\n"))
	reads := 0
	d.editor.onRead = func() {
		if reads++; reads == 2 {
			d.editor.refuses = errors.New("no such file")
		}
	}
	if r := d.commit(c); r.ReadBack != nil || r.Actual != "b\n" {
		t.Errorf("result %+v", r)
	}
}

func TestCommitUnplanned(t *testing.T) {
	d := newDesk(t, ways["disk only"])
	if _, err := d.op.Commit(t.Context(), fileop.Change{Path: d.path, After: "x"}); err == nil {
		t.Error("a change that was not planned was committed")
	}
}

func withPath(e fileop.Edit, path string) fileop.Edit {
	e.Path = path
	return e
}

func ptr(s string) *string { return &s }
