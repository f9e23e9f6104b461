//go:build linux

package session

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The kernel refuses the Nth write or sync of the history, for every N of a few
// steps: what was acknowledged is there, what was torn is found, and the session
// goes on.
func TestInjectedFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts some dozens of processes")
	}
	strace, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(strace, "-o", os.DevNull, "true").Run() // it may be forbidden here
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\n!! NOT TESTED: %s: strace cannot be used: %v\n\n", t.Name(), err)
		t.Skipf("strace cannot be used: %v", err)
	}
	faults := []struct {
		inject string
		silent bool // the program is told that all went well
	}{
		{"write:error=ENOSPC", false},
		{"write:error=EIO", false},
		{"fsync:error=EIO", false},
		{"write:retval=1", true}, // one byte is dropped, and nobody told
	}
	for _, f := range faults {
		t.Run(f.inject, func(t *testing.T) {
			t.Parallel()
			n := 1
			for ; n < 30 && injected(t, strace, f.inject, n, f.silent); n++ {
			}
			if n < 4 || n == 30 {
				t.Errorf("%d operations could fail", n-1)
			}
			t.Logf("%d operations failed, one at a time", n-1)
		})
	}
}

// injected has one operation of a victim fail, and tells whether there was one.
func injected(t *testing.T, strace, inject string, n int, silent bool) bool {
	t.Helper()
	st := newStore(t)
	check(t, create(t, st, "x").Close())
	log := st.share + "/strace"
	cmd := exec.Command(strace, "-f", "-o", log, "-P", place(st, "x", contextName), "-e", "trace="+strings.SplitN(inject, ":", 2)[0], "-e", "inject="+inject+":when="+strconv.Itoa(n), os.Args[0])
	cmd.Env = append(os.Environ(), victimDir+"="+st.share, victimSteps+"=3")
	out, err := cmd.Output()
	hit := strings.Contains(read(t, log), "INJECTED")
	failed := strings.Contains(string(out), "failed")
	if failed != (err != nil) || !silent && failed != hit {
		t.Fatalf("%d: hit %v, %v: %s", n, hit, err, out)
	}
	kept := strings.Count(string(out), "kept ")
	r := reader(t, st, "x")
	findings := r.Verify().Findings
	if silent && hit && len(findings) == 0 && !failed { // the next write looks before it goes on
		t.Errorf("%d: nothing is found in a torn history", n)
	}
	s := open(t, st, "x")
	if got := len(s.Restored().Messages); !silent && got < 3*kept {
		t.Errorf("%d: %d messages after %d steps were acknowledged", n, got, kept)
	}
	check(t, s.AppendMessages(user("on")))
	check(t, s.Close())
	return hit
}
