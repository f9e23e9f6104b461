package fileop

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// systemFaults are what operating systems say when a call fails.
var systemFaults = map[string]error{
	"no space":    &fs.PathError{Op: "write", Path: "file", Err: syscall.ENOSPC},
	"bad disk":    &fs.PathError{Op: "sync", Path: "file", Err: syscall.EIO},
	"no right":    &fs.PathError{Op: "open", Path: "file", Err: syscall.EACCES},
	"no rename":   &os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EXDEV},
	"short write": io.ErrShortWrite,
}

// TestMoveFails lets each step of a move on disk fail: the folder is as it was.
func TestMoveFails(t *testing.T) {
	for _, to := range []string{"new", "a/b/new"} {
		for name, fault := range systemFaults {
			t.Run(to+"/"+name, func(t *testing.T) {
				for n := 1; ; n++ {
					d, root := diskWith(t, "file", "old")
					before, seen := tree(t, root), 0
					d.before = func(step) error {
						if seen++; seen == n {
							return fault
						}
						return nil
					}
					err := d.Move(t.Context(), filepath.Join(root, "file"), filepath.Join(root, to))
					if seen < n {
						if err != nil || slices.Contains(tree(t, root), "file=old") || !slices.Contains(tree(t, root), to+"=old") {
							t.Errorf("without a fault: %v, the folder holds %q", err, tree(t, root))
						}
						return
					}
					if !errors.Is(err, fault) {
						t.Errorf("step %d: error %v, want the injected one", n, err)
					}
					if after := tree(t, root); !slices.Equal(after, before) {
						t.Errorf("step %d: the folder holds %q, want %q", n, after, before)
					}
				}
			})
		}
	}
}

const faultyPatch = `*** Begin Patch
*** Update File: edit
-old
+new
*** Add File: a/b/made
+new
*** Update File: from
*** Move to: c/to
-old
+new
*** Update File: stays
*** Move to: c/moved
*** Delete File: gone
*** End Patch
`

// TestPatchWithFaults lets each step of a patch of several files fail on the disk. Each
// file is old or new, moved ones are in one place, nothing else lies about, and undoing
// gives the user's bytes.
func TestPatchWithFaults(t *testing.T) {
	// For each file of the patch what stands before and after it.
	files := [][2]string{
		{"edit=old", "edit=new"},
		{"", "a/b/made=new"},
		{"from=old", "c/to=new"},
		{"stays=old", "c/moved=old"},
		{"gone=old", ""},
	}
	old := []string{"edit=old", "from=old", "gone=old", "stays=old"}
	names := slices.Sorted(maps.Keys(systemFaults))
	for n := 1; ; n++ {
		d, root := diskWith(t, "edit", "old\n")
		for _, file := range []string{"from", "stays", "gone"} {
			if err := os.WriteFile(filepath.Join(root, file), []byte("old\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		seen := 0
		d.before = func(step) error {
			if seen++; seen == n {
				return systemFaults[names[n%len(names)]]
			}
			return nil
		}
		j, o := patchAll(t, d, root)
		last := seen < n
		text, known := filesOf(t, root), []string{}
		for _, f := range files {
			was, is := f[0] == "" || text[f[0]], f[1] == "" || text[f[1]]
			switch {
			case f[0] != "" && f[1] != "" && was == is:
				t.Errorf("step %d: of %q the folder holds %v", n, f, text)
			case last && (!is || f[0] != "" && text[f[0]]):
				t.Errorf("without a fault %q is not done: %v", f, text)
			}
			known = append(known, f[0], f[1])
		}
		for file := range text {
			if !slices.Contains(known, file) {
				t.Errorf("step %d: there is %q", n, file)
			}
		}
		d.before = nil
		if _, err := j.Undo(t.Context(), o, Which{All: true}); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(filesOf(t, root))); !slices.Equal(got, old) {
			t.Errorf("step %d: undone to %q, want %q", n, got, old)
		}
		if last {
			return
		}
	}
}

// patchAll plans and writes faultyPatch file by file, up to the first that fails.
func patchAll(t *testing.T, d *Disk, root string) (*Journal, *Operator) {
	t.Helper()
	j, err := OpenJournal(JournalOptions{File: io.Discard, Contents: NewMemContents(ContentLimits{})})
	if err != nil {
		t.Fatal(err)
	}
	o := New(Options{Disk: d, Roots: []string{root}, Recorder: j})
	edits, err := ParsePatch(faultyPatch)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		e.Path = filepath.Join(root, e.Path)
		if e.MoveTo != "" {
			e.MoveTo = filepath.Join(root, e.MoveTo)
		}
		c, err := o.Plan(t.Context(), e)
		if err == nil {
			c = j.Propose(Cause{Turn: 1}, c)
			_, err = o.Commit(t.Context(), c)
		}
		if err != nil {
			return j, o
		}
	}
	return j, o
}

// filesOf lists the files of a folder as "name=text", without the line's end.
func filesOf(t *testing.T, root string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, entry := range tree(t, root) {
		if !strings.HasSuffix(entry, "/") {
			all[strings.TrimSuffix(entry, "\n")] = true
		}
	}
	return all
}
