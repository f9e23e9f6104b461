package fileop

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestOpenFolder holds both ways to reach what is in a folder to the same rules.
func TestOpenFolder(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"w/sub", "w/empty", "away"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"w/sub/f", "w/g", "away/secret"} {
		if err := os.WriteFile(filepath.Join(base, file), []byte("text of "+file), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(base, "away"), filepath.Join(base, "w", "out")); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	if err := os.Symlink(filepath.Join(base, "away", "secret"), filepath.Join(base, "w", "file")); err != nil {
		t.Fatal(err)
	}
	ways := map[string]func(*os.Root) (openFolder, error){
		"os.Root": func(r *os.Root) (openFolder, error) {
			sub, err := r.OpenRoot(".")
			return rootFolder{sub}, err
		},
		"here": func(r *os.Root) (openFolder, error) { return openIn(r, ".", filepath.Join(base, "w")) },
	}
	for name, open := range ways {
		t.Run(name, func(t *testing.T) {
			root, err := os.OpenRoot(filepath.Join(base, "w"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = root.Close() }()
			opened, err := open(root)
			if err != nil {
				t.Fatal(err)
			}
			w := share(opened)
			defer w.release()

			entries, err := w.list(100)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name()+" "+e.Type().String())
			}
			slices.Sort(names)
			want := []string{"empty d---------", "file L---------", "g ----------", "out L---------", "sub d---------"}
			if !slices.Equal(names, want) {
				t.Errorf("listed %q, want %q", names, want)
			}
			if some, err := w.list(2); err != nil || len(some) != 2 {
				t.Errorf("a bounded list: %v, %v", some, err)
			}
			empty, err := w.folder("empty")
			if err != nil {
				t.Fatal(err)
			}
			if none, err := empty.list(2); err != nil || len(none) != 0 {
				t.Errorf("an empty folder: %v, %v", none, err)
			}
			empty.close()

			for _, bad := range []string{"out", "g", "none"} {
				if f, err := w.folder(bad); err == nil {
					f.close()
					t.Errorf("%s was opened as a folder", bad)
				}
			}
			if _, err := w.read(t.Context(), "file", 100, nil); err == nil {
				t.Error("a link that leads outside was read")
			}
			if _, err := w.read(t.Context(), "none", 100, nil); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a missing file: %v", err)
			}
			if _, err := w.read(t.Context(), "sub", 100, nil); !errors.Is(err, ErrNotRegular) {
				t.Errorf("a folder read as a file: %v", err)
			}
			for _, buf := range [][]byte{nil, make([]byte, 3), make([]byte, 11), make([]byte, 100)} {
				data, err := w.read(t.Context(), "g", 11, buf)
				if err != nil || string(data) != "text of w/g" {
					t.Errorf("read %q, %v", data, err)
				}
			}
			if _, err := w.read(t.Context(), "g", 10, nil); !errors.Is(err, ErrTooLarge) {
				t.Errorf("a file over the limit: %v", err)
			}
		})
	}
}
