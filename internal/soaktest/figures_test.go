//go:build soak

package soaktest

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// figures are what a process is measured by.
type figures struct {
	resident   []int // KiB, between turns
	goroutines int
}

var residentSize = regexp.MustCompile(`VmRSS:\s*(\d+) kB`)

// sample takes down the memory of a process.
func (f *figures) sample(t *testing.T, pid int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	found := residentSize.FindSubmatch(status)
	if found == nil {
		t.Fatalf("no size in %s", status)
	}
	kib, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	f.resident = append(f.resident, kib)
}

// median is of the samples of memory, in MiB.
func (f *figures) median() float64 {
	return float64(slices.Sorted(slices.Values(f.resident))[len(f.resident)/2]) / 1024
}

// dump ends the program by having it print its goroutines, and counts them.
func (s *soak) dump() int {
	s.t.Helper()
	if err := syscall.Kill(s.client.PID(), syscall.SIGQUIT); err != nil {
		s.t.Fatal(err)
	}
	<-s.client.Ended()
	s.client.Kill() // what ended by our hand need not end well
	s.client.Close()
	s.killed++
	n := strings.Count("\n"+s.client.Stderr(), "\ngoroutine ")
	if n == 0 {
		s.t.Errorf("no goroutines in what the program left: %.200s", s.client.Stderr())
	}
	return n
}

// A process may grow by this much in the middle of the soak. A connection that is kept
// open for the next model call has two goroutines, and there may be one more or less.
const (
	grown           = 1.2
	grownGoroutines = 4
)

func (s *soak) report(begin time.Time, early, late figures) {
	if s.t.Failed() {
		return
	}
	if late.median() > grown*early.median() {
		s.t.Errorf("memory grew from %.1f to %.1f MiB", early.median(), late.median())
	}
	if late.goroutines > early.goroutines+grownGoroutines {
		s.t.Errorf("goroutines grew from %d to %d", early.goroutines, late.goroutines)
	}
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	faults := 0
	for _, n := range s.model.faults {
		faults += n
	}
	s.t.Logf("%d turns in %v: %d answered, %d ended with an error that had to be one, %d kills, %d model calls, %d faults, %d compactions by a model; memory %.1f MiB at turn %d and %.1f MiB at turn %d, goroutines %d and %d",
		*turns, time.Since(begin).Round(time.Second), len(s.answered), s.failed, s.killed, s.model.calls, faults, s.model.sums,
		early.median(), *turns/10, late.median(), *turns*3/4, early.goroutines, late.goroutines)
	for _, group := range slices.Sorted(maps.Keys(s.model.faults)) {
		s.t.Logf("%s: %d", group, s.model.faults[group])
	}
}
