package playback

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/screen"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

func TestShow(t *testing.T) {
	call := func(id, command string) wire.ToolCall {
		arguments := `{"command":"` + command + `"}`
		return wire.ToolCall{Call: llm.ToolCall{ID: id, Name: "Shell", Arguments: &arguments}}
	}
	result := func(id string, v wire.ToolReturnValue) wire.ToolResult {
		return wire.ToolResult{ToolCallID: id, ReturnValue: v}
	}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	var out strings.Builder
	v := New(screen.New(&out, false, 60), "/proj")
	for _, m := range []wire.Message{
		wire.TurnBegin{UserInput: wire.UserInput{Parts: []llm.Part{llm.Text("what is this?"), llm.Image("data:x")}}},
		wire.StepBegin{N: 1},
		wire.ContentPart{Part: llm.Think("a picture")},
		wire.ContentPart{Part: llm.Text("One.")},
		call("a", "ls"),
		call("b", "rm x"),
		result("b", wire.ToolReturnValue{IsError: true, Message: "Rejected by the user.\nDo not try again."}),
		result("a", wire.ToolReturnValue{Message: "Read /proj/main.go", Display: []wire.Block{{Type: wire.BlockDiff, Diff: &wire.DiffBlock{Path: "/proj/main.go"}}}}),
		result("c", wire.ToolReturnValue{Message: "of a call that nobody saw"}),
		wire.StepRetry{ErrorType: "timeout", NextAttempt: 2, MaxAttempts: 3},
		wire.StepBegin{N: 2},
		wire.ContentPart{Part: llm.Text("Two.")},
		wire.StepBegin{N: 3},
		wire.ContentPart{Part: llm.Text("Three, which is a paragraph of its own.\x1b[2J")},
		wire.SteerInput{UserInput: wire.UserInput{Text: "stop that"}},
		wire.SubagentEvent{Event: call("d", "make")},
		wire.ApprovalRequest{ID: "q", Sender: "WriteFile", Description: "Write /proj/main.go"},
		wire.ApprovalResponse{RequestID: "q", Response: "reject", Feedback: "not now"},
		wire.PlanDisplay{FilePath: "plan.md", Content: "First this."},
		wire.Notification{Title: "A task is done", Body: "It was long."},
		wire.CompactionBegin{},
		wire.CompactionEnd{},
		wire.StepInterrupted{},
		wire.TurnEnd{},
	} {
		v.Receive(session.Recorded{At: at, Message: m})
	}
	v.Receive(session.Recorded{Line: 9, Err: errors.New("it holds no message")})
	v.Close()
	want := `
▌ You  2026-11-30 12:00:00
  what is this?
  [image]

▌ Thinking
  a picture

▌ Agent
  One.

▌ Tool  ` + "`ls`" + `

▌ Tool  ` + "`rm x`" + `

▌ Result  ` + "`rm x`" + `
  ✗ Rejected by the user.
  ✓ Read main.go
  main.go
  ✓ of a call that nobody saw
  the model did not answer (timeout); attempt 2 of 3

▌ Agent
  Two.

▌ Agent
  Three, which is a paragraph of its own.�[2J

▌ You, meanwhile  2026-11-30 12:00:00
  stop that
  its agent: ` + "`make`" + `

▌ Asked  WriteFile
  Write main.go
  answered: reject not now

▌ Plan  plan.md
  First this.

▌ Notice  A task is done
  It was long.
  the history is being summed up
  the history was summed up
  the step was interrupted

  — the turn ended 2026-11-30 12:00:00

▌ Not shown  line 9: it holds no message
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
