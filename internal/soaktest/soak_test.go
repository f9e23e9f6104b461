//go:build soak

package soaktest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
)

var (
	turns = flag.Int("turns", 2000, "turns of the session")
	kills = flag.Int("kills", 50, "how often the program is killed")
	seed  = flag.Uint64("seed", 0, "what is random comes of it; 0: of the time")
)

// window is the model's, in tokens: small, so that there is a compaction every few turns.
const window = 24_000

// soak is the session and what it stands on.
type soak struct {
	t      *testing.T
	server *modeltest.Server
	model  *model
	random *rand.Rand
	path   string // of the program
	share  string
	dir    string // of the session
	id     string

	client   *acptest.Client
	session  *acptest.Session
	answered []int // turns whose end was told
	failed   int   // turns that ended with an error, as they had to
	killed   int
}

// One session goes on through everything that models, disks and users do to it: every
// answer is told whole and once, every request to the model is one that a strict
// provider takes, the session is opened again after each kill with all that it showed,
// and the program does not grow.
func TestSoak(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", *seed)
	begin := time.Now()
	s := newSoak(t)
	// Kills are in the first tenth and the last quarter: in between one process has to
	// live long enough to show that it does not grow.
	first, last := *turns/10, *turns*3/4
	kill := map[int]bool{}
	for len(kill) < *kills-1 {
		n := 1 + s.random.IntN(*turns)
		kill[n] = kill[n] || n < first || n > last
		if !kill[n] {
			delete(kill, n)
		}
	}
	var early, late figures
	for n := 1; n <= *turns && !t.Failed(); n++ {
		s.turn(n, kill[n])
		switch {
		case n >= first-20 && n < first:
			early.sample(t, s.client.PID())
		case n == first: // a process that is as old as the last kill, and its goroutines end it
			early.goroutines = s.dump()
			s.open()
		case n >= last-20 && n < last:
			late.sample(t, s.client.PID())
		case n == last:
			late.goroutines = s.dump()
			s.open()
		}
	}
	s.report(begin, early, late)
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{t: t, server: modeltest.New(t), model: newModel(*seed), random: rand.New(rand.NewPCG(*seed, 2)), share: t.TempDir(), dir: t.TempDir()}
	s.path = acptest.Build(t)
	var big strings.Builder
	for i := range 300 {
		fmt.Fprintf(&big, "line %d of a file of some length\n", i)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "big.txt"), []byte(big.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.server.Keep(20)
	s.server.Answer(s.model.answer)
	s.start()
	s.session = s.client.NewSession(s.dir)
	s.id = s.session.ID
	s.mode()
	return s
}

// start starts the program.
func (s *soak) start() {
	s.t.Helper()
	s.client = acptest.Start(s.t, acptest.Process{Path: s.path, Dir: s.dir, Env: []string{
		"KIMI_BASE_URL=" + s.server.URL(), "KIMI_API_KEY=of-no-use", "KIMI_MODEL_NAME=served", "GOTRACEBACK=all",
		fmt.Sprintf("KIMI_MODEL_MAX_CONTEXT_SIZE=%d", window), "KIMI_SHARE_DIR=" + s.share,
	}})
	s.client.Patience = 5 * time.Minute
	s.client.Initialize(acptest.Capabilities{ReadTextFile: true, WriteTextFile: true})
}

func (s *soak) mode() {
	s.client.Request("session/set_mode", map[string]any{"sessionId": s.id, "modeId": "yolo"}).Result(nil)
}

var overNumber = regexp.MustCompile(`over-(\d+);`)

// open has a new program load the session, and checks that it shows every answer once.
func (s *soak) open() {
	s.t.Helper()
	s.start()
	s.session = s.client.LoadSession(s.id, s.dir)
	var talk strings.Builder
	for _, u := range s.session.Updates() {
		if u.Kind == "agent_message_chunk" {
			talk.WriteString(u.Text)
		}
	}
	shown := map[string]int{}
	for _, m := range overNumber.FindAllStringSubmatch(talk.String(), -1) {
		shown[m[1]]++
	}
	for _, n := range s.answered {
		if got := shown[fmt.Sprint(n)]; got != 1 {
			s.t.Errorf("the answer of turn %d is shown %d times after the session was opened again", n, got)
		}
	}
	s.mode()
}

// turn plays turn n to its end, or kills the program in it and opens the session again.
func (s *soak) turn(n int, kill bool) {
	s.t.Helper()
	prompt := acptest.Text(fmt.Sprintf("turn-%d; go on", n))
	turn := s.session.Prompt(prompt)
	if kill {
		time.AfterFunc(time.Duration(s.random.IntN(60))*time.Millisecond, s.client.Kill)
		<-s.client.Ended()
		s.killed++
		if turn.Call().Answered() {
			s.end(n, turn)
		}
		s.open()
		return
	}
	switch kindOf(n) {
	case turnIsCancelled:
		var said strings.Builder
		turn.Until("the end of the answer", func(u acptest.Update) bool {
			if u.Kind == "agent_message_chunk" {
				said.WriteString(u.Text)
			}
			return said.String() == final(n)
		})
		s.session.Cancel()
	case turnIsQueued:
		// A second prompt is not for the model: it counts on what the first has said.
		status := s.session.Prompt(acptest.Text("/usage"))
		s.end(n, turn)
		if got := status.Wait(); got != "end_turn" {
			s.t.Errorf("the queued prompt behind turn %d ended with %s", n, got)
		}
		return
	}
	s.end(n, turn)
}

// end checks what became of turn n.
func (s *soak) end(n int, turn *acptest.Turn) {
	s.t.Helper()
	_, failure := turn.Call().Wait()
	if fatal := s.model.ended(n); fatal != "" {
		if failure == nil {
			s.t.Errorf("turn %d did not tell of its failure: %s", n, fatal)
		}
		s.failed++
		return
	}
	want := "end_turn"
	if kindOf(n) == turnIsCancelled {
		want = "cancelled"
	}
	if got := turn.Wait(); got != want || turn.Text() != text(n) {
		s.t.Errorf("turn %d ended with %s and said %q, want %s and %q", n, got, turn.Text(), want, text(n))
	}
	s.answered = append(s.answered, n)
	if kindOf(n) == turnEdits {
		data, err := os.ReadFile(filepath.Join(s.dir, "a.txt"))
		if err != nil || string(data) != content(n) {
			s.t.Errorf("after turn %d the file holds %.40q (%v)", n, data, err)
		}
	}
}

// ended tells what ends a turn with an error, "" for nothing.
func (m *model) ended(turn int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fatal[turn]
}
