package wireserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

type promptResult struct {
	Status string `json:"status"`
	Steps  *int   `json:"steps,omitempty"`
}

// prompt runs a turn. It is occupied before the next line is looked at, so that a
// cancel in the same packet finds it.
func (s *server) prompt(call *jsonrpc.Call) {
	in, err := userInput(call)
	if err != nil {
		call.Reply(nil, err)
		return
	}
	ctx, done, ok := s.begin(prompting)
	if !ok {
		call.Reply(nil, errRunning())
		return
	}
	call.Go(func(context.Context) (any, error) {
		result, err := s.turn(ctx, in)
		done() // first: a cancel behind the answer must not find this turn
		return result, err
	})
}

// turn runs a turn to its end, and says what came of it.
func (s *server) turn(ctx context.Context, in soul.Input) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("bug: a turn panicked", "panic", p, "stack", string(debug.Stack()))
			result, err = nil, promptError(fmt.Errorf("panic: %v", p))
		}
	}()
	defer s.forgetRequests()
	s.desk.beginTurn()
	out, err := s.soul.Run(ctx, in)
	s.keepState(in, out, err)
	switch {
	case ctx.Err() != nil && (err != nil || out.Stop == soul.StopCancelled):
		return promptResult{Status: "cancelled"}, nil
	case err != nil:
		s.log.Warn("a turn failed", "error", err)
		return nil, promptError(err)
	case out.Stop == soul.StopMaxSteps:
		return promptResult{Status: "max_steps_reached", Steps: &out.Steps}, nil
	}
	return promptResult{Status: "finished"}, nil
}

// keepState writes what a turn changed of the session's settings.
func (s *server) keepState(in soul.Input, out soul.Outcome, failed error) {
	kept := s.opts.Kept
	title := ""
	if failed == nil && out.Stop != soul.StopCancelled && kept.State().CustomTitle == "" && !strings.HasPrefix(in.Text, "/") {
		title = session.ShortTitle(in.Text)
	}
	todos := session.TodosOf(s.executor.Plan())
	if title == "" && slices.Equal(todos, kept.State().Todos) {
		return
	}
	if err := kept.UpdateState(func(st *session.State) {
		if title != "" {
			st.CustomTitle = title
		}
		st.Todos = todos
	}); err != nil {
		s.log.Warn("the state of the session was not kept", "error", err)
	}
}

// restorePlan puts the to-do list of the session back.
func (s *server) restorePlan() {
	s.executor.SetPlan(tool.PlanKept(s.opts.Kept.Restored().Messages, s.opts.Kept.State().TodoItems()))
}

// steer puts input into the turn that runs.
func (s *server) steer(call *jsonrpc.Call) {
	in, err := userInput(call)
	switch {
	case err != nil:
		call.Reply(nil, err)
	case s.busyWith(prompting) && s.soul.Steer(in), s.busyWith(replaying):
		call.Reply(promptResult{Status: "steered"}, nil)
	default:
		call.Reply(nil, errNothingRuns())
	}
}

func (s *server) busyWith(a activity) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running == a
}

// cancelTurn ends what runs. The answer goes first.
func (s *server) cancelTurn(call *jsonrpc.Call) {
	s.mu.Lock()
	cancel := s.cancel
	s.mu.Unlock()
	if cancel == nil {
		call.Reply(nil, errNothingRuns())
		return
	}
	call.Reply(struct{}{}, nil)
	cancel()
}

type planModeResult struct {
	Status   string `json:"status"`
	PlanMode bool   `json:"plan_mode"`
}

// setPlanMode turns plan mode on or off, also while a turn runs.
func (s *server) setPlanMode(call *jsonrpc.Call) {
	var p struct {
		Enabled *laxBool `json:"enabled"`
	}
	if err := json.Unmarshal(call.Params(), &p); err != nil || p.Enabled == nil {
		call.Reply(nil, jsonrpc.Wire.InvalidParams(call.Method()))
		return
	}
	on := bool(*p.Enabled)
	s.switches.Turn(soul.SwitchPlan, on)
	call.Go(func(context.Context) (any, error) {
		s.wire.Send(wire.StatusUpdate{PlanMode: &on})
		return planModeResult{Status: "ok", PlanMode: on}, nil
	})
}

// userInput reads the params of prompt and steer.
func userInput(call *jsonrpc.Call) (soul.Input, error) {
	var p struct {
		UserInput json.RawMessage `json:"user_input"`
	}
	invalid := jsonrpc.Wire.InvalidParams(call.Method())
	if json.Unmarshal(call.Params(), &p) != nil {
		return soul.Input{}, invalid
	}
	raw := bytes.TrimSpace(p.UserInput)
	if len(raw) == 0 || raw[0] != '"' && raw[0] != '[' {
		return soul.Input{}, invalid
	}
	var u wire.UserInput
	if json.Unmarshal(raw, &u) != nil {
		return soul.Input{}, invalid
	}
	if raw[0] == '"' {
		return soul.Input{Text: u.Text, Parts: []llm.Part{llm.Text(u.Text)}}, nil
	}
	var texts []string
	for _, part := range u.Parts {
		if part.Type == llm.PartText {
			texts = append(texts, part.Text)
		}
	}
	return soul.Input{Text: strings.TrimSpace(strings.Join(texts, " ")), Parts: u.Parts, Listed: true}, nil
}
