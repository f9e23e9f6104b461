package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kimi-acp/fileop"
)

// Fixture is a fresh Store and what the suite may expect of it.
type Fixture struct {
	Store fileop.Store
	Root  string // absolute path of the store's only root, empty

	TextOnly bool // holds UTF-8 text with LF; other bytes need not come back as they were
	NoRemove bool // Remove is errors.ErrUnsupported
	OnDisk   bool // Root is a folder on disk: links, pipes and leftovers are tested too
}

// Run puts a Store through the suite. The function is called for every test in it.
func Run(t *testing.T, fresh func(t *testing.T) Fixture) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, Fixture)
	}{
		{"contents", testContents},
		{"names", testNames},
		{"missing", testMissing},
		{"parents", testParents},
		{"outside", testOutside},
		{"unusable paths", testUnusablePaths},
		{"not regular", testNotRegular},
		{"own copy", testOwnCopy},
		{"remove", testRemove},
		{"ended context", testEndedContext},
		{"too large", testTooLarge},
		{"side by side", testSideBySide},
		{"links", testLinks},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := fresh(t)
			test.run(t, f)
			f.noLeftovers(t)
		})
	}
}

func testContents(t *testing.T, f Fixture) {
	texts := []string{"one\n", "", "no newline", "a longer text than before\n", "名前 🙂\n", strings.Repeat("line\n", 1<<18)}
	if !f.TextOnly {
		texts = append(texts, "\xef\xbb\xbfa\r\nb\r\n", "a\x00b", "\xff\xfe\x80", "a\rb\n\r\n")
	}
	path := f.at("file.txt")
	for _, text := range texts {
		f.write(t, path, text)
		f.want(t, path, text)
	}
}

func testNames(t *testing.T, f Fixture) {
	names := []string{"a b", "50% plan.md", "50%25", "名前.txt", "é", "-rf", "~", "~tilde", "#1?&=", "'q'", ".hidden", "🙂"}
	for _, name := range names {
		f.write(t, f.at(name), name)
	}
	for _, name := range names {
		f.want(t, f.at(name), name)
	}
}

func testMissing(t *testing.T, f Fixture) {
	for _, path := range []string{f.at("none"), f.at("no", "such", "folder")} {
		if _, err := f.Store.Read(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("reading %s: %v, want fs.ErrNotExist", path, err)
		}
	}
}

func testParents(t *testing.T, f Fixture) {
	path := f.at("a", "b c", "d", "file")
	f.write(t, path, "deep")
	f.want(t, path, "deep")
}

func testOutside(t *testing.T, f Fixture) {
	for _, path := range []string{
		f.Root + "-sibling",
		filepath.Join(f.Root+"-sibling", "file"),
		f.Root + "/../file",
		f.Root + "/a/../../file",
		filepath.Dir(f.Root),
		filepath.Join(filepath.Dir(f.Root), "file"),
	} {
		f.refused(t, path, fileop.ErrOutside)
	}
	f.write(t, f.Root+"/a/../inside", "x")
	f.want(t, f.at("inside"), "x")
}

func testUnusablePaths(t *testing.T, f Fixture) {
	for _, path := range []string{"", f.at("a\x00b"), f.at(strings.Repeat("long/", 2000))} {
		f.refused(t, path, fileop.ErrPath)
	}
}

func testNotRegular(t *testing.T, f Fixture) {
	f.write(t, f.at("dir", "file"), "kept")
	f.refused(t, f.Root, fileop.ErrNotRegular)
	f.refused(t, f.at("dir"), fileop.ErrNotRegular)
	below := f.at("dir", "file", "below")
	if err := f.Store.Write(t.Context(), below, []byte("x")); err == nil {
		t.Errorf("writing below a file gave no error")
	}
	if _, err := f.Store.Read(t.Context(), below); err == nil {
		t.Errorf("reading below a file gave no error")
	}
	f.want(t, f.at("dir", "file"), "kept")
}

func testOwnCopy(t *testing.T, f Fixture) {
	path, data := f.at("file"), []byte("text")
	if err := f.Store.Write(t.Context(), path, data); err != nil {
		t.Fatal(err)
	}
	data[0] = 'X'
	got, err := f.Store.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	got[1] = 'X'
	f.want(t, path, "text")
}

func testRemove(t *testing.T, f Fixture) {
	path := f.at("file")
	f.write(t, path, "x")
	if f.NoRemove {
		if err := f.Store.Remove(t.Context(), path); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("removing: %v, want errors.ErrUnsupported", err)
		}
		f.want(t, path, "x")
		return
	}
	if err := f.Store.Remove(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := f.Store.Read(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("reading a removed file: %v, want fs.ErrNotExist", err)
		}
		if err := f.Store.Remove(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("removing a removed file: %v, want fs.ErrNotExist", err)
		}
	}
	f.write(t, path, "again")
	f.want(t, path, "again")
}

func testEndedContext(t *testing.T, f Fixture) {
	path := f.at("file")
	f.write(t, path, "kept")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Store.Read(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("reading: %v, want context.Canceled", err)
	}
	if err := f.Store.Write(ctx, path, []byte("new")); !errors.Is(err, context.Canceled) {
		t.Errorf("writing: %v, want context.Canceled", err)
	}
	if err := f.Store.Remove(ctx, path); !errors.Is(err, context.Canceled) && !f.NoRemove {
		t.Errorf("removing: %v, want context.Canceled", err)
	}
	f.want(t, path, "kept")
}

func testTooLarge(t *testing.T, f Fixture) {
	path := f.at("file")
	f.write(t, path, "kept")
	err := f.Store.Write(t.Context(), path, bytes.Repeat([]byte("a"), fileop.MaxFile+1))
	if !errors.Is(err, fileop.ErrTooLarge) {
		t.Errorf("writing: %v, want ErrTooLarge", err)
	}
	f.want(t, path, "kept")
}

// testSideBySide has readers and writers of one file: each reader has to find one
// writer's text as a whole.
func testSideBySide(t *testing.T, f Fixture) {
	const size = 1 << 14
	path := f.at("new folder", "file")
	text := func(i int) string { return strings.Repeat(string(rune('a'+i)), size) }
	f.write(t, path, text(0))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := f.Store.Write(t.Context(), path, []byte(text(i))); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
			if err := f.Store.Write(t.Context(), f.at(fmt.Sprint("own ", i), "file"), []byte(text(i))); err != nil {
				t.Errorf("writer %d, own file: %v", i, err)
			}
		})
		wg.Go(func() {
			got, err := f.Store.Read(t.Context(), path)
			if err != nil {
				t.Errorf("reader: %v", err)
				return
			}
			if len(got) != size || string(got) != strings.Repeat(string(got[:1]), size) {
				t.Errorf("a reader found a mixture of %d bytes", len(got))
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		f.want(t, f.at(fmt.Sprint("own ", i), "file"), text(i))
	}
}

func testLinks(t *testing.T, f Fixture) {
	if !f.OnDisk {
		t.Skip("the store is not a folder on disk")
	}
	away := t.TempDir()
	if err := os.WriteFile(filepath.Join(away, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.write(t, f.at("dir", "target"), "old")
	links := map[string]string{
		"relative":        filepath.Join("dir", "target"),
		"absolute":        f.at("dir", "target"),
		"dangling inside": filepath.Join("dir", "made by link"),
		"folder":          "dir",
		"out":             filepath.Join(away, "secret"),
		"out folder":      away,
		"dangling out":    filepath.Join(away, "none"),
		"loop":            "loop",
	}
	for name, target := range links {
		if err := os.Symlink(target, f.at(name)); err != nil {
			t.Skipf("this system makes no links: %v", err)
		}
	}
	f.want(t, f.at("relative"), "old")
	f.want(t, f.at("folder", "target"), "old")
	for _, name := range []string{"relative", "absolute"} {
		f.write(t, f.at(name), "through "+name)
		f.want(t, f.at("dir", "target"), "through "+name)
		if got, err := os.Readlink(f.at(name)); err != nil || got != links[name] {
			t.Errorf("the link %s became %q, %v", name, got, err)
		}
	}
	f.write(t, f.at("dangling inside"), "new")
	f.want(t, f.at("dir", "made by link"), "new")

	for _, path := range []string{f.at("out"), f.at("out folder", "secret"), f.at("out folder", "new"), f.at("dangling out")} {
		f.refusedAccess(t, path, fileop.ErrOutside)
	}
	if _, err := f.Store.Read(t.Context(), f.at("loop")); err == nil {
		t.Errorf("a link to itself was read")
	}
	if got, _ := os.ReadDir(away); len(got) != 1 {
		t.Errorf("files came into a folder outside: %v", got)
	}
	if !f.NoRemove {
		if err := f.Store.Remove(t.Context(), f.at("out")); err != nil {
			t.Errorf("removing a link that leads outside: %v", err)
		}
		if _, err := os.Stat(filepath.Join(away, "secret")); err != nil {
			t.Errorf("removing a link touched its target: %v", err)
		}
	}
}

func (f Fixture) at(elem ...string) string {
	return filepath.Join(append([]string{f.Root}, elem...)...)
}

func (f Fixture) write(t *testing.T, path, text string) {
	t.Helper()
	if err := f.Store.Write(t.Context(), path, []byte(text)); err != nil {
		t.Fatalf("writing %s: %v", path, err)
	}
}

func (f Fixture) want(t *testing.T, path, text string) {
	t.Helper()
	got, err := f.Store.Read(t.Context(), path)
	if err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
	if string(got) != text {
		t.Fatalf("%s holds %s, want %s", path, shorten(string(got)), shorten(text))
	}
}

// refused expects every operation to fail with want.
func (f Fixture) refused(t *testing.T, path string, want error) {
	t.Helper()
	f.refusedAccess(t, path, want)
	if err := f.Store.Remove(t.Context(), path); !errors.Is(err, want) && !f.NoRemove {
		t.Errorf("removing %s: %v, want %v", shorten(path), err, want)
	}
}

func (f Fixture) refusedAccess(t *testing.T, path string, want error) {
	t.Helper()
	if _, err := f.Store.Read(t.Context(), path); !errors.Is(err, want) {
		t.Errorf("reading %s: %v, want %v", shorten(path), err, want)
	}
	if err := f.Store.Write(t.Context(), path, []byte("x")); !errors.Is(err, want) {
		t.Errorf("writing %s: %v, want %v", shorten(path), err, want)
	}
}

// noLeftovers expects no temporary file in the root.
func (f Fixture) noLeftovers(t *testing.T) {
	t.Helper()
	if !f.OnDisk {
		return
	}
	err := filepath.WalkDir(f.Root, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func shorten(s string) string {
	if len(s) <= 100 {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:100], len(s))
}
