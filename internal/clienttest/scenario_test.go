//go:build clients

package clienttest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/modeltest"
)

// allOptions are the kinds of answer that a permission for an edit offers.
var allOptions = []string{"allow_once", "allow_always", "reject_once", "reject_always"}

// testEdit reads and changes a file that is open with unsaved text, then makes a
// new one.
func testEdit(t *testing.T, play func(desk, plan) summary) {
	model := modeltest.New(t)
	d := newDesk(t, map[string]string{"notes.txt": "on disk\n"}, served(model)...)
	buffer, changed, made := "open\nin the buffer\n", "open\nchanged\n", "new äöü 🙂\n"
	reading := calls(t, "c1", "ReadFile", map[string]any{"path": "notes.txt"})
	reading.Parts = append([]modeltest.Part{modeltest.Text("Reading.")}, reading.Parts...)
	model.Push(
		reading,
		calls(t, "c2", "StrReplaceFile", map[string]any{
			"path": "notes.txt",
			"edit": []map[string]string{{"old": "in the buffer", "new": "changed"}},
		}),
		calls(t, "c3", "WriteFile", map[string]any{"path": "new.txt", "content": made}),
		says(" Do", "ne."),
	)
	s := play(d, plan{
		Prompts: []string{"change it"},
		Buffers: map[string]string{d.path("notes.txt"): buffer},
		Answer:  "allow_once",
	})

	same(t, "turns", s.Turns, []turn{{"end_turn", "Reading. Done."}})
	if read := told(t, model, 2, "c1"); !strings.Contains(read, "in the buffer") || strings.Contains(read, "on disk\n") {
		t.Errorf("the model read %q, want the unsaved text", read)
	}
	same(t, "permissions", s.Permissions, []permission{
		{"c2", "edit", allOptions, []diff{{d.path("notes.txt"), &buffer, changed}}},
		{"c3", "edit", allOptions, []diff{{d.path("new.txt"), nil, made}}},
	})
	same(t, "writes", s.Writes, []write{{d.path("notes.txt"), changed}, {d.path("new.txt"), made}})
	same(t, "tool calls", s.Calls, map[string]string{"c1": "completed", "c2": "completed", "c3": "completed"})
	for kind, n := range map[string]int{"agent_message_chunk": 3, "tool_call": 3} {
		if s.Handled[kind] != n {
			t.Errorf("%d updates of kind %s, want %d", s.Handled[kind], kind, n)
		}
	}
	for _, kind := range []string{"available_commands_update", "session_info_update", "tool_call_update", "usage_update"} {
		if s.Sent[kind] == 0 {
			t.Errorf("no update of kind %s was sent", kind)
		}
	}
	d.checkFiles(t, map[string]string{"notes.txt": changed, "new.txt": made})
}

// testReject refuses a change: nothing is written, the model is told, and the
// session goes on.
func testReject(t *testing.T, play func(desk, plan) summary) {
	model := modeltest.New(t)
	d := newDesk(t, map[string]string{"notes.txt": "saved\n"}, served(model)...)
	model.Push(
		calls(t, "c1", "WriteFile", map[string]any{"path": "notes.txt", "content": "gone\n"}),
		says("As you like."),
		says("Still here."),
	)
	s := play(d, plan{Prompts: []string{"change it", "and now?"}, Answer: "reject_once"})

	if len(s.Turns) != 2 || s.Turns[1] != (turn{"end_turn", "Still here."}) {
		t.Errorf("turns: %+v, want two, and the last one answered", s.Turns)
	}
	if result := told(t, model, 2, "c1"); !strings.Contains(result, "rejected") {
		t.Errorf("the model was told %q, want that the user rejected it", result)
	}
	s.checkRefused(t, "c1")
	d.checkFiles(t, map[string]string{"notes.txt": "saved\n"})
}

// testCancelAnswer cancels in the middle of an answer that never ends, and asks
// again in the same session.
func testCancelAnswer(t *testing.T, play func(desk, plan) summary) {
	model := modeltest.New(t)
	d := newDesk(t, nil, served(model)...)
	endless := says("one", " two")
	endless.Parts = append(endless.Parts, modeltest.Stall(), modeltest.Text(" never"))
	model.Push(endless, says("again"))
	s := play(d, plan{Prompts: []string{"count", "go on"}, CancelAfter: 2})

	same(t, "turns", s.Turns, []turn{{"cancelled", "one two"}, {"end_turn", "again"}})
}

// testCancelQuestion cancels while a permission is open: nothing is written, the
// call is closed, and the session can be used again.
func testCancelQuestion(t *testing.T, play func(desk, plan) summary) {
	model := modeltest.New(t)
	d := newDesk(t, map[string]string{"notes.txt": "saved\n"}, served(model)...)
	model.Push(
		calls(t, "c1", "WriteFile", map[string]any{"path": "notes.txt", "content": "gone\n"}),
		says("again"),
	)
	s := play(d, plan{Prompts: []string{"change it", "go on"}, Answer: "cancel"})

	same(t, "turns", s.Turns, []turn{{"cancelled", ""}, {"end_turn", "again"}})
	s.checkRefused(t, "c1")
	d.checkFiles(t, map[string]string{"notes.txt": "saved\n"})
}

// checkRefused checks that one question was asked, for a call that then failed,
// and that nothing was written.
func (s summary) checkRefused(t *testing.T, call string) {
	t.Helper()
	if len(s.Permissions) != 1 || s.Permissions[0].ToolCallID != call || s.Calls[call] != "failed" || len(s.Writes) > 0 {
		t.Errorf("asked %+v, calls %v, wrote %+v; want one question, %s failed and no write", s.Permissions, s.Calls, s.Writes, call)
	}
}

// same compares what came out with what should.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
