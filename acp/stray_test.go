package acp_test

import (
	"context"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// An approval that is asked for while no prompt runs is not put to the editor: there
// is no turn that could wait for the answer.
func TestApprovalOutsideATurn(t *testing.T) {
	wires := make(chan *wire.Wire, 1)
	c := stage{newSoul: func(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) {
		wires <- spec.Wire
		return behaving{}, nil
	}}.serve(t)
	c.Initialize(both)
	c.NewSession(t.TempDir())
	answer, err := (<-wires).Approve(t.Context(), wire.ApprovalRequest{ToolCallID: "x", Sender: "Shell", Action: "run command", Description: "Run `make`"})
	if err != nil || answer.Response != wire.ApprovalReject {
		t.Errorf("answered %+v, %v", answer, err)
	}
	fence(c)
	if n := len(asked(t, c, "session/request_permission")); n != 0 {
		t.Errorf("the editor was asked %d times", n)
	}
}

// Arguments that belong to no call do not change one that is over.
func TestArgumentsBehindTheEndOfACall(t *testing.T) {
	c := stage{newSoul: func(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) {
		return behaving{run: func(context.Context, soul.Input) (soul.Outcome, error) {
			args, more := `{"path":"a.txt","content":"`, strings.Repeat("x", 1000)
			spec.Wire.Send(wire.ToolCall{Call: llm.ToolCall{ID: "w", Name: "WriteFile", Arguments: &args}})
			spec.Wire.Send(wire.ToolResult{ToolCallID: "w", ReturnValue: wire.ToolReturnValue{Message: "done"}})
			spec.Wire.Send(wire.ToolCallPart{ArgumentsPart: &more})
			return soul.Outcome{}, nil
		}}, nil
	}}.serve(t)
	c.Initialize(both)
	turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
	turn.Wait()
	var last acptest.Update
	for _, u := range turn.Updates() {
		if u.CallID != "" {
			last = u
		}
	}
	if !strings.Contains(string(last.Raw), `"status":"completed"`) {
		t.Errorf("behind the end came %s", last.Raw)
	}
}
