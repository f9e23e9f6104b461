//go:build model

package llamatest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/foreigntest"
)

// leaveTime is how long the connection of a cancelled turn may stay open.
const leaveTime = 5 * time.Second

// patience bounds each wait for the model, which has all of the system prompt to read.
const patience = 5 * time.Minute

const question = "Say hello and tell me in three sentences who you are."

// One server serves all, since it takes a while to load its model.
func TestLlamaServer(t *testing.T) {
	s := startServer(t)
	agent := acptest.Build(t)
	t.Run("doctor", func(t *testing.T) { s.testDoctor(t, agent) })
	t.Run("run", func(t *testing.T) { s.testRun(t, agent) })
	t.Run("acp", func(t *testing.T) { s.testTurn(t, agent) })
	t.Run("cancel", func(t *testing.T) { s.testCancel(t, agent) })
}

// testDoctor wants all well but the calling of tools, of which the model is not
// capable.
func (s *server) testDoctor(t *testing.T, agent string) {
	cmd := exec.CommandContext(t.Context(), agent, "doctor")
	cmd.Env = s.environ(t)
	out, err := cmd.CombinedOutput()
	t.Logf("\n%s", out)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if mark, what, _ := strings.Cut(strings.TrimSpace(line), " "); mark == "✗" && !strings.HasPrefix(what, "tools ") {
			t.Errorf("doctor complains: %s", line)
		}
	}
	if !strings.Contains(string(out), "the model answers, streamed") {
		t.Error("doctor does not say that the model answers")
	}
}

// testRun does a turn without an editor: its text must come in pieces, and its
// JSON lines say how full the context is.
func (s *server) testRun(t *testing.T, agent string) {
	cmd := exec.CommandContext(t.Context(), agent, "run", "--quiet", "--max-steps", "1", question)
	cmd.Env, cmd.Dir = s.environ(t), t.TempDir()
	out := &pieces{began: time.Now()}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != exitCut {
		t.Fatalf("run: %v\n%s", err, foreigntest.Tail(stderr.String(), 4096))
	}
	if len(out.at) < 5 {
		t.Errorf("the answer came in %d pieces: %q", len(out.at), out.text)
	}
	t.Logf("first piece after %v, %d pieces in %v: %q", out.at[0].Round(time.Millisecond), len(out.at), (out.at[len(out.at)-1] - out.at[0]).Round(time.Millisecond), out.text)
}

// exitCut is run's exit code when the answer's length was used up: a small model
// may not find an end.
const exitCut = 4

// pieces notes when each write came.
type pieces struct {
	began time.Time
	at    []time.Duration
	text  []byte
}

// Write takes one piece down.
func (p *pieces) Write(b []byte) (int, error) {
	p.at = append(p.at, time.Since(p.began))
	p.text = append(p.text, b...)
	return len(b), nil
}

// connect plays an editor.
func (s *server) connect(t *testing.T, agent string) *acptest.Session {
	t.Helper()
	c := acptest.Start(t, acptest.Process{Path: agent, Env: s.environ(t), Dir: t.TempDir()})
	c.Patience = patience
	c.Initialize(acptest.Capabilities{ReadTextFile: true, WriteTextFile: true})
	return c.NewSession(t.TempDir())
}

// testTurn does a turn as an editor, and holds the usage that it is told against
// the server's own count of the same request: this server counts streamed answers
// only when it is asked anew.
func (s *server) testTurn(t *testing.T, agent string) {
	turn := s.connect(t, agent).Prompt(acptest.Text(question))
	stop := turn.Wait()
	if stop != "end_turn" && stop != "max_tokens" {
		t.Errorf("the turn ended with %s", stop)
	}
	texts := 0
	var usage struct{ Used, Size int }
	for _, u := range turn.Updates() {
		switch u.Kind {
		case "agent_message_chunk":
			texts++
		case "usage_update":
			if err := json.Unmarshal(u.Raw, &usage); err != nil {
				t.Fatal(err)
			}
		}
	}
	if texts < 5 {
		t.Errorf("the answer came in %d pieces", texts)
	}
	counted := s.count(t, s.last(t).body)
	t.Logf("%s after %d pieces: %q; %d of %d tokens told", stop, texts, turn.Text(), usage.Used, usage.Size)
	if usage.Size != contextSize || usage.Used < counted/2 || usage.Used > counted*2 {
		t.Errorf("usage of %d in %d was told; the server counts %d in %d", usage.Used, usage.Size, counted, contextSize)
	}
}

// count gives the server's count of a request's tokens. The prompt is counted by
// sending it once more, not streamed; the tools, which the model's template leaves
// out of it, by themselves.
func (s *server) count(t *testing.T, body []byte) int {
	t.Helper()
	var request map[string]json.RawMessage
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	var tools struct{ Count int }
	s.post(t, "extras/tokenize/count", map[string]any{"input": string(request["tools"])}, &tools)
	delete(request, "stream_options")
	request["stream"], request["max_tokens"] = json.RawMessage("false"), json.RawMessage("1")
	var answer struct {
		Usage struct {
			PromptTokens int `json:"prompt_tokens"`
		}
	}
	s.post(t, "v1/chat/completions", request, &answer)
	if tools.Count == 0 || answer.Usage.PromptTokens == 0 {
		t.Fatalf("the server does not count: %+v, %+v", tools, answer)
	}
	t.Logf("the server counts %d tokens in the prompt and %d in the tools", answer.Usage.PromptTokens, tools.Count)
	return answer.Usage.PromptTokens + tools.Count
}

// post asks the server itself, past the observer.
func (s *server) post(t *testing.T, path string, body, answer any) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.backend.JoinPath(path).String(), "application/json", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		t.Fatal(err)
	}
}

// testCancel cancels a turn in the middle of its answer: the connection to the
// server must close, and the server be free for the next prompt.
func (s *server) testCancel(t *testing.T, agent string) {
	session := s.connect(t, agent)
	turn := session.Prompt(acptest.Text("Count from one to five hundred, in words, and leave nothing out."))
	turn.Until("a piece of the answer", acptest.IsKind("agent_message_chunk"))
	e := s.last(t)
	began := time.Now()
	session.Cancel()
	if stop := turn.Wait(); stop != "cancelled" {
		t.Errorf("the turn ended with %s", stop)
	}
	answered := time.Since(began)
	select {
	case <-e.done:
		if !e.cut {
			t.Error("the answer was whole before the turn was cancelled")
		}
	case <-time.After(leaveTime):
		t.Fatalf("the connection to the server is still open %v after the cancel", leaveTime)
	}
	t.Logf("answered %v, connection closed %v after the cancel", answered.Round(100*time.Microsecond), time.Since(began).Round(100*time.Microsecond))
	next := session.Prompt(acptest.Text("Say hello."))
	next.Until("a piece of the next answer", acptest.IsKind("agent_message_chunk"))
	t.Logf("the next answer began %v after the cancel", time.Since(began).Round(time.Millisecond))
	session.Cancel()
	next.Wait()
}
