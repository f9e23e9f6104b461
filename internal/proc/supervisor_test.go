//go:build unix

package proc

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func newTestSupervisor(t *testing.T) *Supervisor {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return NewSupervisor(exe, "play-supervisor")
}

// playParent is a process that runs a command under supervision and says "up" once the
// command does. It is killed before the command ends.
func playParent(shell string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	r := NewRunner(Options{Supervisor: NewSupervisor(exe, "play-supervisor"), Environ: os.Environ()})
	_, err = r.Run(context.Background(), Command{
		Shell:  shell,
		Output: onUp(func() { _, _ = io.WriteString(os.Stdout, "up\n") }),
	})
	return err
}

func TestNothingOutlivesAKilledParent(t *testing.T) {
	tests := []struct{ name, shell string }{
		{"grandchildren", "sleep 300 & (sleep 300 & sleep 300) & echo up; wait"},
		{"deaf to SIGTERM", "trap '' TERM; sleep 300 & echo up; wait"},
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWitness(t)
			parent := exec.Command(exe, "play-parent", "exec 9>"+w.path+"; "+tt.shell)
			stdout, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(stdout).ReadString('\n')
			if line != "up\n" {
				t.Errorf("the command did not come up: %q, %v", line, err)
			}
			if err := parent.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = parent.Wait() // killed, as it should be
			w.wait(t)
		})
	}
}

func TestSupervisorEndsGroupsOnClose(t *testing.T) {
	s := newTestSupervisor(t)
	r := NewRunner(Options{Supervisor: s, Environ: os.Environ()})
	o, err := r.Run(t.Context(), Command{Shell: "echo up; exec sleep 300", Output: onUp(func() {
		r.Close() // leaves the command to the supervisor
		s.Close()
	})})
	if err != nil || o.Signal != "SIGTERM" {
		t.Errorf("outcome %+v, %v", o, err)
	}
}

func TestSupervisorIsStartedAgain(t *testing.T) {
	s := newTestSupervisor(t)
	defer s.Close()
	r := NewRunner(Options{Supervisor: s, Environ: os.Environ()})
	if _, err := r.Run(t.Context(), Command{Shell: "true"}); err != nil {
		t.Fatal(err)
	}
	first := s.child
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // killed, as it should be
	o, err := r.Run(t.Context(), Command{Shell: "echo up; exec sleep 300", Output: onUp(s.Close)})
	if err != nil || o.Signal != "SIGTERM" {
		t.Errorf("outcome %+v, %v", o, err)
	}
}

func TestForgottenGroupsAreNotKept(t *testing.T) {
	s := newTestSupervisor(t)
	r := NewRunner(Options{Supervisor: s, Environ: os.Environ()})
	for range 3 {
		if _, err := r.Run(t.Context(), Command{Shell: "true"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.groups) != 0 || len(r.alone) != 0 {
		t.Errorf("groups kept: %v, %v", s.groups, r.alone)
	}
	s.Close()
	if s.watch(1 << 30) {
		t.Error("a closed supervisor took a group")
	}
}

func TestWithoutSupervisor(t *testing.T) {
	tests := []struct {
		name string
		s    *Supervisor
	}{
		{"none", nil},
		{"cannot be started", NewSupervisor("/nonexistent/program")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer tt.s.Close()
			r := NewRunner(Options{Supervisor: tt.s, Environ: os.Environ()})
			o, err := r.Run(t.Context(), Command{Shell: "echo up; exec sleep 300", Output: onUp(r.Close)})
			if err != nil || o.Signal != "SIGKILL" {
				t.Errorf("outcome %+v, %v", o, err)
			}
		})
	}
}

func TestReadGroups(t *testing.T) {
	tests := []struct {
		name, lines string
		want        signed
	}{
		{"nothing", "", signed{}},
		{"added and taken back", "+10\n+11\n-10\n", signed{11: '+'}},
		{"taken back first", "-10\n+10\n", signed{10: '+'}},
		{"ends by itself", "~10\n~11\n-10\n", signed{11: '~'}},
		{"last line cut off", "+10\n+11", signed{10: '+', 11: '+'}},
		{"dangerous numbers", "+0\n+1\n+-1\n++5\n~1\n+99999999999\n", signed{}},
		{"rubbish", "\n+\nx\n*12\n+12x\n+13\n", signed{13: '+'}},
		{"a line too long ends the input", "+13\n+" + strings.Repeat("1", 100) + "\n", signed{13: '+'}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := readGroups(strings.NewReader(tt.lines)); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// Without SuperviseMain around it, which would make this process deaf to signals.
func TestEndGroups(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exec sleep 300")
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := follow(cmd)
	endGroups(readGroups(strings.NewReader("+" + strconv.Itoa(p.group) + "\n")).of('+'))
	<-p.exited
	if _, signal := p.status(); signal != "SIGTERM" {
		t.Errorf("ended by %q", signal)
	}
	if groupExists(p.group) || outlivesLeader(p.group) {
		t.Error("the group is still there")
	}
}

// A group whose leader lives is nobody's leftovers. Whether that holds of the
// tests' own group depends on what started them.
func TestGroupWithALivingLeader(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exec sleep 300")
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := follow(cmd)
	if !groupExists(p.group) || outlivesLeader(p.group) {
		t.Error("a group with a living leader was taken for leftovers")
	}
	killGroup(p.group)
	<-p.exited
}
