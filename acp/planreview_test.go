package acp_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
	store "kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// planScene is the model of a plan that is done by agents and reviewed: b fails, c is sent
// back once, so that d is blocked; a and e run side by side.
type planScene struct {
	t    *testing.T
	both chan struct{} // closed when a and e run

	mu      sync.Mutex
	running map[string]bool
	asked   []string // what the agents were asked, in short
	again   string   // what the agent of c was told when it was sent back
	hang    string   // steps that do not end
}

func newPlanScene(t *testing.T) *planScene {
	t.Helper()
	return &planScene{t: t, both: make(chan struct{}), running: map[string]bool{}}
}

func (p *planScene) answer(r *modeltest.Request) modeltest.Reply {
	last := r.Chat.Messages[len(r.Chat.Messages)-1].Text()
	if prompt, agents := forAgents(r); agents {
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, step, review := strings.Cut(prompt, "The step: step "); review {
			return p.review(step[:1])
		}
		_, step, _ := strings.Cut(prompt, "Your step: step ")
		return p.step(step[:1], last)
	}
	switch last {
	case "plan":
		return calls(planned(p.t))
	case "do it":
		return calls(modeltest.Call(0, "run", "RunPlan", `{"context":"the goal"}`))
	}
	return saysText(strings.TrimPrefix(last, "<system>"))
}

func (p *planScene) review(step string) modeltest.Reply {
	p.asked = append(p.asked, "review "+step)
	if step == "c" && p.again == "" {
		p.again = "asked for"
		return saysText("**AGAIN**: c.go has no test.\nSee c.go:3.")
	}
	return saysText("DONE")
}

func (p *planScene) step(step, last string) modeltest.Reply {
	p.asked = append(p.asked, step)
	if p.again == "asked for" && step == "c" {
		p.again = last
	}
	if strings.Contains(p.hang, step) {
		return calls(modeltest.Text("hm"), modeltest.Stall())
	}
	switch step {
	case "b":
		return modeltest.Reply{Status: 400, Body: `{"error":{"message":"no"}}`}
	case "a", "e":
		if !p.running[step] {
			p.running[step] = true
			if len(p.running) == 2 {
				close(p.both)
			}
		}
		return calls(modeltest.Gate(p.both), modeltest.Text(longAnswer))
	}
	return saysText(longAnswer)
}

// Each step that is said to be done is reviewed once; one that is sent back is done once
// more by the same agent, which is told why. The editor's plan follows, the recording
// tells all of it to others, and it stands as it did when the session is loaded.
func TestPlanIsReviewed(t *testing.T) {
	server, scene := modeltest.New(t), newPlanScene(t)
	server.Answer(scene.answer)
	sessions := store.NewStore(t.TempDir())
	st := withAgents(t, server, nil)
	st.options.Sessions = sessions
	c := st.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	c.OnPermission = acptest.Choose("allow_once")
	s.Prompt(acptest.Text("plan")).Wait()
	turn := s.Prompt(acptest.Text("do it"))
	if got := turn.Wait(); got != "end_turn" {
		t.Fatalf("ended with %s", got)
	}
	scene.mu.Lock()
	slices.Sort(scene.asked)
	if got := strings.Join(scene.asked, ", "); got != "a, b, b, c, c, e, review a, review c, review c, review e" {
		t.Errorf("asked: %s", got)
	}
	if !strings.Contains(scene.again, "is not done yet:\nc.go has no test.\nSee c.go:3.\n") {
		t.Errorf("the agent of c was told %q", scene.again)
	}
	scene.mu.Unlock()
	for _, want := range []string{
		"step a: done\nstep b: pending\nstep c: done\nstep d: pending\nstep e: done\n",
		"[a] step a (reviewed, agent_id a", "[b] step b (failed, agent_id a", "[c] step c (reviewed, agent_id a",
	} {
		if !strings.Contains(turn.Text(), want) {
			t.Errorf("the model did not read %q in %s", want, turn.Text())
		}
	}
	shown := statuses(turn)
	if !slices.Contains(shown, "ipppi") {
		t.Errorf("a and e did not run side by side: %v", shown)
	}
	if shown[len(shown)-1] != "cpcpc" {
		t.Errorf("the plan showed as %v", shown)
	}
	if sentBack := func(i int) bool { return shown[i][2] == 'c' && shown[i+1][2] == 'p' }; !slices.ContainsFunc(indexes(len(shown)-1), sentBack) {
		t.Errorf("the step that was sent back stayed completed: %v", shown)
	}
	if recorded := movesRecorded(t, sessions, s); recorded[len(recorded)-1] != "cpcpc" || len(recorded) < 14 {
		t.Errorf("recorded: %v", recorded)
	}
	c.Request("session/close", map[string]any{"sessionId": s.ID}).Result(nil)
	again := statusesOf(c.LoadSession(s.ID, s.Cwd).Updates())
	if !slices.Equal(again[len(again)-len(shown):], shown) {
		t.Errorf("loaded, the plan showed as %v, not as %v", again, shown)
	}
}

func indexes(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// movesRecorded are the states of the plan that the recording of a session tells, a letter
// for each step.
func movesRecorded(t *testing.T, sessions *store.Store, s *acptest.Session) (all []string) {
	t.Helper()
	r, err := sessions.Read(s.Cwd, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	letters := map[string]string{"done": "c", "in_progress": "i", "pending": "p"}
	for m, err := range r.Recording() {
		if err != nil {
			t.Fatal(err)
		}
		e, ok := m.Message.(wire.SubagentEvent)
		if !ok || !tool.IsPlanMove(e) {
			continue
		}
		if result, ok := e.Event.(wire.ToolResult); ok {
			state := ""
			for _, i := range result.ReturnValue.Display[0].Todo.Items {
				state += letters[i.Status]
			}
			all = append(all, state)
		}
	}
	return all
}

// A program that is killed while a plan is done knows, opened again, which steps were done.
func TestPlanOutlivesAKill(t *testing.T) {
	server, scene := modeltest.New(t), newPlanScene(t)
	scene.hang = "bc"
	server.Answer(scene.answer)
	share, copied := t.TempDir(), t.TempDir()
	st := withAgents(t, server, nil)
	st.options = acp.Options{Agents: st.options.Agents, Sessions: store.NewStore(share)}
	c := st.serve(t)
	c.Initialize(both)
	c.OnPermission = acptest.Choose("allow_once")
	s := c.NewSession(t.TempDir())
	s.Prompt(acptest.Text("plan")).Wait()
	turn := s.Prompt(acptest.Text("do it"))
	turn.Until("what is left runs", func(u acptest.Update) bool {
		return u.Kind == "plan" && strings.Join(statusesOf([]acptest.Update{u}), "") == "ciipc"
	})
	if err := os.CopyFS(copied, os.DirFS(share)); err != nil {
		t.Fatal(err)
	}
	s.Cancel()
	turn.Wait()

	scene.mu.Lock()
	scene.hang, scene.asked = "", nil
	scene.mu.Unlock()
	st.options.Sessions = store.NewStore(copied)
	c = st.serve(t)
	c.Initialize(both)
	c.OnPermission = acptest.Choose("allow_once")
	loaded := c.LoadSession(s.ID, s.Cwd)
	shown := statusesOf(loaded.Updates())
	if got := shown[len(shown)-1]; got != "cpppc" {
		t.Errorf("loaded, the plan showed as %v", shown)
	}
	turn = loaded.Prompt(acptest.Text("do it"))
	turn.Wait()
	scene.mu.Lock()
	defer scene.mu.Unlock()
	// The review of e may have been on its way when all was cancelled.
	scene.asked = slices.DeleteFunc(scene.asked, func(s string) bool { return s == "review e" })
	slices.Sort(scene.asked)
	if got := strings.Join(scene.asked, ", "); got != "b, b, c, c, review c, review c" {
		t.Errorf("asked: %s", got)
	}
}
