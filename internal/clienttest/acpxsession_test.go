//go:build clients

package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/modeltest"
)

// acpxSession runs commands of acpx on its session of a folder. Each is a process of
// its own, and starts an agent of its own.
type acpxSession struct {
	d                 desk
	agent, node, acpx string
}

// run gives what a command printed, once its agent has gone. --ttl is how long, in
// seconds, acpx keeps an agent for another prompt.
func (s acpxSession) run(t *testing.T, command ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runTime)
	defer cancel()
	args := append([]string{s.acpx, "--agent", s.agent, "--cwd", s.d.dir, "--approve-all", "--ttl", "1", "--format", "json", "--json-strict"}, command...)
	cmd := exec.CommandContext(ctx, s.node, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.d.dir, s.d.env, time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("acpx %s: %v\nstdout: %s\nstderr: %s", strings.Join(command, " "), err, &stdout, &stderr)
	}
	checkNoneLeft(t, s.agent)
	return stdout.String()
}

// decode reads the one object that a command printed.
func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
}

// testACPXSessions has acpx keep a session over several processes: mode, option and
// what was said are those of the process before.
func testACPXSessions(t *testing.T, agent, node, acpx string) {
	model := modeltest.New(t)
	model.Push(says("The number is 7."), says("It was 7."))
	s := acpxSession{newDesk(t, nil, served(model)...), agent, node, acpx}

	var made struct{ Action, AcpxSessionID string }
	decode(t, s.run(t, "sessions", "new"), &made)
	if made.Action != "session_ensured" || made.AcpxSessionID == "" {
		t.Fatalf("a new session: %+v", made)
	}
	if out := s.run(t, "prompt", "a number?"); !strings.Contains(out, "The number is 7.") || !strings.Contains(out, `"stopReason":"end_turn"`) {
		t.Errorf("the first prompt: %s", out)
	}
	s.run(t, "set-mode", "plan")
	s.run(t, "set", "editor_context", "off")

	out := s.run(t, "prompt", "which was it?")
	if !strings.Contains(out, "It was 7.") || !strings.Contains(out, `"stopReason":"end_turn"`) {
		t.Errorf("the prompt in another process: %s", out)
	}
	if !strings.Contains(out, `"method":"session/resume"`) && !strings.Contains(out, `"method":"session/load"`) {
		t.Errorf("the session was not opened again: %s", out)
	}
	if strings.Contains(out, "The number is 7.") && !strings.Contains(out, `"method":"session/load"`) {
		t.Errorf("what was said before was shown on a resume: %s", out)
	}
	if !strings.Contains(out, `"currentModeId":"plan"`) {
		t.Errorf("the mode was not kept: %s", out)
	}
	if !optionIs(t, out, "editor_context", "off") {
		t.Errorf("the option was not kept: %s", out)
	}
	var talk []string
	for _, m := range model.Requests()[1].Chat.Messages {
		if m.Role == "assistant" {
			talk = append(talk, m.Text())
		}
	}
	if len(talk) != 1 || talk[0] != "The number is 7." {
		t.Errorf("the model was told that it said %q", talk)
	}

	var listed struct {
		Sessions []struct{ SessionID, Cwd, Title string }
	}
	decode(t, s.run(t, "sessions", "list"), &listed)
	if len(listed.Sessions) != 1 || listed.Sessions[0].SessionID != made.AcpxSessionID || listed.Sessions[0].Title != "a number?" {
		t.Errorf("listed: %+v", listed)
	}
	var closed struct{ Action string }
	if decode(t, s.run(t, "sessions", "close"), &closed); closed.Action != "session_closed" {
		t.Errorf("closing it: %+v", closed)
	}
}

// optionIs tells whether some answer among the frames gives an option that value.
func optionIs(t *testing.T, frames, id, value string) bool {
	t.Helper()
	for line := range strings.Lines(frames) {
		var f struct {
			Result struct {
				ConfigOptions []struct{ ID, CurrentValue string }
			}
		}
		decode(t, line, &f)
		for _, o := range f.Result.ConfigOptions {
			if o.ID == id && o.CurrentValue == value {
				return true
			}
		}
	}
	return false
}
