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
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/fileop"
)

func TestWalk(t *testing.T) {
	base := t.TempDir()
	writeTree(t, base, map[string]string{
		"w/b/x": "", "w/b/y/z": "", "w/b.txt": "", "w/a": "", "w/B": "", "w/.hidden": "", "w/名": "", "w/c/.gitignore": "x\n", "w/c/x": "", "w/c/y": "",
		"w/.git/HEAD": "", "w/c/.hg/h": "", "w/c/.svn": "", "away/secret": "", "w2/f": "", "w/inner/f": "",
	})
	at := func(elem ...string) string { return filepath.Join(append([]string{base}, elem...)...) }
	if err := os.Mkdir(at("w", "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"w/out": at("away"), "w/in": "b", "w/loop": ".", "w/up": ".."} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Skipf("this system makes no links: %v", err)
		}
	}
	d := openDisk(t, at("w"), at("w2"), at("w", "inner"), at("w2"))
	for _, test := range []struct {
		name, path string
		options    fileop.WalkOptions
		want       string
	}{
		{"everything", "", fileop.WalkOptions{}, "w/.hidden w/B w/a w/b w/b/x w/b/y w/b/y/z w/b.txt w/c w/c/.gitignore w/c/y w/empty w/in w/inner w/inner/f w/loop w/out w/up w/名 w2/f"},
		{"a folder", "c", fileop.WalkOptions{}, "w/c/.gitignore w/c/y"},
		{"with what is ignored", "c", fileop.WalkOptions{IncludeIgnored: true}, "w/c/.gitignore w/c/x w/c/y"},
		{"one level", at("w", "b"), fileop.WalkOptions{MaxDepth: 1}, "w/b/x w/b/y"},
		{"not into a folder", "", fileop.WalkOptions{Enter: func(e fileop.Entry) bool { return e.Rel == "b" }}, "w/.hidden w/B w/a w/b w/b/x w/b/y w/b.txt w/c w/empty w/in w/inner w/loop w/out w/up w/名 w2/f"},
		{"a file", "b.txt", fileop.WalkOptions{}, "w/b.txt"},
		{"an ignored file that is named", "c/x", fileop.WalkOptions{}, "w/c/x"},
		{"an empty folder", "empty", fileop.WalkOptions{}, ""},
		{"through a link", "in/y", fileop.WalkOptions{}, "w/b/y/z"},
		{"the limit", "b", fileop.WalkOptions{MaxEntries: 2}, "w/b/x w/b/y error:too many files"},
		{"just within the limit", "b", fileop.WalkOptions{MaxEntries: 3}, "w/b/x w/b/y w/b/y/z"},
		{"what is ignored counts too", "c", fileop.WalkOptions{MaxEntries: 1}, "w/c/.gitignore error:too many files"},
		{"outside", "out", fileop.WalkOptions{}, "error:outside the workspace"},
		{"outside by name", at("away"), fileop.WalkOptions{}, "error:outside the workspace"},
		{"nothing there", "none/x", fileop.WalkOptions{}, "error:not exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 { // the order is always the same
				var got []string
				for e, err := range d.Walk(t.Context(), test.path, test.options) {
					switch {
					case errors.Is(err, fileop.ErrWalkLimit):
						got = append(got, "error:too many files")
					case errors.Is(err, fileop.ErrOutside):
						got = append(got, "error:outside the workspace")
					case errors.Is(err, fs.ErrNotExist):
						got = append(got, "error:not exist")
					case err != nil:
						t.Fatal(err)
					default:
						rel, err := filepath.Rel(base, e.Path)
						if err != nil {
							t.Fatal(err)
						}
						got = append(got, filepath.ToSlash(rel))
					}
				}
				if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestWalkEntries(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{"d/f": "", "d/e/g": ""})
	d := openDisk(t, root)
	var got []string
	for e, err := range d.Walk(t.Context(), "d", fileop.WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		kind := "file"
		if e.IsDir() {
			kind = "folder"
		}
		got = append(got, e.Rel+" "+kind)
	}
	if diff := cmp.Diff([]string{"e folder", "e/g file", "f file"}, got); diff != "" {
		t.Error(diff)
	}
	for e := range d.Walk(t.Context(), filepath.Join(root, "d", "f"), fileop.WalkOptions{}) {
		if e.Rel != "." || e.Path != filepath.Join(root, "d", "f") {
			t.Errorf("a file: %+v", e)
		}
	}
}

func TestWalkEnds(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{"a": "", "b/c": "", "d": ""})
	d := openDisk(t, root)
	seen := 0
	for range d.Walk(t.Context(), "", fileop.WalkOptions{}) {
		if seen++; seen == 2 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var errs []error
	for _, err := range d.Walk(ctx, "", fileop.WalkOptions{}) {
		if err != nil {
			errs = append(errs, err)
		}
		cancel()
	}
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("errors after the end of the context: %v", errs)
	}
}

// TestWalkGoesOnAfterErrors: a folder that vanishes while the walk is under way is
// one error, and the rest is given.
func TestWalkGoesOnAfterErrors(t *testing.T) {
	root := t.TempDir()
	writeTree(t, root, map[string]string{"a": "", "b/c": "", "d": ""})
	d := openDisk(t, root)
	var got []string
	for e, err := range d.Walk(t.Context(), "", fileop.WalkOptions{}) {
		if err != nil {
			got = append(got, "error at "+e.Rel)
			continue
		}
		got = append(got, e.Rel)
		if e.Rel == "b" {
			if err := os.RemoveAll(e.Path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "error at b", "d"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestWalkDoesNotFollowExchangedFolders: a folder that becomes a link while it is
// walked does not lead outside.
func TestWalkDoesNotFollowExchangedFolders(t *testing.T) {
	base := t.TempDir()
	writeTree(t, base, map[string]string{"w/b/c": "", "away/secret": ""})
	d := openDisk(t, filepath.Join(base, "w"))
	for e := range d.Walk(t.Context(), "", fileop.WalkOptions{}) {
		if e.Rel == "b" {
			if err := os.RemoveAll(e.Path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(base, "away"), e.Path); err != nil {
				t.Skipf("this system makes no links: %v", err)
			}
		}
		if strings.Contains(e.Path, "secret") {
			t.Errorf("%s was given", e.Path)
		}
	}
}

func TestScan(t *testing.T) {
	root := t.TempDir()
	big := strings.Repeat("x", 100_000)
	writeTree(t, root, map[string]string{"a": "1", "b/c": "22", "b/d": "", "e": big, "f": "skip", "g/h": "3", ".gitignore": "i\n", "i": "no"})
	d := openDisk(t, root)
	for _, workers := range []int{0, 1, 4} {
		var mu sync.Mutex
		got := map[int]string{}
		var wanted []string
		err := d.Scan(t.Context(), "", fileop.ScanOptions{
			Workers: workers,
			MaxFile: 99_999,
			Want: func(e fileop.Entry) bool {
				wanted = append(wanted, e.Rel)
				return e.Rel != "f"
			},
			Visit: func(n int, e fileop.Entry, data []byte, err error) {
				text := e.Rel + "=" + string(data)
				if errors.Is(err, fileop.ErrTooLarge) {
					text = e.Rel + " is too large"
				} else if err != nil {
					text = err.Error()
				}
				mu.Lock()
				defer mu.Unlock()
				got[n] = text
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]string{0: ".gitignore=i\n", 1: "a=1", 2: "b/c=22", 3: "b/d=", 4: "e is too large", 5: "g/h=3"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d workers: %s", workers, diff)
		}
		if !slices.Equal(wanted, []string{".gitignore", "a", "b/c", "b/d", "e", "f", "g/h"}) {
			t.Errorf("asked for %q", wanted)
		}
	}
}

func TestScanEnds(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{}
	for i := range 300 {
		files[filepath.Join(string(rune('a'+i%7)), strings.Repeat("x", 1+i/7))] = "text"
	}
	writeTree(t, root, files)
	d := openDisk(t, root)
	all := func(fileop.Entry) bool { return true }

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := d.Scan(ctx, "", fileop.ScanOptions{Workers: 3, Want: all, Visit: func(int, fileop.Entry, []byte, error) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
	err = d.Scan(t.Context(), "none", fileop.ScanOptions{Want: all, Visit: func(int, fileop.Entry, []byte, error) { t.Error("a visit to nothing") }})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	err = d.Scan(t.Context(), "", fileop.ScanOptions{WalkOptions: fileop.WalkOptions{MaxEntries: 9}, Want: all, Visit: func(int, fileop.Entry, []byte, error) {}})
	if !errors.Is(err, fileop.ErrWalkLimit) {
		t.Errorf("at the limit: %v", err)
	}
	func() {
		defer func() {
			if p := recover(); p != "odd" {
				t.Errorf("a panic came out as %v", p)
			}
		}()
		_ = d.Scan(t.Context(), "", fileop.ScanOptions{Workers: 2, Want: all, Visit: func(int, fileop.Entry, []byte, error) { panic("odd") }})
		t.Error("a panic was swallowed")
	}()
	op := fileop.New(fileop.Options{Disk: fileop.NewMem(root), Roots: []string{root}})
	if err := op.Scan(t.Context(), "", fileop.ScanOptions{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a store without folders: %v", err)
	}
	for _, err := range op.Walk(t.Context(), "", fileop.WalkOptions{}) {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a store without folders: %v", err)
		}
	}
}
