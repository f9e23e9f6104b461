package fileop_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kimi-acp/fileop"
)

// typed are unsaved texts by path, nil for those that are not told.
type typed map[string]*string

func (t typed) Files() []string { return slices.Sorted(maps.Keys(t)) }

func (t typed) Text(path string) (*string, bool) {
	text, ok := t[path]
	return text, ok
}

// What the user has typed and not saved is what is read, and is never overwritten.
func TestUnsaved(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"a": "old\r\n", "saved": "same\n", "big": "disk\n", "binary": "text\n", "clean": "clean\n"} {
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) *string { return &s }
	disk, err := fileop.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	held := typed{
		at("a"): text("new\n"), at("saved"): text("same\n"), at("big"): nil, at("binary"): text("a\x00b"),
		at("fresh"): text("fresh\n"), at("empty"): text(""), filepath.Dir(dir) + "/outside": text("x"),
	}
	op := fileop.New(fileop.Options{Disk: disk, Roots: []string{dir}, Unsaved: held})
	for _, tt := range []struct {
		name, want string
		dirty      bool
		readErr    error
		planErr    error
	}{
		{name: "a", want: "new\n", dirty: true, planErr: fileop.ErrDirtyBuffer},
		{name: "saved", want: "same\n"},
		{name: "big", want: "disk\n", planErr: fileop.ErrDirtyBuffer},
		{name: "binary", readErr: fileop.ErrBinary, planErr: fileop.ErrBinary},
		{name: "clean", want: "clean\n"},
		{name: "fresh", want: "fresh\n", dirty: true, planErr: fileop.ErrDirtyBuffer},
		{name: "empty", readErr: fs.ErrNotExist},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := op.Read(t.Context(), tt.name)
			if !errors.Is(err, tt.readErr) || s.Text != tt.want || s.Dirty != tt.dirty {
				t.Errorf("read %q, dirty %v, %v", s.Text, s.Dirty, err)
			}
			if w, err := op.ReadWindow(t.Context(), tt.name, 1, 9); !errors.Is(err, tt.readErr) || w.Text != tt.want || w.Dirty != tt.dirty {
				t.Errorf("read by lines %q, dirty %v, %v", w.Text, w.Dirty, err)
			}
			change, err := op.Plan(t.Context(), fileop.Edit{Path: tt.name, Content: text("ours\n")})
			if !errors.Is(err, tt.planErr) {
				t.Fatalf("planned with %v, want %v", err, tt.planErr)
			}
			if err != nil {
				return
			}
			held[at(tt.name)] = text("typed since\n")
			if _, err := op.Commit(t.Context(), change); !errors.Is(err, fileop.ErrStale) {
				t.Errorf("committed over what was typed since: %v", err)
			}
			delete(held, at(tt.name))
			if _, err := op.Commit(t.Context(), change); err != nil {
				t.Error(err)
			}
		})
	}
	var known []string
	for _, k := range op.Known() {
		known = append(known, filepath.Base(k.Path))
	}
	if want := []string{"a", "big", "binary", "fresh"}; !slices.Equal(known, want) {
		t.Errorf("known are %v, want %v", known, want)
	}
}

// An editor that gives files is asked alone.
func TestUnsavedBesideAnEditorThatReads(t *testing.T) {
	disk := fileop.NewMem("/w")
	if err := disk.Write(t.Context(), "/w/a", []byte("disk\n")); err != nil {
		t.Fatal(err)
	}
	text := "another editor's\n"
	op := fileop.New(fileop.Options{
		Disk: disk, Editor: &editor{disk: disk}, EditorReads: true, Roots: []string{"/w"}, Unsaved: typed{"/w/a": &text},
	})
	if s, err := op.Read(t.Context(), "a"); err != nil || s.Text != "disk\n" || s.Dirty {
		t.Errorf("read %q, dirty %v, %v", s.Text, s.Dirty, err)
	}
}
