package tool

import (
	"context"
	"strings"
	"testing"

	"kimi-acp/soul/wire"
)

// The edits of a turn go back with the message where the mode and the user allow it; a
// message that is refused is not on its way.
func TestSendDMailAsksForFiles(t *testing.T) {
	box := &Mailbox{}
	w := newKeptWorld(t, nil)
	var asked []string
	w.executor = NewExecutor(Options{
		Operator: w.journal.Operator(), Journal: w.journal, Cwd: w.root, Tools: append(Builtin(), NewSendDMail(box, true)),
		Asker: answering(func(r wire.ApprovalRequest) wire.Approval {
			asked = append(asked, r.Description)
			return wire.ApprovalReject
		}),
	})
	mode := func(m Mode) {
		t.Helper()
		if err := w.executor.SetMode(m); err != nil {
			t.Fatal(err)
		}
	}
	send := func(files string) wire.ToolReturnValue {
		args := `{"message":"x","checkpoint_id":4` + files + `}`
		return w.executor.CallTool(t.Context(), wire.ToolCallRequest{ID: "m", Name: SendDMailName, Arguments: &args})
	}
	w.journal.BeginTurn()
	box.Open()
	if v := send(""); !strings.Contains(v.Message, "no checkpoint in this turn") {
		t.Errorf("without a checkpoint: %+v", v)
	}
	w.put("a.txt", "one\n")
	mode(ModeYolo)
	w.journal.BeginStep(StepAt(3))
	w.writes("early.txt", "x\n")
	box.Mark(4)
	w.journal.BeginStep(StepAt(4))
	if v := send(`,"restore_files":true`); v.IsError {
		t.Errorf("with nothing to take back: %+v", v)
	}
	if mail, ok := box.Take(); !ok || mail != (DMail{"x", 4, true}) || len(asked) > 0 {
		t.Errorf("waiting: %+v, %v, asked %q", mail, ok, asked)
	}
	w.writes("a.txt", "two\n")
	w.writes("b.txt", "new\n")

	mode(ModeDefault)
	if v := send(`,"restore_files":true`); !v.Rejected {
		t.Errorf("turned down: %+v", v)
	}
	mode(ModePlan)
	if v := send(`,"restore_files":true`); !v.IsError || !strings.Contains(v.Message, "plan mode") {
		t.Errorf("in plan mode: %+v", v)
	}
	if _, ok := box.Take(); ok {
		t.Error("a message that was refused is on its way")
	}
	if len(asked) != 1 || asked[0] != "Take back what this turn changed in `a.txt`, `b.txt`" {
		t.Errorf("asked %q", asked)
	}
	if v := send(""); v.IsError { // talk alone goes back in every mode
		t.Errorf("without files: %+v", v)
	}
	w.want("a.txt", "two\n")
}

// answering is an Asker that answers what its function says.
type answering func(wire.ApprovalRequest) wire.Approval

func (a answering) Approve(_ context.Context, r wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	return wire.ApprovalResponse{RequestID: r.ID, Response: a(r)}, nil
}
func (answering) ResolveApproval(string, wire.Approval, string) bool { return false }
