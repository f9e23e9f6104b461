package kerneltest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// scene is what a model and an editor do, whatever the kernel between them.
type scene struct {
	script string   // of the model, in the form of scripted providers
	editor []string // a line for each thing that the user does
}

func readScene(t *testing.T) scene {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "scene.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "\n-- script --\n")
	script, editor, ok := strings.Cut(rest, "-- editor --\n")
	if !ok {
		t.Fatal("the scene has no script, or no editor")
	}
	return scene{script, strings.Split(strings.TrimSpace(editor), "\n")}
}

// settings are those of all programs, with a model that follows a script.
const settings = `default_model = "echo"
[providers.scripted]
type = "_scripted_echo"
base_url = ""
api_key = ""
env = { KIMI_SCRIPTED_ECHO_SCRIPTS = %q }
[models.echo]
provider = "scripted"
model = "scripted_echo"
max_context_size = 100000
`

// slowEnd is told of a command that a busy machine takes long to end, with each kernel alike.
const slowEnd = " It did not end at once when it was asked to, and is killed if it goes on."

// play has an editor play the scene before the program with a kernel, and gives what the
// agent sent, a line each. Left out is what a kernel may tell of itself: its commands and
// options, and how full its context is.
func (s scene) play(t *testing.T, kernel string, env ...string) []string {
	t.Helper()
	share, dir := t.TempDir(), t.TempDir()
	script := filepath.Join(t.TempDir(), "script.txt")
	for path, text := range map[string]string{script: s.script, filepath.Join(share, "config.toml"): fmt.Sprintf(settings, script)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := acptest.Start(t, acptest.Process{Path: program.Path(t), Args: []string{"--kernel", kernel}, Dir: dir, Env: append([]string{
		"KIMI_SHARE_DIR=" + share, "KIMI_SCRIPTED_ECHO_SCRIPTS=" + script,
	}, env...)})
	c.Initialize(acptest.Capabilities{ReadTextFile: true, WriteTextFile: true, ElicitationForm: true})
	answer := "allow_once"
	c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
		return acptest.Choose(answer)(ctx, p)
	}
	c.Handle("elicitation/create", func(context.Context, json.RawMessage) (any, error) {
		return json.RawMessage(`{"action":"accept","content":{"q1":"No"}}`), nil
	})
	session := c.NewSession(dir)
	for _, line := range s.editor {
		what, words, _ := strings.Cut(line, " ")
		want := "end_turn"
		switch what {
		case "answer":
			answer = words
			continue
		case "cancel":
			want = "cancelled"
		}
		turn := session.Prompt(acptest.Text(words))
		if what == "cancel" {
			turn.Until("the tool runs", func(u acptest.Update) bool { return u.Status == "in_progress" })
			session.Cancel()
		}
		if got := turn.Wait(); got != want {
			t.Fatalf("%s: the turn ended with %s\n%s", line, got, c.Transcript())
		}
	}
	// What a kernel does at its end is done before the folders go.
	c.Request("session/close", map[string]any{"sessionId": session.ID}).Result(nil)
	c.Close()
	var told []string
	for line := range strings.Lines(c.Transcript()) {
		switch {
		case !strings.HasPrefix(line, string(acptest.FromAgent)),
			strings.Contains(line, `"agentCapabilities"`), strings.Contains(line, `"configOptions"`),
			strings.Contains(line, `"available_commands_update"`), strings.Contains(line, `"usage_update"`):
		default:
			told = append(told, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), slowEnd, ""))
		}
	}
	return told
}
