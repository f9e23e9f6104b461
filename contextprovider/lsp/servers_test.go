package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/proc"
)

// ground is a workspace with Servers that use the fake one for its .fake files.
type ground struct {
	t       *testing.T
	servers *Servers
	dir     string
	mu      sync.Mutex
	texts   map[string]string // as the user sees them
	trusted bool
}

func newGround(t *testing.T, temper string, change func(*Options)) *ground {
	t.Helper()
	g := &ground{t: t, dir: t.TempDir(), texts: map[string]string{}, trusted: true}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Roots:   []string{g.dir},
		Trusted: func(string) bool { return g.trusted },
		Runner:  proc.NewRunner(proc.Options{}),
		Servers: []Server{{
			Name: "fake", Command: []string{self}, Extensions: []string{".fake"}, Settings: map[string]any{"x": 1},
			Environ: []string{"PLAY_SERVER=" + temper},
		}},
		Read: func(_ context.Context, path string) (string, error) {
			g.mu.Lock()
			defer g.mu.Unlock()
			text, ok := g.texts[path]
			if !ok {
				return "", fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
			}
			return text, nil
		},
		Scan: func(_ context.Context, root string, want func(string) bool, visit func(string, []byte)) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			for _, path := range slices.Sorted(maps.Keys(g.texts)) {
				if strings.HasPrefix(path, root) && want(path) {
					visit(path, []byte(g.texts[path]))
				}
			}
			return nil
		},
		Logger: slog.New(slog.DiscardHandler),
		// What a server says late counts here too: the machine may be busy.
		pace: pace{check: time.Minute, baseline: time.Minute, gather: time.Minute},
	}
	if temper == "late" {
		o.pace.settle = 2 * time.Second // its second message is waited for, however busy the machine is
	}
	if change != nil {
		change(&o)
	}
	g.servers = New(o)
	t.Cleanup(g.servers.Close)
	return g
}

func (g *ground) write(name, text string) string {
	path := filepath.Join(g.dir, name)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.texts[path] = text
	return path
}

// up has the server running and knowing the file.
func (g *ground) up(path string) {
	g.t.Helper()
	if _, err := g.servers.Symbols(g.t.Context(), path, ""); err != nil {
		g.t.Fatal(err)
	}
}

// brief says diagnostics in words.
func brief(all []contextprovider.Diagnostic) string {
	var out []string
	for _, d := range all {
		out = append(out, fmt.Sprintf("%d:%d %s %s/%s %s", d.Lines.First, d.Column, d.Severity, d.Source, d.Code, d.Message))
	}
	return strings.Join(out, "\n")
}

func TestNewProblems(t *testing.T) {
	const before = "def a\nBUG old\nuse a\n"
	const after = "def a\nnew line\nBUG old\nuse a\nBUG new\nBUG old\n"
	want := "5:1 error fake/7 bug in BUG new\n6:1 error fake/7 bug in BUG old"
	for _, temper := range []string{"good", "late", "ahead", "behind", "nameless", "asks", "huge", "junk"} {
		t.Run(temper, func(t *testing.T) {
			g := newGround(t, temper, nil)
			path := g.write("a.fake", before)
			g.up(path)
			text := before
			if diff := cmp.Diff(want, brief(g.servers.NewProblems(t.Context(), path, &text, after))); diff != "" {
				t.Error(diff)
			}
			// And what is mended is not told.
			text = after
			if got := g.servers.NewProblems(t.Context(), path, &text, "def a\n"); got != nil {
				t.Errorf("told %v", got)
			}
		})
	}

	t.Run("a new file", func(t *testing.T) {
		g := newGround(t, "good", nil)
		g.up(g.write("a.fake", "def a\n"))
		got := g.servers.NewProblems(t.Context(), filepath.Join(g.dir, "b.fake"), nil, "BUG\n")
		if brief(got) != "1:1 error fake/7 bug in BUG" {
			t.Errorf("%v", got)
		}
	})
	t.Run("a file that the server was not shown", func(t *testing.T) {
		g := newGround(t, "good", nil)
		g.up(g.write("a.fake", "def a\n"))
		text := "BUG old\n"
		got := g.servers.NewProblems(t.Context(), g.write("b.fake", "BUG old\nBUG new\n"), &text, "BUG old\nBUG new\n")
		if brief(got) != "2:1 error fake/7 bug in BUG new" {
			t.Errorf("%v", got)
		}
	})
	t.Run("a server that says nothing", func(t *testing.T) {
		g := newGround(t, "mute", func(o *Options) { o.pace.check, o.pace.baseline = 100*time.Millisecond, 50*time.Millisecond })
		path := g.write("a.fake", before)
		g.up(path)
		text := before
		if got := g.servers.NewProblems(t.Context(), path, &text, after); got != nil {
			t.Errorf("told %v", got)
		}
	})
	t.Run("a server that does not run is started for the next time", func(t *testing.T) {
		g := newGround(t, "good", nil)
		path := g.write("a.fake", before)
		text := before
		if got := g.servers.NewProblems(t.Context(), path, &text, after); got != nil {
			t.Errorf("told %v", got)
		}
		c, err := g.servers.forFile(t.Context(), path, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := c.findings.await(t.Context(), path, 1, 0); !ok {
			t.Fatal("it was not shown the file that it was started for")
		}
		if diff := cmp.Diff(want, brief(g.servers.NewProblems(t.Context(), path, &text, after))); diff != "" {
			t.Error(diff)
		}
	})
}

// A text that was read before an edit and arrives after it is not put over the edit.
func TestAnEditOvertakesReading(t *testing.T) {
	const before, after = "def a\n", "def a\nBUG\n"
	readers := map[string]func(g *ground, c *client, path string) error{
		"the warm-up": func(g *ground, c *client, path string) error {
			g.servers.warm(c, path)
			return nil
		},
		"a question about problems": func(g *ground, _ *client, path string) error {
			all, err := g.servers.Diagnostics(t.Context(), path)
			if err == nil && brief(all) != "2:1 error fake/7 bug in BUG" {
				err = fmt.Errorf("told %v", all)
			}
			return err
		},
		"a question about another file": func(g *ground, _ *client, _ string) error {
			_, err := g.servers.Diagnostics(t.Context(), g.write("other.fake", ""))
			return err
		},
		"a symbol that is described": func(g *ground, c *client, path string) error {
			g.servers.described(t.Context(), c, contextprovider.Symbol{Name: "a", Path: path, Line: 1})
			return nil
		},
	}
	for name, reader := range readers {
		t.Run(name, func(t *testing.T) {
			read, edited := make(chan struct{}), make(chan struct{})
			var armed atomic.Bool
			var once sync.Once
			g := newGround(t, "nameless", func(o *Options) {
				from := o.Read
				o.Read = func(ctx context.Context, path string) (string, error) {
					text, err := from(ctx, path)
					if armed.Load() && filepath.Base(path) == "a.fake" {
						once.Do(func() {
							close(read)
							<-edited
						})
					}
					return text, err
				}
			})
			path := g.write("a.fake", before)
			g.up(path)
			c, err := g.servers.forFile(t.Context(), path, true)
			if err != nil {
				t.Fatal(err)
			}
			g.servers.warm(c, path) // the one of its start may still be under way; it finds the file shown
			armed.Store(true)
			ended := make(chan error, 1)
			go func() { ended <- reader(g, c, path) }()
			<-read
			g.write("a.fake", after)
			text := before
			if got := brief(g.servers.NewProblems(t.Context(), path, &text, after)); got != "2:1 error fake/7 bug in BUG" {
				t.Errorf("told %q", got)
			}
			close(edited)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if !c.documents.holds(path, after) {
				t.Error("the server has the old text again")
			}
		})
	}
}

// What a server without versions has said of a text before an edit is not what it says of
// the text after it.
func TestProblemsOfAnEarlierText(t *testing.T) {
	const before, after = "def a\nBUG\n", "def a\nSLOW\n"
	g := newGround(t, "nameless", nil)
	path := g.write("a.fake", before)
	g.up(path)
	if all, err := g.servers.Diagnostics(t.Context(), path); err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	g.write("a.fake", after)
	text := before
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	g.servers.NewProblems(impatient, path, &text, after)
	answer := make(chan string, 1)
	go func() {
		all, err := g.servers.Diagnostics(t.Context(), path)
		answer <- fmt.Sprint(brief(all), err)
	}()
	g.up(path)
	if got := <-answer; got != "<nil>" {
		t.Errorf("told %s", got)
	}
}

func TestQuestions(t *testing.T) {
	g := newGround(t, "good", nil)
	const text = "def größe😀\ndef a\nuse größe😀 a\n  a BUG a\n"
	path := g.write("a.fake", text)
	ctx := t.Context()

	all, err := g.servers.Diagnostics(ctx, path)
	if err != nil || brief(all) != "4:5 error fake/7 bug in a BUG a" {
		t.Errorf("diagnostics %v %v", all, err)
	}
	found, err := g.servers.Definition(ctx, contextprovider.Place{Path: path, Line: 4, Symbol: "a"})
	want := contextprovider.Found{By: "fake", Symbols: []contextprovider.Symbol{{Name: "a", Path: path, Line: 2, Signature: "def a()", Doc: "It is a.", References: -1}}}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Errorf("definition %v\n%s", err, diff)
	}
	uses, err := g.servers.References(ctx, contextprovider.Place{Path: path, Line: 2, Symbol: "a"})
	if diff := cmp.Diff([]contextprovider.Reference{{Path: path, Line: 3, Column: 13}, {Path: path, Line: 4, Column: 3}, {Path: path, Line: 4, Column: 9}}, uses); diff != "" || err != nil {
		t.Errorf("references %v\n%s", err, diff)
	}
	for name, want := range map[string]int{"": 2, "a": 1, "nothing": 0} {
		if found, err := g.servers.Symbols(ctx, path, name); err != nil || len(found.Symbols) != want || found.By != "fake" {
			t.Errorf("symbols of the file %q: %v %v", name, found, err)
		}
	}
	if found, err := g.servers.Symbols(ctx, "", "größe😀"); err != nil || len(found.Symbols) != 1 || found.Symbols[0].Line != 1 {
		t.Errorf("symbols of the workspace: %v %v", found, err)
	}
	changes, err := g.servers.Rename(ctx, contextprovider.Place{Path: path, Symbol: "größ"}, "size")
	if err == nil {
		t.Errorf("a part of a name was renamed: %v", changes)
	}
	changes, err = g.servers.Rename(ctx, contextprovider.Place{Path: path, Line: 3, Symbol: "a"}, "ä")
	if diff := cmp.Diff([]contextprovider.Rewrite{{Path: path, Before: text, After: "def größe😀\ndef ä\nuse größe😀 ä\n  ä BUG ä\n"}}, changes); diff != "" || err != nil {
		t.Errorf("rename %v\n%s", err, diff)
	}
	// What the user has not saved counts.
	g.write("a.fake", "BUG unsaved\n")
	if all, err := g.servers.Diagnostics(ctx, path); err != nil || brief(all) != "1:1 error fake/7 bug in BUG unsaved" {
		t.Errorf("diagnostics %v %v", all, err)
	}
}

func TestNoServer(t *testing.T) {
	ask := func(g *ground, path string) error {
		_, err := g.servers.References(t.Context(), contextprovider.Place{Path: path, Symbol: "a"})
		return err
	}
	for _, tt := range []struct {
		name, temper, file string
		change             func(*Options)
		untrusted          bool
		want               string
	}{
		{name: "untrusted", temper: "good", file: "a.fake", untrusted: true, want: "is not trusted"},
		{name: "another language", temper: "good", file: "a.other", want: "none is known for other files"},
		{name: "outside", temper: "good", file: "../a.fake", want: "outside of the workspace"},
		{name: "not installed", temper: "good", file: "a.fake", change: func(o *Options) { o.Servers[0].Command = []string{"no-such-language-server"} }, want: "no-such-language-server is not installed"},
		{name: "refuses", temper: "refuse", file: "a.fake", want: "no licence: a complaint of the server"},
		{name: "garbage", temper: "garbage", file: "a.fake", want: "fake has ended"},
		{name: "no slot", temper: "good", file: "a.fake", change: func(o *Options) { o.Slots = NewSlots(1); o.Slots.take() }, want: "too many of them"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGround(t, tt.temper, tt.change)
			g.trusted = !tt.untrusted
			err := ask(g, g.write(tt.file, "def a\n"))
			if !errors.Is(err, contextprovider.ErrNoServer) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("closed", func(t *testing.T) {
		g := newGround(t, "good", nil)
		path := g.write("a.fake", "def a\n")
		g.up(path)
		g.servers.Close()
		if err := ask(g, path); !errors.Is(err, contextprovider.ErrNoServer) {
			t.Errorf("%v", err)
		}
	})
}

// TestCrashes: a server that falls is started again, later each time, and in the end no
// more.
func TestCrashes(t *testing.T) {
	var mu sync.Mutex
	now := time.Unix(1_000_000, 0)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	slots := NewSlots(1)
	g := newGround(t, "crash", func(o *Options) { o.pace.now, o.pace.backOff, o.Slots = clock, 10*time.Second, slots })
	path := g.write("a.fake", "def a\n")
	fall := func() {
		t.Helper()
		if _, err := g.servers.Symbols(t.Context(), path, ""); err == nil {
			t.Fatal("it answered")
		}
		// The fall is noticed a moment after the question has failed, and then its slot is free.
		slots.free <- struct{}{}
		slots.give()
	}
	starts := func() error {
		_, err := g.servers.forFile(t.Context(), path, true)
		return err
	}
	for _, rest := range []time.Duration{10 * time.Second, 20 * time.Second} {
		fall()
		mu.Lock()
		now = now.Add(rest - time.Second)
		mu.Unlock()
		if err := starts(); !errors.Is(err, contextprovider.ErrNoServer) || !strings.Contains(err.Error(), "fake ended by itself") {
			t.Fatalf("before its rest is over: %v", err)
		}
		mu.Lock()
		now = now.Add(2 * time.Second)
		mu.Unlock()
		if err := starts(); err != nil {
			t.Fatalf("after its rest: %v", err)
		}
	}
	fall()
	mu.Lock()
	now = now.Add(100 * time.Hour)
	mu.Unlock()
	if err := starts(); err == nil || !strings.Contains(err.Error(), "failed 3 times and is not started again") {
		t.Errorf("%v", err)
	}
	// What can be found without it still is.
	if found, err := g.servers.Symbols(t.Context(), "", "a"); err != nil || found.By != "" {
		t.Errorf("%v %v", found, err)
	}
}

func TestIdleServerEnds(t *testing.T) {
	g := newGround(t, "good", func(o *Options) { o.pace.idle = 20 * time.Millisecond })
	path := g.write("a.fake", "def a\n")
	c, err := g.servers.forFile(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	<-c.over
	<-c.service.Exited()
	if code := c.service.Complaint(); strings.Contains(code, "EOF") {
		t.Errorf("it was not asked to end: %s", code)
	}
	// And it starts again when it is needed. Here it may be ended again before it answers.
	for {
		if found, err := g.servers.Symbols(t.Context(), path, ""); err == nil && found.By == "fake" {
			break
		}
	}
}

// TestTrustTakenBack: a server ends soon after its workspace is not trusted any more, and
// is asked nothing meanwhile.
func TestTrustTakenBack(t *testing.T) {
	var trusted atomic.Bool
	trusted.Store(true)
	g := newGround(t, "good", func(o *Options) {
		o.pace.trust = 10 * time.Millisecond
		o.Trusted = func(string) bool { return trusted.Load() }
	})
	path := g.write("a.fake", "def a\n")
	c, err := g.servers.forFile(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	trusted.Store(false)
	if all := g.servers.running(); len(all) != 0 {
		t.Errorf("%d servers may still be asked", len(all))
	}
	<-c.service.Exited()
	if _, err := g.servers.forFile(t.Context(), path, true); !errors.Is(err, contextprovider.ErrNoServer) {
		t.Errorf("it is started again: %v", err)
	}
	trusted.Store(true)
	g.up(path)
}

// TestSessionEnds: nothing is left of a server, also of one that does not listen.
func TestSessionEnds(t *testing.T) {
	g := newGround(t, "hang", nil)
	c, err := g.servers.forFile(t.Context(), g.write("a.fake", "def a\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	g.servers.Close()
	select {
	case <-c.service.Exited():
	default:
		t.Error("it still runs")
	}
}

// TestHangingServer: one that lets several requests pass is killed.
func TestHangingServer(t *testing.T) {
	g := newGround(t, "hang", nil)
	path := g.write("a.fake", "def a\n")
	c, err := g.servers.forFile(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.servers.Symbols(ctx, path, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a question that was given up: %v", err)
	}
	if n := c.unanswered.Load(); n != 0 {
		t.Errorf("that counts as %d unanswered", n)
	}
	c.longest = time.Millisecond
	for range maxUnanswered {
		if _, err := g.servers.Symbols(t.Context(), path, ""); err == nil {
			t.Fatal("it answered")
		}
	}
	<-c.over
}
