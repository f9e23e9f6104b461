package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// The kernel refuses the nth write, sync or rename of a turn that edits files: what the
// program reported is there afterwards, unless it said that it could not be saved; the
// session opens, its history is valid for the model, and each file is as some edit left
// it. KIMI_FAULTS=all tries every n, otherwise it is the first few.
func TestFaultsInATurn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts four processes for each fault")
	}
	strace, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(strace, "--seccomp-bpf", "-f", "-o", os.DevNull, "true").Run() // it may be forbidden here
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\n!! NOT TESTED: %s: strace cannot be used: %v\n\n", t.Name(), err)
		t.Skipf("strace cannot be used: %v", err)
	}
	most := 2
	if os.Getenv("KIMI_FAULTS") == "all" {
		most = 1000
	}
	for _, f := range []fault{
		{calls: "write", inject: "error=ENOSPC", ours: true},
		{calls: "write", inject: "error=EIO", ours: true},
		// The program is told that one byte was written, and none was.
		{calls: "write", inject: "retval=1", ours: true, lies: true},
		{calls: "fsync", inject: "error=EIO"},
		{calls: "renameat,renameat2", inject: "error=EIO"},
	} {
		t.Run(f.calls+" "+f.inject, func(t *testing.T) {
			n := 1
			for ; n <= most && !t.Failed(); n++ {
				v := newSurvivor(t)
				v.whole(t, 1)
				if !v.faulty(t, strace, f, n, 2) {
					break
				}
				v.whole(t, 3)
			}
			if n == 1 {
				t.Error("nothing could fail")
			}
			t.Logf("%d faults, one at a time", n-1)
		})
	}
}

// fault is what the kernel does to some system calls, counted by thread.
type fault struct {
	calls, inject string
	ours          bool // only to calls on files of the session: standard output uses them too
	lies          bool // the program cannot know of it
}

// faulty runs a turn in which the nth call fails, and tells whether there was one.
func (v *survivor) faulty(t *testing.T, strace string, f fault, n, turn int) bool {
	t.Helper()
	log := filepath.Join(t.TempDir(), "strace")
	args := []string{"--seccomp-bpf", "-f", "-o", log, "-e", "trace=" + f.calls, "-e", fmt.Sprintf("inject=%s:%s:when=%d", f.calls, f.inject, n)}
	if f.ours {
		for _, file := range v.files(t) {
			args = append(args, "-P", file)
		}
	}
	c := acptest.Start(t, acptest.Process{Path: strace, Args: append(args, program(t)), Env: append(v.env(), "GOMAXPROCS=1"), Dir: t.TempDir()})
	asked := v.load(t, c).Prompt(acptest.Text(fmt.Sprintf("turn-%d; go on", turn)))
	if got := asked.Wait(); got != "end_turn" {
		t.Errorf("%d: the turn ended with %s", n, got)
	}
	v.checkTold(t)
	c.Close()
	v.checkFiles(t, turn)
	if !f.lies && !strings.Contains(asked.Text(), "can no longer be saved") {
		v.note(turn, asked.Updates(), true)
	}
	traced, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(traced), "INJECTED")
}

// files are those that the session is kept in.
func (v *survivor) files(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(v.share, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(path, v.id) {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
