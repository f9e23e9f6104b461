package proc

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	tests := []struct {
		name, line string
		state      byte
		group      int
	}{
		{"sleeping", "12 (bash) S 1 10 9 0 -1\n", 'S', 10},
		{"zombie", "12 (sh) Z 1 10 9 0 -1\n", 'Z', 10},
		{"name with parentheses and spaces", "12 (a) R 1 2) Z 1 10 9\n", 'Z', 10},
		{"cut off", "12 (bash) S 1", 0, 0},
		{"no number", "12 (bash) S 1 x 9", 0, 0},
		{"empty", "", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if state, group := parseStat([]byte(tt.line)); state != tt.state || group != tt.group {
				t.Errorf("got %q, %d; want %q, %d", state, group, tt.state, tt.group)
			}
		})
	}
}

// A process that has ended and that nobody has reaped does not make a group exist.
func TestZombieIsNoGroup(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exit 3")
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	var info unix.Siginfo // waits for the end and leaves the zombie
	if err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(-pid, 0); err != nil {
		t.Fatalf("the zombie's group cannot be signalled: %v", err)
	}
	if groupExists(pid) {
		t.Error("a zombie counted as a process")
	}
	_ = cmd.Wait() // exit status 3
}
