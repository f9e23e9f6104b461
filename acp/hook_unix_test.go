//go:build unix

package acp_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/proc"
	"kimi-acp/soul"
	"kimi-acp/soul/hook"
	"kimi-acp/soul/llm"
)

// hooked is a stage whose sessions have hooks.
func hooked(t *testing.T, hooks []hook.Hook, scripts ...string) stage {
	t.Helper()
	runner := proc.NewRunner(proc.Options{})
	t.Cleanup(runner.Close)
	home := t.TempDir()
	for i := range hooks {
		hooks[i].Timeout = time.Minute
	}
	return stage{
		scripts: scripts,
		options: acp.Options{Hooks: func(s acp.HookSpec) acp.Hooks {
			return hook.New(hook.Options{
				Hooks: func() []hook.Hook { return hooks }, Runner: runner, SessionID: s.SessionID, Roots: s.Roots, Home: home,
				Environ: os.Environ(), Trusted: s.Trusted, Send: s.Send, Logger: slog.New(slog.DiscardHandler),
			})
		}},
		newSoul: func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
			return soul.New(soul.Config{
				SessionID: spec.SessionID, Provider: p, Wire: spec.Wire, Tools: spec.Executor.Specs(), Hooks: spec.Hooks,
				Session: spec.Session, System: "test", Logger: slog.New(slog.DiscardHandler),
			}), nil
		},
	}
}

func TestHooksInAnEditor(t *testing.T) {
	const write = `tool_call: {"id":"w","name":"WriteFile","arguments":"{\"path\":\"a.txt\",\"content\":\"hi\\n\"}"}`
	s := hooked(t, []hook.Hook{
		{Event: "PreToolUse", Matcher: "^WriteFile$", Line: "grep -q a.txt && echo 'a.txt is ours' >&2 && exit 2"},
		{Event: "UserPromptSubmit", Matcher: "password", Line: "echo 'no secrets, please' >&2; exit 2"},
		{Event: "Stop", Line: `grep -q '"stop_hook_active":false' && test ! -e sent && touch sent && echo 'run the tests first' >&2 && exit 2`},
	}, write, "text: Not written.", "text: The tests pass.", "text: unreached").session(t)
	turn := s.Prompt(acptest.Text("write it"))
	if reason := turn.Wait(); reason != "end_turn" || turn.Text() != "Not written.The tests pass." {
		t.Errorf("ended with %s, said %q", reason, turn.Text())
	}
	if calls := turn.Calls(); len(calls) != 1 || calls[0].Status != "failed" || !strings.Contains(calls[0].Text(), "a.txt is ours") {
		t.Errorf("the calls are %+v", calls)
	}
	turn = s.Prompt(acptest.Text("the password is x"))
	if reason := turn.Wait(); reason != "end_turn" || turn.Text() != "no secrets, please" {
		t.Errorf("ended with %s, said %q", reason, turn.Text())
	}
}

func TestHooksOfASession(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	if err := syscall.Mkfifo(told, 0o600); err != nil {
		t.Fatal(err)
	}
	hears := func() string {
		raw, err := os.ReadFile(told) // waits for the hook
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	st := hooked(t, []hook.Hook{
		{Event: "SessionStart", Line: "cat > '" + told + "'"},
		{Event: "SessionEnd", Line: "cat > '" + told + "'"},
		{Event: "Notification", Matcher: "permission_prompt", Line: "cat > '" + told + "'"},
	}, `tool_call: {"id":"w","name":"WriteFile","arguments":"{\"path\":\"a.txt\",\"content\":\"hi\\n\"}"}`, "text: ok")
	c := st.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	if got := hears(); !strings.Contains(got, `"source":"startup"`) || !strings.Contains(got, `"session_id":"`+s.ID+`"`) {
		t.Errorf("the beginning was told as %s", got)
	}
	turn := s.Prompt(acptest.Text("write it"))
	if got := hears(); !strings.Contains(got, `"notification_type":"permission_prompt"`) {
		t.Errorf("the question was told as %s", got)
	}
	turn.Wait()
	closed := c.Request("session/close", map[string]any{"sessionId": s.ID})
	if got := hears(); !strings.Contains(got, `"hook_event_name":"SessionEnd"`) {
		t.Errorf("the end was told as %s", got)
	}
	closed.Wait()
}
