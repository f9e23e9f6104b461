//go:build unix

package acp_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"kimi-acp/internal/acptest"
)

var pids = regexp.MustCompile(`pid=(\d+)`)

// A cancel ends a command with all that it started, and then the turn.
func Test084CancelWhileACommandRuns(t *testing.T) {
	s := stage{scripts: []string{
		shell("s", `sleep 1000 & echo pid=$!; echo pid=$$; echo star""ted; wait`),
		"text: next",
	}}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	turn.Until("the command's output", func(u acptest.Update) bool { return strings.Contains(string(u.Raw), "started") })
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
	call := turn.Calls()[0]
	if call.Status != "failed" {
		t.Errorf("the call is %s", call.Status)
	}
	found := pids.FindAllStringSubmatch(call.Text(), -1)
	if len(found) != 2 {
		t.Fatalf("the output is %q", call.Text())
	}
	for _, m := range found {
		pid, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		// A process that has ended and was not collected yet by its parent, which
		// may be init by now, is a zombie: it runs no more.
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !isZombie(pid) {
			t.Errorf("process %d still runs (%v)", pid, err)
		}
	}
	if got := s.Prompt(acptest.Text("next")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false // ended since, or there is no /proc here
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}
