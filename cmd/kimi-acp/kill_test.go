//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"kimi-acp/internal/acptest"
)

// killRounds is how often the program is killed: 10 times, or KIMI_KILL_ROUNDS.
func killRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("KIMI_KILL_ROUNDS")
	if text == "" {
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Whatever was read from the program's output is there after it was killed at any
// moment of a turn that edits files: the session opens and shows it, the model is told
// of it in a history that is valid, and each file is as some edit left it.
func TestKilledInATurn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a process for each round")
	}
	const perSession = 10 // else the history makes each round longer than the last
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	rounds, answered := killRounds(t), 0
	for first := 0; first < rounds; first += perSession {
		t.Run(fmt.Sprint("from ", first), func(t *testing.T) {
			v := newSurvivor(t)
			took, last := v.whole(t, 1), 1+min(perSession, rounds-first)
			for n := 2; n <= last && !t.Failed(); n++ {
				t.Run(fmt.Sprint("turn ", n), func(t *testing.T) {
					if v.killed(t, n, time.Duration(random.Int64N(int64(took)+1))) {
						answered++
					}
				})
			}
			v.whole(t, last+1)
		})
	}
	t.Logf("seed %d: of %d turns %d were answered before the program was killed", seed, rounds, answered)
}

// killed runs turn n, kills the program after some time, and checks what is left. It
// tells whether the turn was answered.
func (v *survivor) killed(t *testing.T, n int, after time.Duration) (answered bool) {
	t.Helper()
	c := start(t, v.env())
	turn := v.load(t, c).Prompt(acptest.Text(fmt.Sprintf("turn-%d; go on", n)))
	time.AfterFunc(after, c.Kill)
	<-c.Ended() // all that is in the pipe was acknowledged
	v.checkTold(t)
	v.note(n, turn.Updates(), turn.Call().Answered())
	v.checkFiles(t, n)
	return turn.Call().Answered()
}

// whole runs turn n to its end, and gives how long it took.
func (v *survivor) whole(t *testing.T, n int) time.Duration {
	t.Helper()
	c := start(t, v.env())
	se := v.load(t, c)
	begin := time.Now()
	turn := se.Prompt(acptest.Text(fmt.Sprintf("turn-%d; go on", n)))
	if got := turn.Wait(); got != "end_turn" {
		t.Fatalf("turn %d ended with %s", n, got)
	}
	took := time.Since(begin)
	v.checkTold(t)
	v.note(n, turn.Updates(), true)
	v.checkFiles(t, n)
	c.Close()
	return took
}
