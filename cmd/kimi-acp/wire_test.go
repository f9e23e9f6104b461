//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wireRun starts the program as kimi-cli is started for its Wire, says the lines, each
// after the answer to the one before, and gives what it heard and how the program ended.
func wireRun(t *testing.T, share string, args []string, lines ...string) (heard []string, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(program(t), append([]string{"--wire"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+share, "KIMI_SHARE_DIR="+filepath.Join(share, ".kimi"), "KIMI_MODEL_NAME=", "KIMI_API_KEY=", "OPENAI_API_KEY=", "OPENAI_MODEL=")
	var errText strings.Builder
	cmd.Stderr = &errText
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	for _, line := range lines {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			break // it has ended, which the code tells
		}
		for {
			got, err := r.ReadString('\n')
			if err != nil {
				break
			}
			heard = append(heard, strings.TrimSpace(got))
			var m struct{ Method string }
			if json.Unmarshal([]byte(got), &m) == nil && m.Method == "" {
				break
			}
		}
	}
	_ = in.Close() // it may have ended
	rest, _ := io.ReadAll(r)
	if len(rest) > 0 {
		t.Errorf("after the end of input: %s", rest)
	}
	_ = cmd.Wait() // the code tells
	return heard, errText.String(), cmd.ProcessState.ExitCode()
}

const wireSettings = `{"default_model":"m","models":{"m":{"provider":"p","model":"x","max_context_size":100000}},"providers":{"p":{"type":"_scripted_echo","env":{"KIMI_SCRIPTED_ECHO_SCRIPTS":"@"}}}}`

func TestWireGoesOnWithTheLastSession(t *testing.T) {
	share, work := t.TempDir(), t.TempDir()
	scripts := filepath.Join(share, "scripts.json")
	if err := os.WriteFile(scripts, []byte(`["text: one","text: two"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", strings.Replace(wireSettings, "@", scripts, 1), "--work-dir", work}
	if _, stderr, code := wireRun(t, share, append(args, "--continue")); code != 2 || !strings.Contains(stderr, "--continue") {
		t.Errorf("without a session: exit %d, %s", code, stderr)
	}
	finished := `{"jsonrpc":"2.0","id":"p","result":{"status":"finished"}}`
	heard, stderr, code := wireRun(t, share, args, `{"id":"p","method":"prompt","params":{"user_input":"first"}}`)
	if code != 0 || !slices.Contains(heard, finished) {
		t.Fatalf("exit %d, %q, %s", code, heard, stderr)
	}
	heard, stderr, code = wireRun(t, share, append(args, "--continue"),
		`{"id":"r","method":"replay"}`,
		`{"id":"p","method":"prompt","params":{"user_input":"second"}}`)
	if code != 0 || !slices.Contains(heard, `{"jsonrpc":"2.0","id":"r","result":{"status":"finished","events":5,"requests":0}}`) || !slices.Contains(heard, finished) {
		t.Errorf("exit %d, %q, %s", code, heard, stderr)
	}
	found, err := filepath.Glob(filepath.Join(share, ".kimi", "sessions", "*", "*", "*"))
	if err != nil || len(found) != 3 {
		t.Errorf("the session's files are %v, %v", found, err)
	}
}

// A session in which nothing was said is not kept.
// The agent okabe goes back in its turn, the default one has no tool for it, and an
// agent's file has it when it names it.
func TestWireAgents(t *testing.T) {
	script := `tool_call: {"id":"m","name":"SendDMail","arguments":"{\"message\":\"go\",\"checkpoint_id\":1}"}`
	scripts := filepath.Join(t.TempDir(), "scripts.json")
	raw, err := json.Marshal([]string{script, "text: done"})
	if err == nil {
		err = os.WriteFile(scripts, raw, 0o600)
	}
	agent := filepath.Join(t.TempDir(), "agent.yaml")
	if err == nil {
		err = os.WriteFile(agent, []byte("version: 1\nagent:\n  extend: default\n  tools:\n    - \"kimi_cli.tools.dmail:SendDMail\"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "Tool `SendDMail` not found"},
		{[]string{"--agent", "okabe"}, "A message goes back to checkpoint 1."},
		{[]string{"--agent-file", agent}, "A message goes back to checkpoint 1."},
	} {
		args := append([]string{"--config", strings.Replace(wireSettings, "@", scripts, 1), "--work-dir", t.TempDir(), "--yolo"}, c.args...)
		heard, stderr, code := wireRun(t, t.TempDir(), args, `{"id":"p","method":"prompt","params":{"user_input":"first"}}`)
		if all := strings.Join(heard, "\n"); code != 0 || !strings.Contains(all, c.want) || !strings.Contains(all, `"text":"done"`) || strings.Contains(all, "Notification") {
			t.Errorf("%q: exit %d, %s, %s", c.args, code, stderr, all)
		}
	}
}

func TestWireLeavesNoEmptySession(t *testing.T) {
	share, work := t.TempDir(), t.TempDir()
	if _, stderr, code := wireRun(t, share, []string{"--work-dir", work}, `{"id":"i","method":"initialize","params":{"protocol_version":"1.10"}}`); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if found, err := filepath.Glob(filepath.Join(share, ".kimi", "sessions", "*", "*")); err != nil || len(found) > 0 {
		t.Errorf("left %v, %v", found, err)
	}
}

func TestWireRefusesFlags(t *testing.T) {
	for _, args := range [][]string{
		{"--session", "a/../b"},
		{"--continue", "--session", "x"},
		{"--config", "{}", "--config-file", "x"},
		{"--agent", "nobody"},
		{"--thinking", "--no-thinking"},
		{"--agent-file", "/not/there"},
		{"--work-dir", "/not/there"},
		{"--nonsense"},
		{"word"},
	} {
		if _, stderr, code := wireRun(t, t.TempDir(), args); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
