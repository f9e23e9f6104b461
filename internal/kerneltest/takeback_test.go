package kerneltest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

const twoModels = settings + `[models.other]
provider = "scripted"
model = "scripted_echo"
max_context_size = 100000
`

// goesBack has a user of a kernel take a turn back, with talk and file, bring the file
// back, and go on with another model. What the kernel itself keeps is looked at.
func goesBack(t *testing.T, choice string, env ...string) {
	t.Helper()
	share, dir := t.TempDir(), t.TempDir()
	script, file := filepath.Join(t.TempDir(), "script.txt"), filepath.Join(dir, "a.txt")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(share, "config.toml"), fmt.Sprintf(twoModels, script))
	// The next process of the kernel reads it from its beginning.
	write(script, "text: First.\n---\ntool_call: {\"id\": \"w\", \"name\": \"WriteFile\", \"arguments\": \"{\\\"path\\\": \\\"a.txt\\\", \\\"content\\\": \\\"a\\\\n\\\"}\"}\n---\ntext: Written.\n---\ntext: no more")
	c := acptest.Start(t, acptest.Process{Path: program.Path(t), Args: []string{"--kernel", choice}, Dir: dir, Env: append([]string{
		"KIMI_SHARE_DIR=" + share, "KIMI_SCRIPTED_ECHO_SCRIPTS=" + script,
	}, env...)})
	c.Initialize(acptest.Capabilities{ReadTextFile: true, WriteTextFile: true})
	c.OnPermission = acptest.Choose("allow_once")
	s := c.NewSession(dir)
	say := func(words, want string) {
		t.Helper()
		turn := s.Prompt(acptest.Text(words))
		if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), want) {
			t.Fatalf("%s: ended with %s and said %q\n%s", words, got, turn.Text(), c.Transcript())
		}
	}
	store := session.NewStore(share)
	knows := func(id string) string {
		t.Helper()
		r, err := store.Read(dir, id)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		h, err := r.History()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range h.Messages {
			if m.Role == llm.RoleTool || len(m.Content) == 0 || !session.OpensTurn(m) && m.Role == llm.RoleUser {
				continue
			}
			all = append(all, m.Content[0].Text)
		}
		return strings.Join(all, "|")
	}
	say("One", "First.")
	say("Write it", "Written.")
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	say("/undo step", "Taken back:")
	if _, err := os.Stat(file); err == nil {
		t.Error("the step's file is still there")
	}
	say("/redo", "Brought back:")
	say("/undo", "The last turn is taken back, from “Write it” on")
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
	say("/redo", "Brought back:")
	if text, err := os.ReadFile(file); err != nil || string(text) != "a\n" {
		t.Errorf("brought back was %q (%v)", text, err)
	}
	write(script, "text: Back.\n---\ntext: no more")
	say("Two", "Back.")
	const want = "One|First.|Two|Back."
	if got := knows(kernel.SessionID(s.ID)); got != want {
		t.Errorf("the kernel knows %q, want %q", got, want)
	}
	write(script, "text: From the other.\n---\ntext: no more")
	c.Request("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "model", "value": "other"}).Result(nil)
	say("Three", "From the other.")
	c.Misuse("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "model", "value": "third"}).Fails(-32602)
	c.Request("session/close", map[string]any{"sessionId": s.ID}).Result(nil)
	for _, id := range []string{s.ID, kernel.SessionID(s.ID)} {
		if got := knows(id); got != want+"|Three|From the other." {
			t.Errorf("%s holds %q", id, got)
		}
	}
	loaded := c.LoadSession(s.ID, dir)
	if !strings.Contains(string(loaded.Opened), `"currentValue":"other"`) {
		t.Errorf("loaded with %s", loaded.Opened)
	}
	c.Request("session/close", map[string]any{"sessionId": s.ID}).Result(nil)
	c.Close()
}

func TestGoingBackInOwnBinary(t *testing.T) {
	goesBack(t, program.Path(t)+" wire --session {session} --agent-file {agent-file} --model {model}")
}
