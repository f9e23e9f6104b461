package fileop_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kimi-acp/fileop"
)

// justBefore lets somebody act between the Operator's last look at a file and the write.
type justBefore struct {
	*fileop.Disk
	act func()
}

func (s justBefore) Replace(ctx context.Context, path string, old [sha256.Size]byte, data []byte) error {
	s.act()
	return s.Disk.Replace(ctx, path, old, data)
}

// TestSavedJustBeforeTheWrite: what the user saves, makes or deletes after the last look
// at a file is not written over. The next try goes by what is there then.
func TestSavedJustBeforeTheWrite(t *testing.T) {
	for _, test := range []struct {
		name        string
		before, his string // "-": no file
	}{
		{"saves", "one\ntwo\n", "one\ntwo\nby the user\n"},
		{"saves the same size", "one\ntwo\n", "one\nTWO\n"},
		{"makes it", "-", "by the user\n"},
		{"deletes it", "one\ntwo\n", "-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, "file.txt")
			put := func(text string) {
				t.Helper()
				err := os.Remove(path)
				if text != "-" {
					err = os.WriteFile(path, []byte(text), 0o644)
				}
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
			put(test.before)
			j := openMemJournal(t)
			op := fileop.New(fileop.Options{
				Disk: justBefore{openDisk(t, root), func() { put(test.his) }}, Roots: []string{root}, Recorder: j,
			})
			e := content("by the agent\n")
			e.Path = path
			c, err := op.Plan(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			c = j.Propose(fileop.Cause{Turn: 1}, c)
			if _, err := op.Commit(t.Context(), c); !errors.Is(err, fileop.ErrStale) {
				t.Errorf("committed: %v", err)
			}
			got, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				got, err = []byte("-"), nil
			}
			if err != nil || string(got) != test.his {
				t.Errorf("the file holds %q, %v", got, err)
			}
			if a, err := j.Action(c.Action()); err != nil || a.State != fileop.StateStale {
				t.Errorf("it is %s, %v", a.State, err)
			}
			if left, _ := os.ReadDir(root); len(left) > 1 {
				t.Errorf("left behind: %v", left)
			}
			if undone, err := j.Undo(t.Context(), op, fileop.Which{All: true}); err != nil || len(undone) > 0 {
				t.Errorf("undone %v, %v", undone, err)
			}
		})
	}
}

// justBegun lets somebody act once the journal knows of a change.
type justBegun struct {
	*fileop.Journal
	act func()
}

func (r justBegun) Begin(c fileop.Change, before []byte) (func(fileop.Outcome), error) {
	end, err := r.Journal.Begin(c, before)
	r.act()
	return end, err
}

// TestSavedJustBeforeTheDeletion: what the user saves while a deletion is taken down is not
// deleted.
func TestSavedJustBeforeTheDeletion(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "file.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	his := "one\nTWO\n"
	j := openMemJournal(t)
	op := fileop.New(fileop.Options{Disk: openDisk(t, root), Roots: []string{root}, Recorder: justBegun{j, func() {
		if err := os.WriteFile(path, []byte(his), 0o644); err != nil {
			t.Error(err)
		}
	}}})
	c, err := op.Plan(t.Context(), fileop.Edit{Path: path, Delete: true})
	if err != nil {
		t.Fatal(err)
	}
	c = j.Propose(fileop.Cause{Turn: 1}, c)
	if _, err := op.Commit(t.Context(), c); !errors.Is(err, fileop.ErrStale) {
		t.Errorf("committed: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != his {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if a, err := j.Action(c.Action()); err != nil || a.State != fileop.StateStale {
		t.Errorf("it is %s, %v", a.State, err)
	}
	if left, _ := os.ReadDir(root); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestReplace holds Replace of both stores to its word.
func TestReplace(t *testing.T) {
	root := t.TempDir()
	for name, store := range map[string]interface {
		fileop.Store
		fileop.Replacer
	}{"disk": openDisk(t, root), "memory": fileop.NewMem(root)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(root, "a.txt")
			sum := func(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }
			for _, step := range []struct {
				old   [sha256.Size]byte
				data  string
				stale bool
				want  string
			}{
				{sum("a"), "x", true, "-"},
				{[sha256.Size]byte{}, "", false, ""},
				{[sha256.Size]byte{}, "x", true, ""},
				{sum(""), "a", false, "a"},
				{sum("b"), "x", true, "a"},
				{sum("a"), "b", false, "b"},
			} {
				err := store.Replace(t.Context(), path, step.old, []byte(step.data))
				if errors.Is(err, fileop.ErrStale) != step.stale || !step.stale && err != nil {
					t.Errorf("%q: %v", step.data, err)
				}
				got, err := store.Read(t.Context(), path)
				if errors.Is(err, os.ErrNotExist) {
					got, err = []byte("-"), nil
				}
				if err != nil || string(got) != step.want {
					t.Errorf("after %q it holds %q, %v, want %q", step.data, got, err, step.want)
				}
			}
		})
	}
}
