package acptest_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"kimi-acp/internal/acptest"
)

// asAgent makes this test binary an agent process.
const asAgent = "ACPTEST_AS_AGENT"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asAgent); kind != "" {
		os.Exit(agentProcess(kind))
	}
	goleak.VerifyTestMain(m)
}

// A recorder is the testing.TB of a test that is meant to fail.
type recorder struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	logs     []string
	cleanups []func()
}

func (r *recorder) Helper()           {}
func (r *recorder) Error(args ...any) { r.fail(fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) {
	r.fail(fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fail(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.fail(fmt.Sprint(args...))
	runtime.Goexit()
}

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

func (r *recorder) fail(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, text)
}

// record runs a test that is meant to fail, with its cleanups, and gives what it
// said.
func record(t *testing.T, test func(t testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range slices.Backward(r.cleanups) {
				f()
			}
		}()
		test(r)
	}()
	<-done
	return r
}

// wantFailure checks that a recorded test failed with a text.
func (r *recorder) wantFailure(t *testing.T, want string) {
	t.Helper()
	if !slices.ContainsFunc(r.failures, func(text string) bool { return strings.Contains(text, want) }) {
		t.Errorf("the kit said %q, want a failure with %q", r.failures, want)
	}
}

// agent is the other end in this process: it reads lines and writes lines.
type agent struct {
	in   *bufio.Scanner
	out  io.Writer
	gone chan struct{} // closed when the client has hung up
}

// connect gives a client whose agent runs the function until it returns.
func connect(t testing.TB, run func(a *agent)) *acptest.Client {
	agentIn, clientOut := io.Pipe()
	clientIn, agentOut := io.Pipe()
	hangup := &watched{WriteCloser: clientOut, done: make(chan struct{})}
	go func() {
		a := newAgent(agentIn, agentOut)
		a.gone = hangup.done
		run(a)
		_ = agentOut.Close()
		_, _ = io.Copy(io.Discard, agentIn)
	}()
	return acptest.Connect(t, hangup, clientIn)
}

// watched tells when it is closed.
type watched struct {
	io.WriteCloser
	done chan struct{}
	once sync.Once
}

func (w *watched) Close() error {
	w.once.Do(func() { close(w.done) })
	return w.WriteCloser.Close()
}

func newAgent(in io.Reader, out io.Writer) *agent {
	return &agent{in: bufio.NewScanner(in), out: out}
}

// want reads lines until one contains the text; false at the end of the input.
func (a *agent) want(text string) bool {
	for a.in.Scan() {
		if strings.Contains(a.in.Text(), text) {
			return true
		}
	}
	return false
}

func (a *agent) say(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(a.out, line+"\n")
	}
}

const (
	initialized = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}},"agentInfo":{"name":"fake","version":"7"}}}`
	opened      = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}`
	ended       = `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`
)

func update(fields string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":` + fields + `}}}`
}

func chunk(text string) string {
	return update(`"agent_message_chunk","messageId":"m-9","content":{"type":"text","text":"` + text + `"}`)
}

// begin answers up to the first prompt.
func (a *agent) begin() {
	a.want("initialize")
	a.say(initialized)
	a.want("session/new")
	a.say(opened)
	a.want("session/prompt")
}

// prompt plays the client's part of begin.
func prompt(c *acptest.Client, k acptest.Capabilities, dir string) (*acptest.Session, *acptest.Turn) {
	c.Initialize(k)
	s := c.NewSession(dir)
	turn := s.Prompt(acptest.Text("hello"))
	return s, turn
}

// agentProcess is main when this test binary is the agent.
func agentProcess(kind string) int {
	a := newAgent(os.Stdin, os.Stdout)
	fmt.Fprintln(os.Stderr, "log of", kind, os.Getenv("SECRET"))
	a.want("initialize")
	a.say(initialized)
	if kind == "dies" {
		return 3
	}
	a.want("no such line") // to the end of the input
	return 0
}
