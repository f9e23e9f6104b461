package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kimi-acp/acp"
	"kimi-acp/contextprovider"
	gitprovider "kimi-acp/contextprovider/git"
	"kimi-acp/fileop"
	"kimi-acp/internal/config"
)

// BenchmarkContext measures what a prompt waits for its context in a large repository,
// 4,000 folders and 100,000 files, beside `git status` in the same run. Run it with
// -benchtime 1x: it takes its own medians.
func BenchmarkContext(b *testing.B) {
	b.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	dir := largeTree(b)
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "All")
	active := filepath.Join(dir, "d07", "e007", "file07.go")
	open := func(folders bool) *contextprovider.Moment {
		disk, err := fileop.OpenDisk(dir)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { disk.Close() })
		spec := acp.MomentSpec{Roots: []string{dir}, Files: fileop.New(fileop.Options{Disk: disk, Roots: []string{dir}}), Disk: disk, Readable: func(string) bool { return true }, Trusted: func() bool { return true }}
		if !folders {
			// A tree that cannot be walked is one that is too large to be watched.
			spec.Files = fileop.New(fileop.Options{Disk: unwalkable{disk}, Roots: []string{dir}})
		}
		o := momentOptions(spec, config.Config{}, gitprovider.NewWatches(allWatches), nil, slog.New(slog.DiscardHandler))
		o.Deadline = time.Minute // how long it takes is what is measured
		m, err := contextprovider.NewMoment(o)
		if err != nil {
			b.Fatal(err)
		}
		m.Editor(func(e *contextprovider.EditorState) {
			e.Active, e.Cursor, e.Seen = active, &contextprovider.Position{Line: 3, Column: 5}, time.Now()
		})
		return m
	}
	part := func(m *contextprovider.Moment) (time.Duration, string) {
		began := time.Now()
		text := m.Part(context.Background(), "what is this?", nil, nil)
		return time.Since(began), text
	}
	status := func() time.Duration {
		began := time.Now()
		git("status", "--porcelain=v2")
		return time.Since(began)
	}
	status() // what is measured is not the first one
	for range b.N {
		before := heap()
		m := open(true)
		untilTold(m, part)
		// Watched once nothing but memory is asked.
		usual := status()
		for quick, tries := 0, 0; quick < 5 && tries < 200; tries++ {
			took, _ := part(m)
			quick++
			if took > usual/4 {
				quick = 0
			}
			time.Sleep(50 * time.Millisecond)
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB-held")
		b.ReportMetric(float64(watchesHeld()), "watches")
		b.ReportMetric(ms(median(51, func() time.Duration { took, _ := part(m); return took })), "ms/warm")
		n := 0
		b.ReportMetric(ms(median(9, func() time.Duration {
			n++
			if err := os.WriteFile(active, fmt.Appendf(nil, "package p\n\nvar changed = %d\n", n), 0o644); err != nil {
				b.Fatal(err)
			}
			for range 100 { // until the system has told of it
				time.Sleep(100 * time.Millisecond)
				took, text := part(m)
				if strings.Contains(text, fmt.Sprintf("+var changed = %d", n)) {
					return took
				}
			}
			b.Fatal("the change is not told")
			return 0
		})), "ms/after-a-change")
		m.Close()

		// Beside git itself, one after the other, so that what else the machine does
		// weighs on both.
		beside(b, "cold", status, func() time.Duration {
			m := open(true)
			defer m.Close()
			return untilTold(m, part)
		})
		m = open(false)
		untilTold(m, part)
		beside(b, "not-watched", status, func() time.Duration { return untilTold(m, part) })
		m.Close()
	}
}

// largeTree makes a folder with 4,000 folders, itself among them, and 100,000 files, in
// memory where the system has a place for that.
func largeTree(b *testing.B) string {
	const (
		outer   = 60
		inner   = 4000 - 1 - outer
		files   = 100_000
		inner25 = 26*inner - files // folders of 25 files; the others have 26
	)
	dir := b.TempDir()
	if memory, err := os.MkdirTemp("/dev/shm", "kimi-acp-bench-"); err == nil {
		b.Cleanup(func() { os.RemoveAll(memory) })
		dir = memory
	}
	for i := range inner {
		sub := filepath.Join(dir, fmt.Sprintf("d%02d", i%outer), fmt.Sprintf("e%03d", i/outer))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			b.Fatal(err)
		}
		each := 26
		if i < inner25 {
			each = 25
		}
		for n := range each {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%02d.go", n)), fmt.Appendf(nil, "package p\n\nvar x%d = 1\n", n), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return dir
}

// beside reports how long something takes, and how much longer than git's status.
func beside(b *testing.B, name string, status, what func() time.Duration) {
	const rounds = 7
	took, usual, over := make([]time.Duration, rounds), make([]time.Duration, rounds), make([]time.Duration, rounds)
	for i := range rounds {
		before := status()
		took[i] = what()
		usual[i] = (before + status()) / 2
		over[i] = took[i] - usual[i]
	}
	b.ReportMetric(ms(middle(took)), "ms/"+name)
	b.ReportMetric(ms(middle(usual)), "ms/git-status-beside-"+name)
	b.ReportMetric(ms(middle(over)), "ms/"+name+"-over-git-status")
	b.ReportMetric(float64(middle(took))/float64(middle(usual)), "times-git-status/"+name)
}

// untilTold is how long it takes until git is told.
func untilTold(m *contextprovider.Moment, part func(*contextprovider.Moment) (time.Duration, string)) time.Duration {
	took, text := part(m)
	for !strings.Contains(text, "<git>") || len(m.Last().Missed) > 0 {
		var more time.Duration
		more, text = part(m)
		took += more
	}
	return took
}

// unwalkable is a store without folders.
type unwalkable struct{ fileop.Store }

func median(n int, f func() time.Duration) time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = f()
	}
	return middle(all)
}

func middle(all []time.Duration) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// watchesHeld counts the watches that the process has with the system, where that tells.
func watchesHeld() (n int) {
	files, _ := filepath.Glob("/proc/self/fdinfo/*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			n += strings.Count(string(text), "inotify wd:")
		}
	}
	return n
}
