//go:build kernels

package kerneltest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// stage is a share dir and a work dir that both programs use.
type stage struct {
	kimi, share, dir string
	store            *session.Store
}

func newStage(t *testing.T) *stage {
	t.Helper()
	root := t.TempDir()
	s := &stage{kimi: installKimi(t), share: filepath.Join(root, "share"), dir: filepath.Join(root, "project é")}
	s.store = session.NewStore(s.share)
	for _, dir := range []string{s.share, s.dir} {
		check(t, os.MkdirAll(dir, 0o755))
	}
	config := fmt.Sprintf(settings, filepath.Join(root, "scripts.json"))
	check(t, os.WriteFile(filepath.Join(s.share, "config.toml"), []byte(config), 0o600))
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kimiTurn has kimi-cli do a turn that runs a command; with id "" in a new session.
func (s *stage) kimiTurn(t *testing.T, id, word string) {
	t.Helper()
	call, err := json.Marshal(map[string]string{"id": "call-" + word, "name": "Shell", "arguments": `{"command": "echo out-` + word + `"}`})
	check(t, err)
	scripts, err := json.Marshal([]string{
		"think: thought-" + word + "\ntext: kimi looks\nusage: input_other=100 output=20\ntool_call: " + string(call),
		"text: kimi-" + word + "\nusage: input_other=200 output=30",
	})
	check(t, err)
	check(t, os.WriteFile(filepath.Join(filepath.Dir(s.share), "scripts.json"), scripts, 0o600))
	args := []string{"--print", "--yolo", "--work-dir", s.dir, "--prompt", "ask kimi " + word}
	if id != "" {
		args = append(args, "--session", id)
	}
	cmd := exec.CommandContext(t.Context(), s.kimi, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "KIMI_SHARE_DIR="+s.share, "HOME="+filepath.Dir(s.share))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "kimi-"+word) {
		t.Fatalf("kimi-cli: %v\n%s", err, out)
	}
}

// ourTurn does a turn on the store, as the soul writes one.
func (s *stage) ourTurn(t *testing.T, kept *session.Session, word string) {
	t.Helper()
	text := func(role llm.Role, text string) llm.Message {
		return llm.Message{Role: role, Content: []llm.Part{llm.Text(text)}}
	}
	arguments := `{"command": "true"}`
	answer := text(llm.RoleAssistant, "we look")
	answer.ToolCalls = []llm.ToolCall{{ID: "ours-" + word, Name: "Shell", Arguments: &arguments}}
	result := text(llm.RoleTool, "out-"+word)
	result.ToolCallID = "ours-" + word
	n := kept.Restored().Checkpoints
	for _, err := range []error{
		kept.AppendCheckpoint(n),
		kept.AppendMessages(text(llm.RoleUser, "ask us "+word)),
		kept.AppendCheckpoint(n + 1),
		kept.AppendStep(answer, 300, result),
		kept.AppendCheckpoint(n + 2),
		kept.AppendStep(text(llm.RoleAssistant, "we-"+word), 320),
	} {
		check(t, err)
	}
	for _, m := range []wire.Message{
		wire.TurnBegin{UserInput: wire.UserInput{Text: "ask us " + word}},
		wire.StepBegin{N: 1},
		wire.ContentPart{Part: llm.Text("we-" + word)},
		wire.TurnEnd{},
	} {
		kept.Wire().Receive(m)
	}
	check(t, kept.Err())
}

func (s *stage) open(t *testing.T, id string) *session.Session {
	t.Helper()
	kept, err := s.store.Open(s.dir, id)
	check(t, err)
	if skipped := kept.Restored().Skipped; skipped != nil {
		t.Errorf("skipped: %q", skipped)
	}
	return kept
}

// said gives the texts of users and models.
func said(messages []llm.Message) string {
	var all []string
	for _, m := range messages {
		for _, p := range m.Content {
			if p.Type == llm.PartText && m.Role != llm.RoleTool {
				all = append(all, p.Text)
			}
		}
	}
	return strings.Join(all, "|")
}

// expect holds a session against what was said in it; the next checkpoint shows
// that each read the other's.
func (s *stage) expect(t *testing.T, id, want string, checkpoints int) {
	t.Helper()
	r, err := s.store.Read(s.dir, id)
	check(t, err)
	defer func() { check(t, r.Close()) }()
	if findings := r.Verify().Findings; findings != nil {
		t.Errorf("damaged: %v", findings)
	}
	h, err := r.History()
	check(t, err)
	if got := said(h.Messages); got != want || h.Checkpoints != checkpoints || h.System == "" {
		t.Errorf("said %q, next checkpoint %d; want %q, %d", got, h.Checkpoints, want, checkpoints)
	}
	turns := 0
	for m, err := range r.Recording() {
		check(t, err)
		if m.Type == "TurnBegin" {
			turns++
		}
	}
	if want := strings.Count(want, "ask "); turns != want {
		t.Errorf("%d turns were recorded, want %d", turns, want)
	}
}

// A session of kimi-cli's goes on here, and then there again.
func TestTheirsHere(t *testing.T) {
	s := newStage(t)
	s.kimiTurn(t, "", "one")
	page, err := s.store.List(session.ListOptions{WorkDir: s.dir})
	check(t, err)
	if len(page.Sessions) != 1 || page.Sessions[0].Title != "ask kimi one" {
		t.Fatalf("listed: %+v", page.Sessions)
	}
	id := page.Sessions[0].ID
	s.expect(t, id, "ask kimi one|kimi looks|kimi-one", 3)
	kept := s.open(t, id)
	s.ourTurn(t, kept, "two")
	check(t, kept.Close())
	s.kimiTurn(t, id, "three")
	s.expect(t, id, "ask kimi one|kimi looks|kimi-one|ask us two|we look|we-two|ask kimi three|kimi looks|kimi-three", 9)
}

// A session of ours goes on there, and then here again.
func TestOursThere(t *testing.T) {
	s := newStage(t)
	kept, err := s.store.Create(s.dir, "")
	check(t, err)
	id := kept.ID()
	check(t, kept.AppendSystem("You help — with “code”."))
	s.ourTurn(t, kept, "one")
	check(t, kept.Close())
	s.kimiTurn(t, id, "two")
	kept = s.open(t, id)
	if got := kept.Restored().System; got != "You help — with “code”." {
		t.Errorf("the system prompt is %q", got)
	}
	s.ourTurn(t, kept, "three")
	check(t, kept.Close())
	s.expect(t, id, "ask us one|we look|we-one|ask kimi two|kimi looks|kimi-two|ask us three|we look|we-three", 9)
}
