//go:build kernels

package kerneltest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/session"
)

// script has kimi-cli's next process answer so, one text a model call.
func (s *stage) script(t *testing.T, answers ...string) {
	t.Helper()
	raw, err := json.Marshal(answers)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(filepath.Dir(s.share), "scripts.json"), raw, 0o600))
}

// calling is an answer that calls a tool.
func calling(t *testing.T, id, name, arguments string) string {
	t.Helper()
	call, err := json.Marshal(map[string]string{"id": id, "name": name, "arguments": arguments})
	check(t, err)
	return "text: " + name + " it is.\nusage: input_other=100 output=20\ntool_call: " + string(call)
}

func saying(text string) string { return "text: " + text + "\nusage: input_other=200 output=30" }

// editor starts our program with kimi-cli as its kernel, and gives an editor before it.
func (s *stage) editor(t *testing.T) *acptest.Client {
	t.Helper()
	c := acptest.Start(t, acptest.Process{Path: program.Path(t), Args: []string{"--kernel", "python"}, Dir: s.dir, Env: []string{
		"KIMI_SHARE_DIR=" + s.share, "KIMI_KERNEL_BIN=" + s.kimi,
	}})
	c.Initialize(acptest.Capabilities{ReadTextFile: true, WriteTextFile: true, ElicitationForm: true})
	return c
}

// kimi-cli thinks, and an editor sees what it sees of the built-in kernel.
func TestKimiAsKernel(t *testing.T) {
	s := newStage(t)
	s.script(t,
		saying("Hello from kimi."),
		calling(t, "edit-1", "WriteFile", `{"path": "hello.txt", "content": "hello\n"}`), saying("Written."),
		calling(t, "ask-1", "AskUserQuestion", `{"questions": [{"question": "Tabs?", "header": "Style", "options": [{"label": "Yes", "description": "tabs"}, {"label": "No", "description": "blanks"}]}]}`), saying("Asked."),
		calling(t, "run-1", "Shell", `{"command": "sleep 300"}`),
	)
	c := s.editor(t)
	asked := 0
	c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
		asked++
		return acptest.Choose("allow_once")(ctx, p)
	}
	questions := 0
	c.Handle("elicitation/create", func(context.Context, json.RawMessage) (any, error) {
		questions++
		return json.RawMessage(`{"action":"accept","content":{"q1":"No"}}`), nil
	})
	talk := c.NewSession(s.dir)
	turn := func(words, want string) *acptest.Turn {
		t.Helper()
		turn := talk.Prompt(acptest.Text(words))
		if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), want) {
			t.Fatalf("%q: ended with %s, and said %q", words, got, turn.Text())
		}
		return turn
	}
	turn("Say hello", "Hello from kimi.")
	turn("Write hello.txt", "Written.")
	if w := c.Writes(); len(w) != 1 || w[0].Text != "hello\n" {
		t.Errorf("the editor wrote %v", w)
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
	turn("Ask me", "Asked.")
	if questions != 1 {
		t.Errorf("%d forms, want 1", questions)
	}
	hanging := talk.Prompt(acptest.Text("Run it"))
	hanging.Until("the command runs", func(u acptest.Update) bool { return u.Status == "in_progress" })
	talk.Cancel()
	if got := hanging.Wait(); got != "cancelled" {
		t.Errorf("the cancelled turn ended with %s", got)
	}
	c.Request("session/close", map[string]any{"sessionId": talk.ID}).Result(nil)
	c.Close()

	// Another process of both goes on.
	s.script(t, saying("I remember."))
	again := s.editor(t)
	loaded := again.LoadSession(talk.ID, s.dir)
	resumed := loaded.Prompt(acptest.Text("Do you remember?"))
	if got := resumed.Wait(); got != "end_turn" || !strings.Contains(resumed.Text(), "I remember.") {
		t.Errorf("ended with %s, and said %q", got, resumed.Text())
	}
	again.Request("session/close", map[string]any{"sessionId": talk.ID}).Result(nil)
	again.Close()
	r, err := s.store.Read(s.dir, kernel.SessionID(talk.ID))
	check(t, err)
	defer r.Close()
	h, err := r.History()
	check(t, err)
	if got := said(h.Messages); !strings.HasPrefix(got, "Say hello|Hello from kimi.|Write hello.txt") || !strings.HasSuffix(got, "Do you remember?|I remember.") {
		t.Errorf("kimi-cli keeps %q", got)
	}
	page, err := s.store.List(session.ListOptions{WorkDir: s.dir})
	check(t, err)
	if len(page.Sessions) != 1 || page.Sessions[0].ID != talk.ID {
		t.Errorf("listed: %+v", page.Sessions)
	}
}
