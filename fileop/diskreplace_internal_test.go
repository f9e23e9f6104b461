package fileop

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestReplaceWithoutExchange does without what some systems cannot do.
func TestReplaceWithoutExchange(t *testing.T) {
	root := t.TempDir()
	d, err := OpenDisk(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	d.before = func(s step) error {
		if s == stepExchange {
			return errNoExchange
		}
		return nil
	}
	path := filepath.Join(root, "a.txt")
	for _, step := range []struct {
		old   digest
		data  string
		stale bool
		want  string
	}{
		{digest{}, "a", false, "a"},
		{digest{}, "x", true, "a"},
		{digestOf([]byte("b")), "x", true, "a"},
		{digestOf([]byte("a")), "b", false, "b"},
	} {
		err := d.Replace(t.Context(), path, step.old, []byte(step.data))
		if errors.Is(err, ErrStale) != step.stale || !step.stale && err != nil {
			t.Errorf("%q: %v", step.data, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != step.want {
			t.Errorf("after %q it holds %q, %v", step.data, got, err)
		}
	}
	if left, err := os.ReadDir(root); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
