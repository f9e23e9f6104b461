package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
	"kimi-acp/soul"
	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	store "kimi-acp/soul/session"
)

// untilGo is a command that ends once there is a file named go.
const untilGo = `echo up; until [ -e go ]; do sleep 0.01; done; echo finished; exit 3`

// detach is a reply that starts untilGo in the background.
func detach(t *testing.T, id string) modeltest.Reply {
	t.Helper()
	args, err := json.Marshal(map[string]any{"command": untilGo, "run_in_background": true, "description": "wait for go"})
	if err != nil {
		t.Fatal(err)
	}
	return modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, id, "Shell", string(args))}}
}

// lastAsked is what the model was sent last, all messages joined.
func lastAsked(server *modeltest.Server) string {
	all := server.Requests()
	var s strings.Builder
	for _, m := range all[len(all)-1].Chat.Messages {
		s.WriteString(m.Text() + "\n")
	}
	return s.String()
}

// What ends between turns is told by a notice at once, where the editor takes those, and
// to the model with the next prompt. Other editors hear of it in the next turn.
func TestBackgroundCommandEndsBetweenTurns(t *testing.T) {
	for name, notices := range map[string]bool{"with notices": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.New(t)
			server.Push(detach(t, "bg"), saysText("it runs"), saysText("I see"))
			var tasks *background.Tasks
			newSoul := recovering(t, server)
			c := stage{newSoul: func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
				tasks = spec.Tasks
				return newSoul(spec, p)
			}}.serve(t)
			c.AllowDrafts()
			c.Initialize(acptest.Capabilities{Notices: notices})
			s := c.NewSession(t.TempDir())
			turn := s.Prompt(acptest.Text("serve"))
			if got := turn.Wait(); got != "end_turn" || turn.Text() != "it runs" {
				t.Fatalf("ended with %s, said %q", got, turn.Text())
			}
			if call := turn.Calls()[0]; call.Status != "completed" || !strings.Contains(lastAsked(server), "task_id: bash-") {
				t.Errorf("the call is %+v; the model read %s", call, lastAsked(server))
			}
			if err := os.WriteFile(filepath.Join(s.Cwd, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			const title = "Background command failed: wait for go"
			if notices {
				s.Until("a notice", func(u acptest.Update) bool {
					return u.Kind == "notice" && strings.Contains(string(u.Raw), title)
				})
			} else {
				if _, err := tasks.Wait(t.Context(), nil, true); err != nil {
					t.Fatal(err)
				}
			}
			turn = s.Prompt(acptest.Text("and now?"))
			if got := turn.Wait(); got != "end_turn" || turn.Text() != "I see" {
				t.Errorf("ended with %s, said %q", got, turn.Text())
			}
			asked := lastAsked(server)
			if !strings.Contains(asked, title) || !strings.Contains(asked, "up\nfinished\n") || !strings.Contains(asked, "Exit code 3.") {
				t.Errorf("the model was told %s", asked)
			}
			if told := strings.Contains(turn.Thoughts(), title); told == notices {
				t.Errorf("the thoughts are %q", turn.Thoughts())
			}
		})
	}
}

// A session that is opened again tells what became of its work, and shows its output.
func TestBackgroundCommandEndsWithTheSession(t *testing.T) {
	server := modeltest.New(t)
	server.Push(detach(t, "bg"), saysText("it runs"), saysText("I see"))
	c := stage{newSoul: recovering(t, server), options: acp.Options{Sessions: store.NewStore(t.TempDir())}}.serve(t)
	c.Initialize(acptest.Capabilities{})
	s := c.NewSession(t.TempDir())
	turn := s.Prompt(acptest.Text("serve"))
	turn.Until("output", func(u acptest.Update) bool { return u.Status == "completed" })
	turn.Wait()
	c.Request("session/close", map[string]any{"sessionId": s.ID}).Result(nil)
	again := c.LoadSession(s.ID, s.Cwd)
	turn = again.Prompt(acptest.Text("and now?"))
	if got := turn.Wait(); got != "end_turn" {
		t.Errorf("ended with %s", got)
	}
	if !strings.Contains(turn.Thoughts(), "Background command was stopped: wait for go. ") || !strings.Contains(turn.Thoughts(), "The session ended.") {
		t.Errorf("the user was told %q", turn.Thoughts())
	}
	if asked := lastAsked(server); !strings.Contains(asked, `status="killed"`) {
		t.Errorf("the model was told %s", asked)
	}
}

// A rejected command is not started, in the background as elsewhere.
func TestBackgroundCommandIsAskedFor(t *testing.T) {
	server := modeltest.New(t)
	server.Push(detach(t, "bg"), saysText("well"))
	c := stage{newSoul: recovering(t, server)}.serve(t)
	c.Initialize(acptest.Capabilities{})
	s := c.NewSession(t.TempDir())
	asked := make(chan acptest.Permission, 1)
	c.OnPermission = func(_ context.Context, p acptest.Permission) acptest.Answer {
		asked <- p
		return acptest.Answer{OptionID: "reject_once"}
	}
	turn := s.Prompt(acptest.Text("serve"))
	turn.Wait()
	if p := <-asked; !strings.Contains(string(p.ToolCall), "It goes on in the background.") {
		t.Errorf("asked with %s", p.ToolCall)
	}
	if call := turn.Calls()[0]; call.Status != "failed" {
		t.Errorf("the call is %+v", call)
	}
}
