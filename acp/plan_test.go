package acp_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
)

// planned is the call that sets a plan: b and c go side by side behind a, d behind both.
func planned(t *testing.T) modeltest.Part {
	t.Helper()
	item := func(id string, after ...string) map[string]any {
		return map[string]any{"title": "step " + id, "status": "pending", "id": id, "depends_on": after}
	}
	raw, err := json.Marshal(map[string]any{"todos": []any{item("a"), item("b", "a"), item("c", "a"), item("d", "b", "c"), item("e")}})
	if err != nil {
		t.Fatal(err)
	}
	return modeltest.Call(0, "todo", "SetTodoList", string(raw))
}

// statuses are the plans that a turn showed, a letter for each entry.
func statuses(turn *acptest.Turn) []string { return statusesOf(turn.Updates()) }

func statusesOf(updates []acptest.Update) (all []string) {
	for _, u := range updates {
		if u.Kind != "plan" {
			continue
		}
		var plan struct{ Entries []struct{ Status string } }
		if json.Unmarshal(u.Raw, &plan) != nil {
			continue
		}
		s := ""
		for _, e := range plan.Entries {
			s += e.Status[:1]
		}
		all = append(all, s)
	}
	return all
}

// A plan that the user agreed to is done by agents, side by side where it can be; the
// editor's plan follows. A step that fails keeps back only what depends on it.
func TestPlanIsDoneByAgents(t *testing.T) {
	server := modeltest.New(t)
	var mu sync.Mutex
	var prompts []string
	met := make(chan struct{})
	arrived := make(chan struct{}, 2)
	go func() { <-arrived; <-arrived; close(met) }()
	broken := true
	server.Answer(func(r *modeltest.Request) modeltest.Reply {
		prompt, agents := forAgents(r)
		last := r.Chat.Messages[len(r.Chat.Messages)-1].Text()
		switch {
		case agents:
			mu.Lock()
			defer mu.Unlock()
			prompts = append(prompts, prompt)
			_, step, _ := strings.Cut(prompt, "Your step: step ")
			switch {
			case broken && step[0] == 'b':
				arrived <- struct{}{}
				return modeltest.Reply{Status: 400, Body: `{"error":{"message":"no"}}`}
			case broken && step[0] == 'c':
				arrived <- struct{}{}
				return calls(modeltest.Gate(met), modeltest.Text(longAnswer))
			}
			return saysText("Step " + step[:1] + ". " + longAnswer)
		case last == "plan":
			return calls(planned(t))
		case last == "do it":
			return calls(modeltest.Call(0, "run", "RunPlan", `{"context":"the goal","review":false}`))
		}
		return saysText(strings.TrimPrefix(last, "<system>"))
	})
	c := withAgents(t, server, nil).serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	asked := make(chan acptest.Permission, 2)
	c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
		asked <- p
		return acptest.Choose("allow_once")(ctx, p)
	}
	s.Prompt(acptest.Text("plan")).Wait()
	turn := s.Prompt(acptest.Text("do it"))
	if got := turn.Wait(); got != "end_turn" {
		t.Fatalf("ended with %s", got)
	}
	if p := <-asked; !strings.Contains(string(p.ToolCall), `- step a\n- step b\n- step c\n- step d\n- step e`) {
		t.Errorf("asked with %s", p.ToolCall)
	}
	shown := statuses(turn)
	if last := shown[len(shown)-1]; last != "cpcpc" {
		t.Errorf("the plan showed as %v", shown)
	}
	if text := turn.Text(); !strings.Contains(text, "step a: done\nstep b: pending\nstep c: done\nstep d: pending\nstep e: done\n") || !strings.Contains(text, "[b] step b (failed, agent_id a") {
		t.Errorf("the model read %s", text)
	}
	mu.Lock()
	broken = false
	prompts = nil
	mu.Unlock()

	// It goes on where it was, also after the session was opened again.
	c.Request("session/close", map[string]any{"sessionId": s.ID}).Result(nil)
	turn = c.LoadSession(s.ID, s.Cwd).Prompt(acptest.Text("do it"))
	turn.Wait()
	if p := <-asked; !strings.Contains(string(p.ToolCall), `\n\n- step b\n- step d`) {
		t.Errorf("asked with %s", p.ToolCall)
	}
	if shown = statuses(turn); shown[len(shown)-1] != "ccccc" {
		t.Errorf("the plan showed as %v", shown)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(prompts) != 2 || !strings.Contains(prompts[1], "What came of the step before it, step b:\nStep b. ") {
		t.Errorf("the agents were asked %q", prompts)
	}
}

// Cancelling the turn cancels the steps that run, and leaves the plan to be gone on with.
func TestCancelOfAPlan(t *testing.T) {
	server := modeltest.New(t)
	server.Answer(func(r *modeltest.Request) modeltest.Reply {
		_, agents := forAgents(r)
		switch last := r.Chat.Messages[len(r.Chat.Messages)-1].Text(); {
		case agents:
			return calls(modeltest.Text("hm"), modeltest.Stall())
		case last == "plan":
			return calls(planned(t))
		case last == "do it":
			return calls(modeltest.Call(0, "run", "RunPlan", `{"context":"the goal","review":false}`))
		}
		return saysText("yes")
	})
	s := withAgents(t, server, nil).session(t)
	s.Prompt(acptest.Text("plan")).Wait()
	turn := s.Prompt(acptest.Text("do it"))
	turn.Until("two steps that run", func(u acptest.Update) bool {
		return u.Kind == "plan" && strings.Count(string(u.Raw), "in_progress") == 2
	})
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
	if shown := statuses(turn); shown[len(shown)-1] != "ppppp" {
		t.Errorf("the plan showed as %v", shown)
	}
	if got := s.Prompt(acptest.Text("next")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
}
