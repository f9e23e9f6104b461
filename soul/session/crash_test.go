package session

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
)

// victimDir names the share dir to the process that will be killed.
const victimDir = "SESSION_TEST_VICTIM"

// runVictim appends steps for ever, and says on stdout which ones were acknowledged.
func runVictim(dir string) int {
	s, err := NewStore(dir).Open(workDir, "x")
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	next := len(s.Restored().Messages) / 3
	for i := next; ; i++ {
		id := strconv.Itoa(i)
		err := s.AppendCheckpoint(i)
		if err == nil {
			err = s.AppendMessages(user("q"+id), assistant("a"+id, call("c", "{}")), result("c", strings.Repeat("r", 5000)))
		}
		if err != nil {
			fmt.Println("failed", err)
			return 1
		}
		fmt.Println("kept", i)
	}
}

// Whatever was acknowledged is there after the process was killed, and nobody is
// left with the lock.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts 50 processes")
	}
	t.Parallel()
	st := newStore(t)
	check(t, create(t, st, "x").Close())
	for round := range 50 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victimDir+"="+st.share)
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		lines := bufio.NewScanner(out)
		kept := -1
		for n := 0; lines.Scan(); n++ {
			i, ok := strings.CutPrefix(lines.Text(), "kept ")
			if !ok {
				t.Fatalf("round %d: %s", round, lines.Text())
			}
			kept, err = strconv.Atoi(i)
			check(t, err)
			if n == 0 && round == 0 {
				if _, err := st.Open(workDir, "x"); !errors.Is(err, ErrInUse) {
					t.Errorf("opening it meanwhile gave %v", err)
				}
			}
			if n == round%7 {
				check(t, cmd.Process.Kill()) // and read on: what is in the pipe was acknowledged
			}
		}
		check(t, lines.Err())
		if err := cmd.Wait(); err == nil {
			t.Fatal("the process ended by itself")
		}
		s, err := st.Open(workDir, "x")
		check(t, err)
		messages := s.Restored().Messages
		if len(messages) < 3*(kept+1) {
			t.Fatalf("round %d: %d messages after %d steps were acknowledged", round, len(messages), kept+1)
		}
		for i, m := range messages[:3*(kept+1)] {
			if want := []llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool}[i%3]; m.Role != want {
				t.Fatalf("round %d: message %d is of %s", round, i, m.Role)
			}
			if i%3 == 0 && m.Content[0].Text != "q"+strconv.Itoa(i/3) {
				t.Fatalf("round %d: message %d is %q", round, i, m.Content[0].Text)
			}
		}
		check(t, s.Close())
	}
}
