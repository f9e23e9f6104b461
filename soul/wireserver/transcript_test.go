package wireserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	"kimi-acp/soul/session"
	"kimi-acp/soul/skill"
)

var update = flag.Bool("update", false, "write what the server said into the transcripts")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A transcript is what a client says and hears, line by line:
//
//	# a remark
//	script: an answer of the model, in the form of _scripted_echo, with \n for a newline
//	option: yolo
//	>>> a line of the client, after which the server is heard until it has answered
//	>>| a line of the client that is not waited for
//	<<< a line of the server
//
// Ids that are made up stand as <id-1>, <id-2> in the order in which they come, the
// working folder as $WORK. It ends with the input, and nothing is said after that.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replayTranscript(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// fixedRunner runs no command, and says that it was well.
type fixedRunner struct{}

func (fixedRunner) Run(ctx context.Context, c proc.Command) (proc.Outcome, error) {
	if c.Shell == "hang" {
		<-ctx.Done()
		return proc.Outcome{}, ctx.Err()
	}
	return proc.Outcome{Output: "ran " + c.Shell + "\n"}, nil
}

// stage is a server at work, and a client of it.
type stage struct {
	t      *testing.T
	work   string
	in     io.WriteCloser
	out    *bufio.Reader
	ids    []string
	served chan error
	prompt string // the id of the request that is not answered yet
}

func replayTranscript(t *testing.T, text string) string {
	t.Helper()
	var o Options
	var scripts, body []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if script, ok := strings.CutPrefix(line, "script: "); ok {
			scripts = append(scripts, strings.ReplaceAll(script, `\n`, "\n"))
		}
		switch line {
		case "option: yolo":
			o.Yolo = true
		case "option: afk":
			o.AFK = true
		case "option: one step":
			o.MaxSteps = 1
		case "option: skills":
			o.Skills = flows(t)
		}
		if !strings.HasPrefix(line, "<<< ") {
			body = append(body, line)
		}
	}
	if !slices.Contains(strings.Split(text, "\n"), "option: no model") {
		o.Provider = scripted.New(scripts, llm.Model{Name: "scripted_echo", ContextSize: 100000})
	}
	s := serve(t, o)
	var got strings.Builder
	for i, line := range body {
		if i == len(body)-1 && line == "" {
			break
		}
		got.WriteString(line + "\n")
		if said, ok := strings.CutPrefix(line, ">>| "); ok {
			s.say(said)
		}
		if said, ok := strings.CutPrefix(line, ">>> "); ok {
			for _, heard := range s.ask(said) {
				got.WriteString("<<< " + heard + "\n")
			}
		}
	}
	for _, late := range s.end() {
		got.WriteString("<<< " + late + "\n")
	}
	return got.String()
}

// flows are skills as a folder may have them.
func flows(t *testing.T) []skill.Skill {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("greet", "---\nname: greet\ndescription: Greet people\n---\n\nSay hello.\n")
	write("walk", "---\nname: walk\ndescription: Walk\ntype: flow\n---\n\n```mermaid\nflowchart TD\nA([BEGIN]) --> B[Look around]\nB -->|again| B\nB -->|done| C([END])\n```\n")
	skills, err := skill.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return skills
}

// serve serves a new session.
func serve(t *testing.T, o Options) *stage {
	t.Helper()
	work := t.TempDir()
	kept, err := session.NewStore(filepath.Join(t.TempDir(), "share")).Create(work, "s1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	o.Kept, o.Roots, o.Runner, o.System = kept, []string{work}, fixedRunner{}, "Be good."
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	s := &stage{t: t, work: work, in: fromClient, out: bufio.NewReader(toClient), served: make(chan error, 1)}
	go func() {
		err := Serve(context.Background(), toServer, fromServer, o)
		_ = fromServer.Close()
		_ = toServer.Close()
		s.served <- err
	}()
	return s
}

var made = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"[0-9a-f]{32}"|"[0-9a-f]{12}"`)

var took = regexp.MustCompile(`"duration_ms":\d+`)

// say sends a line, with what was made up in the place of its names.
func (s *stage) say(line string) {
	s.t.Helper()
	for i := len(s.ids) - 1; i >= 0; i-- {
		line = strings.ReplaceAll(line, fmt.Sprintf("<id-%d>", i+1), s.ids[i])
	}
	if _, err := io.WriteString(s.in, strings.ReplaceAll(line, "$WORK", s.work)+"\n"); err != nil {
		s.t.Fatalf("send: %v", err)
	}
}

// hear reads a line, with names in the place of what was made up.
func (s *stage) hear() (string, error) {
	line, err := s.out.ReadString('\n')
	if err != nil {
		return line, err
	}
	line = strings.TrimSuffix(strings.ReplaceAll(line, s.work, "$WORK"), "\n")
	line = took.ReplaceAllString(line, `"duration_ms":0`)
	return made.ReplaceAllStringFunc(line, func(id string) string {
		quote := ""
		if id[0] == '"' {
			quote, id = `"`, id[1:len(id)-1]
		}
		i := slices.Index(s.ids, id)
		if i < 0 {
			i = len(s.ids)
			s.ids = append(s.ids, id)
		}
		return fmt.Sprintf("%s<id-%d>%s", quote, i+1, quote)
	}), nil
}

// ask sends a line and hears the server until it has answered it, or asks itself.
func (s *stage) ask(line string) (heard []string) {
	s.t.Helper()
	s.say(line)
	var sent struct {
		ID     json.RawMessage
		Method *string
	}
	_ = json.Unmarshal([]byte(line), &sent) // else the answer has a null id
	wanted := string(sent.ID)
	if sent.Method != nil && *sent.Method == "prompt" && s.prompt == "" {
		s.prompt = wanted
	}
	if sent.Method == nil && wanted != "" {
		wanted = s.prompt // an answer lets the turn go on
	}
	for {
		got, err := s.hear()
		if err != nil {
			s.t.Fatalf("after %s: %v", line, err)
		}
		heard = append(heard, got)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(got), &m); err != nil {
			s.t.Fatalf("the server sent %q: %v", got, err)
		}
		if m.Method == "" && string(m.ID) == s.prompt {
			s.prompt = ""
		}
		if m.Method == "request" || m.Method == "" && (string(m.ID) == wanted || string(m.ID) == "null") {
			return heard
		}
	}
}

// end ends the input, and hears what comes after.
func (s *stage) end() (late []string) {
	s.t.Helper()
	if err := s.in.Close(); err != nil {
		s.t.Fatal(err)
	}
	for {
		line, err := s.hear()
		if err != nil {
			break
		}
		late = append(late, line)
	}
	if err := <-s.served; err != nil {
		s.t.Errorf("Serve: %v", err)
	}
	return late
}

// What the pipe carries is what kimi-cli's encoder would write.
func TestEnvelopeOfForeignText(t *testing.T) {
	s := serve(t, Options{Provider: scripted.New([]string{"text: </b>&\x7fé"}, llm.Model{Name: "m", ContextSize: 1000})})
	heard := s.ask(`{"id":"p","method":"prompt","params":{"user_input":"x"}}`)
	want := "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"type\":\"ContentPart\",\"payload\":{\"type\":\"text\",\"text\":\"</b>&\x7fé\"}}}"
	if !slices.Contains(heard, want) {
		t.Errorf("%q is not among %q", want, heard)
	}
	s.end()
}

// A line that is too long, too deep or no JSON costs its own request alone.
func TestLinesThatKillKimiCLI(t *testing.T) {
	s := serve(t, Options{Provider: scripted.New([]string{"text: still here"}, llm.Model{Name: "m", ContextSize: 1000})})
	for _, line := range []string{
		`{"id":"a","method":"prompt","params":{"user_input":[{"type":"bogus"}]}}`,
		`{"id":"b","method":"steer","params":{"user_input":[{"type":"bogus"}]}}`,
		`{"id":"c","method":"cancel","params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`,
	} {
		heard := s.ask(line)
		if last := heard[len(heard)-1]; !strings.Contains(last, `"error"`) {
			t.Errorf("%.60s: %s", line, last)
		}
	}
	heard := s.ask(`{"id":"p","method":"prompt","params":{"user_input":"\ud800"}}`)
	if last := heard[len(heard)-1]; last != `{"jsonrpc":"2.0","id":"p","result":{"status":"finished"}}` {
		t.Errorf("after the lines: %s", last)
	}
	s.end()
}

// The end of the input ends a turn that waits for the client, and what it did is kept.
func TestInputEndsInTurn(t *testing.T) {
	call := `tool_call: {"id":"tc-1","name":"Shell","arguments":"{\"command\":\"make\"}"}`
	o := Options{Provider: scripted.New([]string{"text: a\n" + call}, llm.Model{Name: "m", ContextSize: 1000})}
	s := serve(t, o)
	heard := s.ask(`{"id":"p","method":"prompt","params":{"user_input":"go"}}`)
	if last := heard[len(heard)-1]; !strings.Contains(last, "ApprovalRequest") {
		t.Fatalf("no approval: %s", last)
	}
	s.end()
	context, err := os.ReadFile(filepath.Join(filepath.Dir(s.sessionFile("context.jsonl")), "context.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(context, []byte(`"tool_call_id":"tc-1"`)) {
		t.Errorf("the call has no result in the history: %s", context)
	}
}

// sessionFile finds a file of the session that is served.
func (s *stage) sessionFile(name string) string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(s.work), "*", "share", "sessions", "*", "s1", name))
	if err != nil || len(found) != 1 {
		s.t.Fatalf("%s: %v, %v", name, found, err)
	}
	return found[0]
}

// After a compaction the session's files hold what the model still knows, and kimi-cli's
// way of writing it down.
func TestCompactionIsWrittenDown(t *testing.T) {
	s := serve(t, Options{Provider: scripted.New([]string{"text: one", "text: two", "text: notes"}, llm.Model{Name: "m", ContextSize: 1000})})
	for _, said := range []string{"first", "second", "/compact"} {
		s.ask(`{"id":"p","method":"prompt","params":{"user_input":"` + said + `"}}`)
	}
	s.end()
	text, err := os.ReadFile(s.sessionFile("context.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"role": "_system_prompt", "content": "Be good."}`,
		`{"role": "_checkpoint", "id": 0}`,
		`{"role":"user","content":[{"type":"text","text":"<system>Previous context has been compacted. Here is the compaction output:</system>"},{"type":"text","text":"notes"}]}`,
		`{"role":"user","content":"second"}`,
		`{"role":"assistant","content":"two"}`,
		`{"role": "_usage", "token_count": 24}`,
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(string(text)), "\n")); diff != "" {
		t.Error(diff)
	}
}

// What was turned on, approved and planned is there when the session is opened again.
func TestStateOutlivesTheProcess(t *testing.T) {
	call := `tool_call: {"id":"tc-1","name":"Shell","arguments":"{\"command\":\"make\"}"}`
	todo := `tool_call: {"id":"tc-2","name":"SetTodoList","arguments":"{\"todos\":[{\"title\":\"a\",\"status\":\"pending\"}]}"}`
	s := serve(t, Options{Provider: scripted.New([]string{call, todo, "text: done"}, llm.Model{Name: "m", ContextSize: 1000})})
	s.ask(`{"id":"p","method":"prompt","params":{"user_input":"do it"}}`)
	s.ask(`{"id":"<id-1>","result":{"request_id":"<id-1>","response":"approve_for_session"}}`)
	s.ask(`{"id":"q","method":"set_plan_mode","params":{"enabled":true}}`)
	s.end()
	var got struct {
		Approval struct {
			Actions []string `json:"auto_approve_actions"`
		} `json:"approval"`
		Title    string `json:"custom_title"`
		PlanMode bool   `json:"plan_mode"`
		Todos    []struct{ Title, Status string }
	}
	text, err := os.ReadFile(s.sessionFile("state.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Approval.Actions, []string{"run command"}) || got.Title != "do it" || !got.PlanMode || len(got.Todos) != 1 {
		t.Errorf("the state is %s", text)
	}
}
