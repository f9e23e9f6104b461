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
	"kimi-acp/soul/subagent"
)

// usualAgents are those that come with the program.
func usualAgents(acp.AgentsSpec) (acp.Agents, error) { return acp.Agents{Types: subagent.Types()}, nil }

// withAgents is an agent whose model can start others, which have the same model.
func withAgents(t *testing.T, server *modeltest.Server, change func(*subagent.Options)) stage {
	t.Helper()
	newSoul := recovering(t, server)
	return stage{
		options: acp.Options{Agents: usualAgents},
		newSoul: func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
			var made soul.Soul
			o := subagent.Options{
				Wire: spec.Wire, Executor: spec.Executor, Types: subagent.Types(), Tasks: spec.Tasks,
				Model:   func() llm.Provider { return made.(*soul.Builtin).Model() },
				System:  func() string { return "test" },
				WorkDir: spec.Roots[0],
				Dir: func() string {
					if dir := spec.OwnDir(); dir != "" {
						return filepath.Join(dir, "agents")
					}
					return ""
				},
			}
			if change != nil {
				change(&o)
			}
			spec.Executor.UseAgents(subagent.New(o))
			var err error
			made, err = newSoul(spec, p)
			return made, err
		},
	}
}

// delegate is a call of the Agent tool.
func delegate(t *testing.T, index int, id string, args map[string]any) modeltest.Part {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return modeltest.Call(index, id, "Agent", string(raw))
}

func calls(parts ...modeltest.Part) modeltest.Reply { return modeltest.Reply{Parts: parts} }

// forAgents tells the requests of agents from those of the session, by their words.
func forAgents(r *modeltest.Request) (prompt string, ok bool) {
	if !strings.Contains(r.Chat.Messages[0].Text(), "Another agent has started you") {
		return "", false
	}
	return r.Chat.Messages[1].Text(), true
}

// answered is the result of the last tool call that the model was sent.
func answered(r *modeltest.Request) string {
	last := r.Chat.Messages[len(r.Chat.Messages)-1]
	if last.Role != "tool" {
		return ""
	}
	return last.Text()
}

var longAnswer = "I wrote it. " + strings.Repeat("It was done with care. ", 10)

// An agent's edit is a call of its own within the call that started the agent, asked for
// with its name; its answer is what the session's model reads.
func TestAgentEdits(t *testing.T) {
	server := modeltest.New(t)
	var read string
	server.Answer(func(r *modeltest.Request) modeltest.Reply {
		prompt, agents := forAgents(r)
		switch {
		case agents && answered(r) == "":
			if prompt != "write a.txt" {
				t.Errorf("the agent was asked %q", prompt)
			}
			return calls(modeltest.Text("I begin."), modeltest.Call(0, "c", "WriteFile", `{"path":"a.txt","content":"x\n"}`))
		case agents:
			return saysText(longAnswer)
		case answered(r) == "":
			return calls(delegate(t, 0, "c", map[string]any{"description": "write it", "prompt": "write a.txt"}))
		}
		read = answered(r)
		return saysText("done")
	})
	c := withAgents(t, server, nil).serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	asked := make(chan acptest.Permission, 1)
	c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
		asked <- p
		return acptest.Choose("allow_once")(ctx, p)
	}
	turn := s.Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" || turn.Text() != "done" {
		t.Errorf("ended with %s, said %q", got, turn.Text())
	}
	if p := <-asked; !strings.HasPrefix(p.Title, "Agent coder (write it): ") {
		t.Errorf("asked as %q", p.Title)
	}
	if text, err := os.ReadFile(filepath.Join(s.Cwd, "a.txt")); err != nil || string(text) != "x\n" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
	for _, want := range []string{"actual_subagent_type: coder\nstatus: completed\n\n[summary]\n" + strings.TrimSpace(longAnswer), "agent_id: a"} {
		if !strings.Contains(read, want) {
			t.Errorf("the model read %q, which lacks %q", read, want)
		}
	}
	shown := turn.Calls()
	if len(shown) != 2 || shown[0].Status != "completed" || shown[1].Status != "completed" {
		t.Fatalf("shown are %+v", shown)
	}
	if !strings.Contains(string(shown[1].Meta), `"type":"coder","toolCallId":"c"`) {
		t.Errorf("the nested call says %s of itself", shown[1].Meta)
	}
	turn.Until("what its agent does in the call", func(u acptest.Update) bool {
		return u.CallID == "c" && strings.Contains(string(u.Raw), "I begin.\\n- Write `a.txt`\"")
	})
	if content := shown[0].Content; len(content) != 1 || content[0].Content.Text != strings.TrimSpace(longAnswer) {
		t.Errorf("the call shows at last %+v", content)
	}
	// What was shown is shown again.
	c.Request("session/close", map[string]any{"sessionId": s.ID}).Result(nil)
	again := c.LoadSession(s.ID, s.Cwd)
	if folded := acptest.Fold(again.Updates()); len(folded) != 2 || folded[1].Status != "completed" || string(folded[1].Meta) != string(shown[1].Meta) {
		t.Errorf("shown again are %+v", folded)
	}
}

// Agents started in one message work side by side, and one that fails takes nothing from
// the other: what it had said is kept.
func TestAgentsSideBySide(t *testing.T) {
	server := modeltest.New(t)
	met := make(chan struct{})
	both := make(chan string, 2)
	go func() { <-both; <-both; close(met) }()
	var read []string
	server.Answer(func(r *modeltest.Request) modeltest.Reply {
		prompt, agents := forAgents(r)
		switch {
		case agents && answered(r) == "":
			both <- prompt
			return calls(modeltest.Gate(met), modeltest.Text("Found so far: "+prompt), modeltest.Call(0, "c", "Glob", `{"pattern":"*"}`))
		case agents && prompt == "one":
			return modeltest.Reply{Status: 400, Body: `{"error":{"message":"no"}}`}
		case agents:
			return saysText(longAnswer)
		case answered(r) == "":
			return calls(
				delegate(t, 0, "c", map[string]any{"description": "one", "prompt": "one", "subagent_type": "explore"}),
				delegate(t, 1, "d", map[string]any{"description": "two", "prompt": "two", "subagent_type": "explore"}))
		}
		for _, m := range r.Chat.Messages {
			if m.Role == "tool" {
				read = append(read, m.Text())
			}
		}
		return saysText("done")
	})
	s := withAgents(t, server, nil).session(t)
	turn := s.Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" {
		t.Fatalf("ended with %s", got)
	}
	if len(read) != 2 || !strings.Contains(read[0], "ERROR: The agent did not finish: its model failed") || !strings.Contains(read[0], "[what it had said last]\nFound so far: one") || !strings.Contains(read[1], "status: completed") {
		t.Errorf("the model read %q", read)
	}
	if shown := turn.Calls(); len(shown) != 2 || shown[0].Status != "failed" || shown[1].Status != "completed" {
		t.Errorf("shown are %+v", shown)
	}
}

// An agent that used up its steps answers once more, and can be resumed with what it
// knows, also after the session was opened again.
func TestAgentIsResumed(t *testing.T) {
	server := modeltest.New(t)
	var read []string
	var knew string
	server.Answer(func(r *modeltest.Request) modeltest.Reply {
		last := r.Chat.Messages[len(r.Chat.Messages)-1].Text()
		_, agents := forAgents(r)
		switch {
		case agents && strings.Contains(last, "Your budget is used up"):
			return saysText("Half of it is done.")
		case agents && last == "the rest":
			for _, m := range r.Chat.Messages {
				knew += m.Text() + "\n"
			}
			return saysText(longAnswer)
		case agents:
			return calls(modeltest.Call(0, "c", "Glob", `{"pattern":"*"}`))
		case last == "go":
			return calls(delegate(t, 0, "c", map[string]any{"description": "it", "prompt": "all of it", "subagent_type": "explore"}))
		case last == "go on":
			_, id, _ := strings.Cut(read[0], "agent_id: ")
			id, _, _ = strings.Cut(id, "\n")
			return calls(delegate(t, 0, "d", map[string]any{"description": "rest", "prompt": "the rest", "resume": id}))
		}
		read = append(read, answered(r))
		return saysText("done")
	})
	c := withAgents(t, server, func(o *subagent.Options) { o.MaxSteps = 2 }).serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	s.Prompt(acptest.Text("go")).Wait()
	if len(read) != 1 || !strings.Contains(read[0], "it used up its 2 steps") || !strings.Contains(read[0], "Half of it is done.") {
		t.Fatalf("the model read %q", read)
	}
	c.Request("session/close", map[string]any{"sessionId": s.ID}).Result(nil)
	c.LoadSession(s.ID, s.Cwd).Prompt(acptest.Text("go on")).Wait()
	if !strings.Contains(knew, "all of it\n") || !strings.Contains(knew, "Half of it is done.") {
		t.Errorf("the resumed agent knew %q", knew)
	}
	if len(read) != 2 || !strings.Contains(read[1], "resumed: true\nrequested_subagent_type: coder\nactual_subagent_type: explore\nstatus: completed") {
		t.Errorf("the model read %q", read)
	}
}

// Cancelling the turn cancels its agents, wherever they are; nothing of them is left.
func TestCancelEndsAgents(t *testing.T) {
	for name, until := range map[string]func(acptest.Update) bool{
		"while its model thinks":  func(u acptest.Update) bool { return u.CallID == "c" && u.Status == "in_progress" },
		"while its command runs":  func(u acptest.Update) bool { return strings.HasSuffix(u.CallID, "/s") && u.Status == "in_progress" },
		"while it is asked about": nil,
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.New(t)
			thinks := name == "while its model thinks"
			server.Answer(func(r *modeltest.Request) modeltest.Reply {
				_, agents := forAgents(r)
				switch {
				case agents && thinks:
					return calls(modeltest.Text("hm"), modeltest.Stall())
				case agents:
					return calls(modeltest.Call(0, "s", "Shell", `{"command":"sleep 1000"}`))
				case r.Chat.Messages[len(r.Chat.Messages)-1].Text() == "next":
					return saysText("here I am")
				}
				return calls(delegate(t, 0, "c", map[string]any{"description": "it", "prompt": "it"}))
			})
			c := withAgents(t, server, nil).serve(t)
			c.Initialize(acptest.Capabilities{})
			s := c.NewSession(t.TempDir())
			asked := make(chan struct{})
			if until == nil {
				c.OnPermission = func(ctx context.Context, _ acptest.Permission) acptest.Answer {
					close(asked)
					<-ctx.Done()
					return acptest.Answer{}
				}
			}
			turn := s.Prompt(acptest.Text("go"))
			if until == nil {
				<-asked
			} else {
				turn.Until("the place to cancel at", until)
			}
			s.Cancel()
			if got := turn.Wait(); got != "cancelled" {
				t.Errorf("ended with %s", got)
			}
			for _, call := range turn.Calls() {
				if call.Status != "failed" {
					t.Errorf("left is %+v", call)
				}
			}
			next := s.Prompt(acptest.Text("next"))
			if got := next.Wait(); got != "end_turn" || next.Text() != "here I am" {
				t.Errorf("the next turn ended with %s, said %q", got, next.Text())
			}
		})
	}
}

// An agent that only looks changes nothing, also by commands.
func TestAgentThatOnlyLooks(t *testing.T) {
	server := modeltest.New(t)
	var results []string
	server.Answer(func(r *modeltest.Request) modeltest.Reply {
		_, agents := forAgents(r)
		switch {
		case agents && answered(r) == "":
			for _, tl := range r.Chat.Tools {
				if tl.Function.Name == "WriteFile" || tl.Function.Name == "Agent" {
					t.Errorf("it is offered %s", tl.Function.Name)
				}
			}
			return calls(
				modeltest.Call(0, "a", "Shell", `{"command":"touch x"}`),
				modeltest.Call(1, "b", "WriteFile", `{"path":"x","content":""}`))
		case agents:
			for _, m := range r.Chat.Messages {
				if m.Role == "tool" {
					results = append(results, m.Text())
				}
			}
			return saysText(longAnswer)
		case answered(r) == "":
			return calls(delegate(t, 0, "c", map[string]any{"description": "look", "prompt": "look", "subagent_type": "explore"}))
		}
		return saysText("done")
	})
	s := withAgents(t, server, nil).session(t)
	s.Prompt(acptest.Text("go")).Wait()
	if len(results) != 2 || !strings.Contains(results[0], "only looks") || !strings.Contains(results[1], "not found") {
		t.Errorf("it was told %q", results)
	}
	if _, err := os.Stat(filepath.Join(s.Cwd, "x")); err == nil {
		t.Error("there is a file")
	}
}

// An agent in the background works between turns. What it needs the user for waits for a
// turn, in which it is asked with its name, and again in the next if nobody answered; at
// the end the model reads what it said.
func TestAgentInTheBackground(t *testing.T) {
	server := modeltest.New(t)
	firstOver, secondOver, thirdOver := make(chan struct{}), make(chan struct{}), make(chan struct{})
	server.Answer(func(r *modeltest.Request) modeltest.Reply {
		last := r.Chat.Messages[len(r.Chat.Messages)-1].Text()
		_, agents := forAgents(r)
		switch {
		case agents && answered(r) == "":
			return calls(modeltest.Gate(firstOver), modeltest.Call(0, "c", "WriteFile", `{"path":"a.txt","content":"x\n"}`))
		case agents:
			return saysText(longAnswer)
		case last == "go":
			return calls(delegate(t, 0, "c", map[string]any{"description": "write it", "prompt": "write", "run_in_background": true}))
		case last == "second":
			return calls(modeltest.Gate(secondOver), modeltest.Text("yes"))
		case last == "third":
			return calls(modeltest.Gate(thirdOver), modeltest.Text("yes"))
		}
		return saysText("yes")
	})
	var tasks *background.Tasks
	c := withAgents(t, server, func(o *subagent.Options) { tasks = o.Tasks }).serve(t)
	c.AllowDrafts()
	c.Initialize(acptest.Capabilities{Notices: true})
	s := c.NewSession(t.TempDir())
	asked, answer := make(chan acptest.Permission), make(chan string)
	c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
		asked <- p
		select {
		case id := <-answer:
			return acptest.Answer{OptionID: id}
		case <-ctx.Done():
			return acptest.Answer{Silent: true}
		}
	}
	s.Prompt(acptest.Text("go")).Wait()
	close(firstOver)
	s.Until("a notice", func(u acptest.Update) bool {
		return u.Kind == "notice" && strings.Contains(string(u.Raw), "Agent coder (write it) waits in the background")
	})
	if got := tasks.List(true)[0].Status; got != background.Awaiting {
		t.Errorf("its task is %s", got)
	}
	for _, over := range []chan struct{}{secondOver, thirdOver} {
		prompt := map[chan struct{}]string{secondOver: "second", thirdOver: "third"}[over]
		turn := s.Prompt(acptest.Text(prompt))
		if p := <-asked; !strings.HasPrefix(p.Title, "Agent coder (write it): ") {
			t.Errorf("%s: asked as %q", prompt, p.Title)
		}
		if over == thirdOver {
			answer <- "allow_once"
			if _, err := tasks.Wait(t.Context(), nil, true); err != nil {
				t.Fatal(err)
			}
		}
		close(over)
		if got := turn.Wait(); got != "end_turn" {
			t.Errorf("%s ended with %s", prompt, got)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.Cwd, "a.txt")); err != nil || string(text) != "x\n" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
	s.Prompt(acptest.Text("fourth")).Wait()
	if told := lastAsked(server); !strings.Contains(told, "Background agent completed: write it") || !strings.Contains(told, strings.TrimSpace(longAnswer)) {
		t.Errorf("the model was told %s", told)
	}
}
