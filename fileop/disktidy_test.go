package fileop

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kimi-acp/internal/filelock"
)

// What a killed program left beside a file goes with the next write there, and by Tidy;
// what is in use or of somebody else stays.
func TestTidy(t *testing.T) {
	for name, act := range map[string]func(t *testing.T, d *Disk, path string){
		"with a write": func(t *testing.T, d *Disk, path string) {
			if err := d.Write(t.Context(), path, []byte("new")); err != nil {
				t.Fatal(err)
			}
		},
		"by itself": func(t *testing.T, d *Disk, path string) { d.Tidy(t.Context(), path) },
	} {
		t.Run(name, func(t *testing.T) {
			d, root := diskWith(t, "sub/file", "old")
			dir := filepath.Join(root, "sub")
			old := time.Now().Add(-time.Hour)
			stray := func(name string, age time.Time) string {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, age, age); err != nil {
					t.Fatal(err)
				}
				return path
			}
			left := stray(tempName(), old)
			young := stray(tempName(), time.Now())
			held := stray(tempName(), old)
			f, err := os.OpenFile(held, os.O_RDWR, 0)
			if err == nil {
				err = filelock.Try(f)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			theirs := []string{".kimi-acp-notes.tmp", ".kimi-acp-.tmp", "x" + tempName(), tempName() + "x", ".kimi-acp-" + "abcdefghijklmnopqrstuvwxyz" + ".tmp"}
			for _, name := range theirs {
				stray(name, old)
			}
			folder := filepath.Join(dir, tempName())
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			act(t, d, filepath.Join(dir, "file"))
			want := []string{"file", filepath.Base(young), filepath.Base(held), filepath.Base(folder)}
			want = append(want, theirs...)
			slices.Sort(want)
			entries, err := os.ReadDir(dir)
			var got []string
			for _, e := range entries {
				got = append(got, e.Name())
			}
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("left are %q, %v; want %q (and not %s)", got, err, want, filepath.Base(left))
			}
			// What was too young or held is looked at again.
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(young, old, old); err != nil {
				t.Fatal(err)
			}
			act(t, d, filepath.Join(dir, "file"))
			for _, path := range []string{young, held} {
				if _, err := os.Stat(path); !os.IsNotExist(err) {
					t.Errorf("%s is still there, %v", path, err)
				}
			}
		})
	}
}
