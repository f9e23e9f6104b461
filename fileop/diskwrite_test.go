package fileop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var errInjected = errors.New("injected")

// writes are the situations in which a write has different steps.
var writes = []struct {
	name  string
	path  string
	old   string // "-": a new file
	steps []step
}{
	{"existing", "file", "old", []step{stepCreate, stepWrite, stepMode, stepSync, stepClose, stepRename}},
	{"new", "new", "-", []step{stepCreate, stepWrite, stepSync, stepClose, stepRename}},
	{"new folders", "a/b/new", "-", []step{stepParent, stepParent, stepCreate, stepWrite, stepSync, stepClose, stepRename}},
}

// TestWriteFails lets each step of a write fail: the folder is as it was.
func TestWriteFails(t *testing.T) {
	for _, w := range writes {
		for n := range w.steps {
			t.Run(w.name+"/"+string(w.steps[n]), func(t *testing.T) {
				d, root := diskWith(t, w.path, w.old)
				before := tree(t, root)
				seen := 0
				d.before = func(step) error {
					if seen++; seen == n+1 {
						return errInjected
					}
					return nil
				}
				err := d.Write(t.Context(), filepath.Join(root, w.path), []byte("new"))
				if !errors.Is(err, errInjected) {
					t.Fatalf("error %v, want the injected one", err)
				}
				if after := tree(t, root); !slices.Equal(after, before) {
					t.Errorf("the folder holds %q, want %q", after, before)
				}
			})
		}
	}
}

// TestWriteCancelled ends the context at each step: nothing changes.
func TestWriteCancelled(t *testing.T) {
	for _, w := range writes {
		for n := range w.steps {
			t.Run(w.name+"/"+string(w.steps[n]), func(t *testing.T) {
				d, root := diskWith(t, w.path, w.old)
				before := tree(t, root)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var seen []step
				d.before = func(s step) error {
					if seen = append(seen, s); len(seen) == n+1 {
						cancel()
					}
					return nil
				}
				err := d.Write(ctx, filepath.Join(root, w.path), []byte("new"))
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("error %v, want context.Canceled", err)
				}
				if !slices.Equal(seen, w.steps) {
					t.Errorf("steps %q, want %q", seen, w.steps)
				}
				if after := tree(t, root); !slices.Equal(after, before) {
					t.Errorf("the folder holds %q, want %q", after, before)
				}
			})
		}
	}
}

// TestWriteRace exchanges the target's folder for a link that leads outside, at each
// step of a write. Nothing may come into the folder outside.
func TestWriteRace(t *testing.T) {
	steps := writes[0].steps
	for n, at := range steps {
		t.Run(string(at), func(t *testing.T) {
			d, root := diskWith(t, "dir/file", "old")
			away := t.TempDir()
			if err := os.WriteFile(filepath.Join(away, "file"), []byte("kept"), 0o644); err != nil {
				t.Fatal(err)
			}
			seen := 0
			d.before = func(step) error {
				if seen++; seen != n+1 {
					return nil
				}
				if err := os.Rename(filepath.Join(root, "dir"), filepath.Join(root, "moved")); err != nil {
					return err
				}
				return os.Symlink(away, filepath.Join(root, "dir"))
			}
			err := d.Write(t.Context(), filepath.Join(root, "dir", "file"), []byte("new"))
			if !errors.Is(err, ErrOutside) {
				t.Errorf("error %v, want ErrOutside", err)
			}
			if got := tree(t, away); !slices.Equal(got, []string{"file=kept"}) {
				t.Errorf("the folder outside holds %q", got)
			}
			if got := read(t, filepath.Join(root, "moved", "file")); got != "old" {
				t.Errorf("the file holds %q, want the old text", got)
			}
		})
	}
}

// TestWriteRaceInside exchanges the target's folder for a link to another folder of
// the root, or for another folder. What was approved is the one, so the other keeps
// its file.
func TestWriteRaceInside(t *testing.T) {
	for n, at := range writes[0].steps {
		for _, link := range []bool{true, false} {
			t.Run(fmt.Sprint(at, " link ", link), func(t *testing.T) {
				d, root := diskWith(t, "dir/file", "old")
				other := filepath.Join(root, "other")
				if err := errors.Join(os.Mkdir(other, 0o755), os.WriteFile(filepath.Join(other, "file"), []byte("kept"), 0o644)); err != nil {
					t.Fatal(err)
				}
				seen := 0
				d.before = func(step) error {
					if seen++; seen != n+1 {
						return nil
					}
					if err := os.Rename(filepath.Join(root, "dir"), filepath.Join(root, "moved")); err != nil {
						return err
					}
					if link {
						return os.Symlink("other", filepath.Join(root, "dir"))
					}
					return os.Rename(other, filepath.Join(root, "dir"))
				}
				err := d.Write(t.Context(), filepath.Join(root, "dir", "file"), []byte("new"))
				opened := link || at != stepCreate // before that, another folder is just the folder
				if opened && !errors.Is(err, ErrStale) {
					t.Errorf("error %v, want ErrStale", err)
				}
				if got := read(t, filepath.Join(root, "dir", "file")); opened && got != "kept" {
					t.Errorf("the other file holds %q", got)
				}
				if got := read(t, filepath.Join(root, "moved", "file")); got != "old" {
					t.Errorf("the file holds %q, want the old text", got)
				}
			})
		}
	}
}

// TestWriteOntoExchangedTarget puts a link in the target's place: the link is
// replaced, what it leads to is not touched.
func TestWriteOntoExchangedTarget(t *testing.T) {
	d, root := diskWith(t, "file", "old")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.before = func(s step) error {
		if s != stepRename {
			return nil
		}
		return errors.Join(os.Remove(filepath.Join(root, "file")), os.Symlink(secret, filepath.Join(root, "file")))
	}
	if err := d.Write(t.Context(), filepath.Join(root, "file"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, secret); got != "kept" {
		t.Errorf("the link's target holds %q", got)
	}
	if got := read(t, filepath.Join(root, "file")); got != "new" {
		t.Errorf("the file holds %q", got)
	}
}

// TestTakeBackKeepsOthers has another file come into a folder that a failing write
// made: the folder stays.
func TestTakeBackKeepsOthers(t *testing.T) {
	d, root := diskWith(t, "file", "old")
	other := filepath.Join(root, "a", "other")
	d.before = func(s step) error {
		if s != stepRename {
			return nil
		}
		return errors.Join(os.WriteFile(other, []byte("theirs"), 0o644), errInjected)
	}
	err := d.Write(t.Context(), filepath.Join(root, "a", "b", "new"), []byte("new"))
	if !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
	want := []string{"a/", "a/other=theirs", "file=old"}
	if got := tree(t, root); !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// diskWith opens a disk with one file, or none when old is "-".
func diskWith(t *testing.T, path, old string) (*Disk, string) {
	t.Helper()
	root := t.TempDir()
	if old != "-" {
		full := filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(old), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenDisk(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, root
}

// tree lists a folder: directories as "name/", files as "name=content".
func tree(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, root), string(filepath.Separator)))
		switch {
		case err != nil || name == "":
		case e.IsDir():
			out = append(out, name+"/")
		default:
			out = append(out, name+"="+read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
