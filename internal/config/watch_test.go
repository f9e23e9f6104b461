package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// reading is what onChange was called with.
type reading struct {
	mode     string
	warnings []string
}

// open watches a house, and gives the changes.
func (h house) open(t *testing.T) (*Source, <-chan reading) {
	t.Helper()
	changes := make(chan reading, 10)
	s := Watch(t.Context(), h.getenv, Flags{}, func(c Config, w []Warning) {
		changes <- reading{c.DefaultMode, h.sentences(w)}
	})
	t.Cleanup(s.Close)
	return s, changes
}

func (h house) current(s *Source) reading {
	c, w := s.Current()
	return reading{c.DefaultMode, h.sentences(w)}
}

func mode(name string) string { return "default_mode = \"" + name + "\"\n" }

// await waits for the reading that an edit leads to; an edit that takes long may be read
// in between.
func await(t *testing.T, changes <-chan reading, want reading) {
	t.Helper()
	for got := range changes {
		if got.mode == want.mode && strings.Join(got.warnings, "\n") == strings.Join(want.warnings, "\n") {
			return
		}
	}
}

func TestWatchFollowsEdits(t *testing.T) {
	h := newHouse(t, map[string]string{own: mode("plan")}, nil)
	s, changes := h.open(t)
	diff(t, "at first", "plan", h.current(s).mode)

	h.write(t, own, mode("yolo"))
	await(t, changes, reading{mode: "yolo"})
	diff(t, "written", "yolo", h.current(s).mode)

	// As most editors do it: a new file takes the place of the old one.
	for _, name := range []string{"accept-edits", "plan"} {
		h.write(t, ".kimi/.acp.toml.swp", mode(name))
		if err := os.Rename(h.path(".kimi/.acp.toml.swp"), h.path(own)); err != nil {
			t.Fatal(err)
		}
		await(t, changes, reading{mode: name})
	}

	// What cannot be read keeps what it said before.
	h.write(t, own, mode("yolo")+"x =")
	broken := reading{"plan", []string{"~/.kimi/acp.toml:2:3: this is not valid TOML (expected value, not end of input); what it said before stays in force."}}
	await(t, changes, broken)
	diff(t, "while it is broken", broken.warnings, h.current(s).warnings)
	h.write(t, own, mode("yolo"))
	await(t, changes, reading{mode: "yolo"})

	if err := os.Remove(h.path(own)); err != nil {
		t.Fatal(err)
	}
	await(t, changes, reading{})
	h.write(t, kimiCLI, "[nothing]")
	await(t, changes, reading{"", []string{"~/.kimi/config.toml:1: unknown key nothing; it is not used."}})
}

// The folders may come later, go, and come again.
func TestWatchWaitsForFolders(t *testing.T) {
	h := newHouse(t, nil, nil)
	h.env["KIMI_SHARE_DIR"] = h.path("far/away")
	const file = "far/away/acp.toml"
	_, changes := h.open(t)
	for _, name := range []string{"plan", "yolo"} {
		h.write(t, file, mode(name))
		await(t, changes, reading{mode: name})
		if err := os.RemoveAll(h.path("far")); err != nil {
			t.Fatal(err)
		}
		await(t, changes, reading{})
	}
}

// People keep their settings elsewhere and link to them.
func TestWatchFollowsLinks(t *testing.T) {
	h := newHouse(t, map[string]string{"dotfiles/acp": mode("plan"), kimiCLI: ""}, nil)
	if err := os.Symlink(h.path("dotfiles/acp"), h.path(own)); err != nil {
		t.Skip("no links here:", err)
	}
	_, changes := h.open(t)
	h.write(t, "dotfiles/acp", mode("yolo"))
	await(t, changes, reading{mode: "yolo"})
}

func TestFoldersWatchesNoMoreThanItMust(t *testing.T) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	h := newHouse(t, nil, nil)
	f := &folders{watcher: w}
	file := h.path("a/b/file")
	watched := func() []string {
		if !f.watch([]string{file}) {
			t.Fatal("not all is watched")
		}
		return w.WatchList()
	}
	diff(t, "before there is a folder", []string{h.dir}, watched())
	if err := os.MkdirAll(h.path("a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	diff(t, "with it", []string{h.path("a/b")}, watched())
	for name, want := range map[string]bool{"file": true, ".file.swp": false, "file~": false, "4913": false} {
		if got := f.concerns(filepath.Join(h.path("a/b"), name)); got != want {
			t.Errorf("%s concerns: %v", name, got)
		}
	}
	if !f.concerns(h.path("a/b")) {
		t.Error("the end of the folder does not concern")
	}
}

// Without a watch the files are looked at when somebody asks.
func TestSourceWithoutWatch(t *testing.T) {
	h := newHouse(t, map[string]string{own: mode("plan")}, nil)
	changes := make(chan string)
	s := watch(t.Context(), newLoader(h.getenv, Flags{}), func(c Config, _ []Warning) { changes <- c.DefaultMode }, nil)
	defer s.Close()
	diff(t, "at first", "plan", h.current(s).mode)
	h.write(t, own, mode("accept-edits")) // of another size, should the clock be coarse
	diff(t, "changed", "accept-edits", h.current(s).mode)
	diff(t, "told", "accept-edits", <-changes)
	h.write(t, own, mode("yolo"))
	s.Close()
	diff(t, "closed", "accept-edits", h.current(s).mode)
}

// Many events make one reading, once they have settled; what never settles is read all
// the same, and what makes no difference is not told.
func TestEventsAreTakenTogether(t *testing.T) {
	h := newHouse(t, map[string]string{own: mode("plan")}, nil)
	synctest.Test(t, func(t *testing.T) {
		var reads, told atomic.Int32
		getenv := func(name string) string {
			if name == "KIMI_DEBUG" { // asked once for each reading
				reads.Add(1)
			}
			return h.getenv(name)
		}
		s := &Source{loader: newLoader(getenv, Flags{}), read: make(chan struct{}, 1)}
		s.refresh()
		ctx, stop := context.WithCancel(t.Context())
		lost := make(chan error)
		s.running.Go(func() { s.run(ctx, nil, lost, func() { told.Add(1) }) })
		for range 5 {
			lost <- errors.New("overflow")
		}
		step(settleTime - 1)
		if reads.Load() != 1 {
			t.Errorf("read before it settled: %d", reads.Load())
		}
		step(1)
		if reads.Load() != 2 || told.Load() != 1 {
			t.Errorf("%d readings, told %d", reads.Load(), told.Load())
		}
		for range 30 {
			lost <- errors.New("overflow")
			step(settleTime / 2)
		}
		if reads.Load() != 3 { // after one second; the rest has not settled
			t.Errorf("%d readings of an edit without an end", reads.Load())
		}
		stop()
		s.running.Wait()
	})
}

// step lets time pass in a bubble of synctest.
func step(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
