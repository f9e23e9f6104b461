package wire_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// A soul sends, a view shows and answers, a recorder keeps.
func Example() {
	var record strings.Builder
	w := wire.New()
	w.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
		switch m := m.(type) {
		case wire.ContentPart:
			fmt.Printf("%s|", m.Part.Text)
		case wire.ApprovalRequest:
			fmt.Printf("\nmay I %s?\n", m.Action)
			w.ResolveApproval(m.ID, wire.ApprovalApprove, "")
		}
	}))
	w.Attach(wire.Merged, wire.NewRecorder(&record, wire.Recording{
		Now: func() time.Time { return time.Unix(0, 0) },
	}))

	w.Send(wire.ContentPart{Part: llm.Text("I shall ")})
	w.Send(wire.ContentPart{Part: llm.Text("look.")})
	answer, err := w.Approve(context.Background(), wire.ApprovalRequest{ID: "1", Action: "run ls"})
	fmt.Println(answer.Response, err)
	w.Close()
	fmt.Print(record.String())

	// Output:
	// I shall |look.|
	// may I run ls?
	// approve <nil>
	// {"timestamp": 0.0, "message": {"type": "ContentPart", "payload": {"type": "text", "text": "I shall look."}}}
	// {"timestamp": 0.0, "message": {"type": "ApprovalRequest", "payload": {"id": "1", "tool_call_id": "", "sender": "", "action": "run ls", "description": "", "source_kind": null, "source_id": null, "agent_id": null, "subagent_type": null, "source_description": null, "display": []}}}
	// {"timestamp": 0.0, "message": {"type": "ApprovalResponse", "payload": {"request_id": "1", "response": "approve", "feedback": ""}}}
}
