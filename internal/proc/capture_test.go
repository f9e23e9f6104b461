package proc

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWindow(t *testing.T) {
	tests := []struct {
		name      string
		half      int
		writes    []string
		want      string
		truncated bool
	}{
		{"empty", 4, nil, "", false},
		{"fits", 4, []string{"abc", "def", "gh"}, "abcdefgh", false},
		{"one too many", 4, []string{"abcdefghi"}, "abcd\n[1 bytes of output left out]\nfghi", true},
		{"head ends a line", 4, []string{"abc\n", "defghi"}, "abc\n[2 bytes of output left out]\nfghi", true},
		{"between runes", 4, []string{"abc€€€xyz"}, "abc\n[9 bytes of output left out]\nxyz", true},
		{"no room", 0, []string{"abc"}, "[3 bytes of output left out]\n", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &window{half: tt.half}
			for _, p := range tt.writes {
				w.write([]byte(p))
			}
			if got, truncated := w.text(); got != tt.want || truncated != tt.truncated {
				t.Errorf("got %q, %v; want %q, %v", got, truncated, tt.want, tt.truncated)
			}
		})
	}
}

// Whatever is written in whatever pieces, the window holds the beginning and the end.
func TestWindowKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &window{half: rapid.IntRange(0, 40).Draw(t, "half")}
		var all string
		for _, p := range rapid.SliceOf(rapid.StringN(0, 20, -1)).Draw(t, "writes") {
			before, _ := w.text()
			shown, _ := w.with([]byte(p)).text()
			if after, _ := w.text(); after != before {
				t.Fatalf("with changed the window from %q to %q", before, after)
			}
			w.write([]byte(p))
			if after, _ := w.text(); after != shown {
				t.Fatalf("with gave %q, write %q", shown, after)
			}
			all += p
		}
		got, truncated := w.text()
		if !truncated {
			if got != all {
				t.Fatalf("got %q, want %q", got, all)
			}
			return
		}
		if len(all) <= w.half {
			t.Fatalf("%d bytes were cut to %d", len(all), 2*w.half)
		}
		tail := string(lastRunes(w.tail, w.half))
		if !strings.HasPrefix(all, string(w.head)) || !strings.HasSuffix(all, tail) {
			t.Fatalf("%q is not the beginning and end of %q", got, all)
		}
		if len(w.head) > w.half || len(tail) > w.half || cap(w.tail) > 8*(w.half+80) {
			t.Fatalf("kept %d and %d bytes, %d in memory", len(w.head), len(tail), cap(w.tail))
		}
		if !utf8.ValidString(got) {
			t.Fatalf("%q is no text", got)
		}
	})
}

func TestCaptureShowsTheUnfinishedLine(t *testing.T) {
	c := newCapture(100)
	_, _ = c.Write([]byte("one\n50%"))
	if got, _ := c.snapshot(); got != "one\n50%" {
		t.Errorf("got %q", got)
	}
	_, _ = c.Write([]byte("\r60%\xe2"))
	if got, _ := c.snapshot(); got != "one\n60%" {
		t.Errorf("got %q", got)
	}
	if got, _ := c.finish(); got != "one\n60%\uFFFD" {
		t.Errorf("got %q", got)
	}
	if c.written() != 12 {
		t.Errorf("%d bytes", c.written())
	}
}

func TestSnapshotsAreAtMostTenASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCapture(1000)
		var seen []string
		var at []time.Time
		stop := watch(func(s string) {
			seen = append(seen, s)
			at = append(at, time.Now())
		}, c)
		for range 100 { // a second of output
			_, _ = c.Write([]byte("x"))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Minute) // and silence
		stop()
		if len(seen) < 10 || len(seen) > 11 {
			t.Errorf("%d snapshots in a second", len(seen))
		}
		for i := 1; i < len(at); i++ {
			if d := at[i].Sub(at[i-1]); d < snapshotEvery {
				t.Errorf("snapshots %v apart", d)
			}
		}
		if last := seen[len(seen)-1]; last != strings.Repeat("x", 100) {
			t.Errorf("the last snapshot was %q", last)
		}
	})
}

// The command must not wait for a reader of its output that is slow.
func TestSlowSnapshotDoesNotHoldTheWriter(t *testing.T) {
	c := newCapture(100)
	entered, release := make(chan struct{}), make(chan struct{})
	stop := watch(func(string) {
		entered <- struct{}{}
		<-release
	}, c)
	_, _ = c.Write([]byte("a"))
	<-entered
	for range 1000 {
		_, _ = c.Write([]byte("b"))
	}
	go close(release)
	stop()
	if c.written() != 1001 {
		t.Errorf("%d bytes", c.written())
	}
}
