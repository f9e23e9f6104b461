package fileop_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kimi-acp/fileop"
)

// eachContents runs a test on each kind of content store.
func eachContents(t *testing.T, l fileop.ContentLimits, test func(*testing.T, fileop.Contents)) {
	t.Run("memory", func(t *testing.T) { test(t, fileop.NewMemContents(l)) })
	t.Run("disk", func(t *testing.T) { test(t, openContents(t, filepath.Join(t.TempDir(), "a", "contents"), l)) })
}

func openContents(t *testing.T, dir string, l fileop.ContentLimits) *fileop.ContentStore {
	t.Helper()
	s, err := fileop.OpenContents(dir, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func putContents(t *testing.T, c fileop.Contents, text string) fileop.ContentID {
	t.Helper()
	id, err := c.Put([]byte(text), true)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func wantContents(t *testing.T, c fileop.Contents, id fileop.ContentID, text string) {
	t.Helper()
	if got, err := c.Get(id); err != nil || string(got) != text {
		t.Errorf("got %q, %v, want %q", got, err, text)
	}
}

func wantLost(t *testing.T, c fileop.Contents, id fileop.ContentID) {
	t.Helper()
	if got, err := c.Get(id); !errors.Is(err, fileop.ErrContentLost) {
		t.Errorf("got %q, %v, want ErrContentLost", got, err)
	}
}

func TestContents(t *testing.T) {
	eachContents(t, fileop.ContentLimits{}, func(t *testing.T, c fileop.Contents) {
		for _, text := range []string{"", "a\n", "\ufeffa\r\n", "a\x00b", strings.Repeat("long ", 1<<18)} {
			id := putContents(t, c, text)
			if again := putContents(t, c, text); again != id {
				t.Errorf("put twice as %s and %s", id, again)
			}
			wantContents(t, c, id, text)
		}
		const empty fileop.ContentID = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		wantContents(t, c, empty, "")
		for _, id := range []fileop.ContentID{"", "..", "../x", "zz", empty[:63], empty[:63] + "A", "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"} {
			wantLost(t, c, id)
		}
		data := []byte("own copy")
		id, err := c.Put(data, false)
		if err != nil {
			t.Fatal(err)
		}
		data[0] = 'X'
		got, err := c.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		got[1] = 'X'
		wantContents(t, c, id, "own copy")
	})
}

// TestContentsBounds gives up what was put longest ago, and nothing of this turn.
func TestContentsBounds(t *testing.T) {
	for _, l := range []fileop.ContentLimits{{Bytes: 30}, {Files: 3}} {
		eachContents(t, l, func(t *testing.T, c fileop.Contents) {
			text := func(n int) string { return fmt.Sprintf("contents %d", n) } // of 10 bytes
			a, b := putContents(t, c, text(1)), putContents(t, c, text(2))
			c.Release()
			d := putContents(t, c, text(3))
			putContents(t, c, text(1)) // newer than the second by now
			e := putContents(t, c, text(4))
			wantLost(t, c, b)
			if _, err := c.Put([]byte(text(5)), false); !errors.Is(err, fileop.ErrContentsFull) {
				t.Errorf("a fourth of this turn: %v", err)
			}
			for n, id := range map[int]fileop.ContentID{1: a, 3: d, 4: e} {
				wantContents(t, c, id, text(n))
			}
			c.Release()
			putContents(t, c, text(6))
			wantLost(t, c, d)
		})
	}
	eachContents(t, fileop.ContentLimits{Bytes: 10}, func(t *testing.T, c fileop.Contents) {
		kept := putContents(t, c, "kept")
		c.Release()
		if _, err := c.Put(make([]byte, 11), false); !errors.Is(err, fileop.ErrContentsFull) {
			t.Errorf("what can never fit: %v", err)
		}
		wantContents(t, c, kept, "kept")
	})
}

func TestContentsSideBySide(t *testing.T) {
	eachContents(t, fileop.ContentLimits{Files: 5}, func(t *testing.T, c fileop.Contents) {
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				for i := range 20 {
					c.Release()
					text := fmt.Sprint(n, " ", i%4)
					id, err := c.Put([]byte(text), i%2 == 0)
					if errors.Is(err, fileop.ErrContentsFull) {
						continue
					}
					if err != nil {
						t.Error(err)
					}
					if got, err := c.Get(id); err == nil && string(got) != text {
						t.Errorf("got %q, want %q", got, text)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestContentStoreReopened has a store find what an earlier one kept, oldest first,
// and clear what a crash left.
func TestContentStoreReopened(t *testing.T) {
	dir := t.TempDir()
	first, err := fileop.OpenContents(dir, fileop.ContentLimits{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]fileop.ContentID{}
	for i, text := range []string{"newest", "oldest", "middle"} {
		ids[text] = putContents(t, first, text)
		at := time.Unix(1000-int64([]int{0, 20, 10}[i]), 0)
		if err := os.Chtimes(filepath.Join(dir, string(ids[text])), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".new-X", "readme"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := openContents(t, dir, fileop.ContentLimits{Files: 3})
	putContents(t, s, "one more")
	wantLost(t, s, ids["oldest"])
	wantContents(t, s, ids["middle"], "middle")
	if _, err := os.Stat(filepath.Join(dir, ".new-X")); err == nil {
		t.Error("what a crash left is still there")
	}
	if _, err := os.Stat(filepath.Join(dir, "readme")); err != nil {
		t.Error("another file was removed")
	}
	smaller := openContents(t, dir, fileop.ContentLimits{Files: 1})
	wantLost(t, smaller, ids["middle"])
}

// TestContentStoreDamaged does not give out bytes that are not those that were kept,
// and keeps them anew when they are put again.
func TestContentStoreDamaged(t *testing.T) {
	dir := t.TempDir()
	s := openContents(t, dir, fileop.ContentLimits{})
	for name, damage := range map[string]func(path string) error{
		"changed":   func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
		"cut off":   func(path string) error { return os.Truncate(path, 0) },
		"removed":   os.Remove,
		"a folder":  func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"exchanged": func(path string) error { return errors.Join(os.Remove(path), os.Symlink("/dev/null", path)) },
	} {
		t.Run(name, func(t *testing.T) {
			id := putContents(t, s, "text"+name)
			path := filepath.Join(dir, string(id))
			if err := damage(path); err != nil {
				t.Skip(err)
			}
			wantLost(t, s, id)
			if name == "a folder" {
				return // nothing can be put in its place
			}
			putContents(t, s, "text"+name)
			wantContents(t, s, id, "text"+name)
		})
	}
}

func TestContentStoreIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "contents")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := openContents(t, dir, fileop.ContentLimits{})
	id := putContents(t, s, "secret")
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, string(id)): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want && os.PathSeparator == '/' {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if _, err := fileop.OpenContents(link, fileop.ContentLimits{}); !errors.Is(err, fileop.ErrNotRegular) {
		t.Errorf("through a link: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fileop.OpenContents(file, fileop.ContentLimits{}); err == nil {
		t.Error("a file was opened as a folder")
	}
}
