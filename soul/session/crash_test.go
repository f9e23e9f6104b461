package session

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kimi-acp/soul/llm"
)

// victimDir names the share dir to the process that will be killed.
const victimDir = "SESSION_TEST_VICTIM"

// victimSteps says after how many steps it ends by itself.
const victimSteps = "SESSION_TEST_STEPS"

// runVictim appends steps, for ever unless victimSteps says otherwise, and says on
// stdout which ones were acknowledged.
func runVictim(dir string) int {
	runtime.LockOSThread() // faults are counted by thread
	s, err := NewStore(dir).Open(workDir, "x")
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	next := len(s.Restored().Messages) / 3
	last, _ := strconv.Atoi(os.Getenv(victimSteps)) // 0 is never reached
	for i := next; ; i++ {
		if i > 0 && i == last {
			return 0
		}
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

// rounds is how often the process is killed: 50 times, or SESSION_KILL_ROUNDS.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SESSION_KILL_ROUNDS")
	if text == "" {
		return 50
	}
	n, err := strconv.Atoi(text)
	check(t, err)
	return n
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
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	torn := 0
	for round := range rounds(t) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victimDir+"="+st.share)
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		lines := bufio.NewScanner(out)
		kept := -1
		killAfter, delay := random.IntN(7), time.Duration(random.IntN(1500))*time.Microsecond
		var killed sync.WaitGroup // and read on: what is in the pipe was acknowledged
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
			if n == killAfter {
				killed.Go(func() {
					time.Sleep(delay) // into the middle of whatever comes next
					_ = cmd.Process.Kill()
				})
			}
		}
		check(t, lines.Err())
		killed.Wait()
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
		if strings.Contains(skipped(s), "torn") {
			torn++
		}
		check(t, s.Close())
		// A history that only grows would make each round longer than the last.
		if len(messages) > 3000 {
			check(t, st.Delete("x"))
			check(t, create(t, st, "x").Close())
		}
	}
	t.Logf("%d rounds, seed %d: %d histories had a torn end", rounds(t), seed, torn)
}
