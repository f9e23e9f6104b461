package fileop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// endless is a file that goes on while it is read.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadBounded(t *testing.T) {
	grown := strings.Repeat("grown while it was read ", 1000)
	got, err := readBounded(t.Context(), strings.NewReader(grown), "f", 3)
	if err != nil || string(got) != grown {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(grown))
	}
	var size *SizeError
	if _, err := readBounded(t.Context(), endless{}, "f", 3); !errors.As(err, &size) || size.Path != "f" {
		t.Errorf("an endless file: %v", err)
	}
	if _, err := readBounded(t.Context(), iotest.ErrReader(syscall.EIO), "f", 3); !errors.Is(err, syscall.EIO) {
		t.Errorf("a failing disk: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	r := readerFunc(func(p []byte) (int, error) {
		if reads++; reads == 2 {
			cancel()
		}
		return min(1, len(p)), nil
	})
	if _, err := readBounded(ctx, r, "f", 10); !errors.Is(err, context.Canceled) || reads != 2 {
		t.Errorf("a cancelled read: %v after %d reads", err, reads)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

var _ io.Reader = readerFunc(nil)

func TestBehindIsBounded(t *testing.T) {
	var b behindBuffers
	for i := range 2 * maxBehind {
		b.note(fmt.Sprint(i), digest{}, "old", []byte("new"))
	}
	if len(b.files) != maxBehind {
		t.Errorf("%d files, want %d", len(b.files), maxBehind)
	}
	last := fmt.Sprint(2*maxBehind - 1)
	before := digestOf([]byte("new"))
	for i := range 2 * maxBehindTexts {
		after := []byte(fmt.Sprint("text ", i))
		b.note(last, before, fmt.Sprint("shown ", i), after)
		before = digestOf(after)
	}
	if n := len(b.files[last].replaced); n != maxBehindTexts {
		t.Errorf("%d texts, want %d", n, maxBehindTexts)
	}
	if b.has(last, before, "shown 0") || !b.has(last, before, fmt.Sprint("shown ", 2*maxBehindTexts-1)) {
		t.Error("the oldest texts have to be forgotten first")
	}
	b.note(last, digest{1}, "theirs", []byte("newest"))
	if n := len(b.files[last].replaced); n != 1 {
		t.Errorf("%d texts after somebody else wrote, want 1", n)
	}
}

// TestLocksAreForgotten leaves no lock behind once nobody uses it.
func TestLocksAreForgotten(t *testing.T) {
	var l pathLocks
	unlock, err := l.lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.lock(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if len(l.paths) != 1 {
		t.Errorf("%d locks while one is held", len(l.paths))
	}
	unlock()
	if len(l.paths) != 0 {
		t.Errorf("%d locks after the last one left", len(l.paths))
	}
}

// TestDeepestRoot gives a path to the root that is nearest above it.
func TestDeepestRoot(t *testing.T) {
	outer := t.TempDir()
	inner := filepath.Join(outer, "inner")
	f := newFolders([]string{outer, inner, filepath.Join(outer, "inner sibling")})
	for path, want := range map[string]int{outer: 0, filepath.Join(outer, "a"): 0, inner: 1, filepath.Join(inner, "a", "b"): 1} {
		p, err := f.locate(path)
		if err != nil || p.root != want {
			t.Errorf("%s: root %d, %v, want %d", path, p.root, err, want)
		}
	}
}

// TestLongDiffIsOneRegion bounds the work on texts that share nothing at their ends.
func TestLongDiffIsOneRegion(t *testing.T) {
	a := make([]string, maxAnchored+3)
	b := make([]string, 3)
	for i := range a {
		a[i] = "same\n"
	}
	a[0], a[len(a)-1] = "first\n", "last\n"
	b[0], b[1], b[2] = "x\n", "same\n", "y\n"
	got := diffLines(a, b)
	if want := (region{0, len(a), 0, 3}); len(got) != 1 || got[0] != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
