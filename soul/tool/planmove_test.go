package tool

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// A move is told as a call of SetTodoList within the call, in the bytes that clients know.
func TestPlanMove(t *testing.T) {
	events := PlanMove("run", 3, []wire.PlanItem{{ID: "a", Title: "first", Status: "in_progress", Priority: "high"}, {ID: "b", Title: "second", Status: "pending", Priority: "medium", DependsOn: []string{"a"}}})
	want := []string{
		`{"type":"SubagentEvent","payload":{"parent_tool_call_id":"run","agent_id":null,"subagent_type":null,"event":{"type":"ToolCall","payload":{"type":"function","id":"run/plan-3","function":{"name":"SetTodoList","arguments":"{\"todos\":[{\"title\":\"first\",\"status\":\"in_progress\",\"id\":\"a\",\"priority\":\"high\"},{\"title\":\"second\",\"status\":\"pending\",\"id\":\"b\",\"priority\":\"medium\",\"depends_on\":[\"a\"]}]}"},"extras":null}}}}`,
		`{"type":"SubagentEvent","payload":{"parent_tool_call_id":"run","agent_id":null,"subagent_type":null,"event":{"type":"ToolResult","payload":{"tool_call_id":"run/plan-3","return_value":{"is_error":false,"output":"Todo list updated","message":"Todo list updated","display":[{"type":"todo","items":[{"title":"first","status":"in_progress"},{"title":"second","status":"pending"}]}],"extras":null}}}}}`,
	}
	for n, e := range events {
		raw, err := wire.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[n], string(raw)); diff != "" {
			t.Error(diff)
		}
		if !IsPlanMove(e) {
			t.Errorf("%d is not known again", n)
		}
	}
	agent, call := "a1", "run"
	for _, e := range []wire.SubagentEvent{
		{ParentToolCallID: &call, AgentID: &agent, Event: wire.ToolResult{ToolCallID: "run/plan-1"}},
		{ParentToolCallID: &call, Event: wire.ToolResult{ToolCallID: "other/plan-1"}},
		{ParentToolCallID: &call, Event: wire.StepBegin{N: 1}},
		{Event: wire.ToolResult{ToolCallID: "run/plan-1"}},
	} {
		if IsPlanMove(e) {
			t.Errorf("%+v is taken for a move", e)
		}
	}
}

// What a session that is opened again knows of its plan.
func TestPlanKept(t *testing.T) {
	set := `{"todos":[{"title":"first","status":"pending","id":"a"},{"title":"second","status":"pending","id":"b","depends_on":["a"]}]}`
	none := "{}"
	says := func(role llm.Role, id, text string) llm.Message {
		return llm.Message{Role: role, ToolCallID: id, Content: []llm.Part{llm.Text(text)}}
	}
	calls := func(id, name string, arguments *string) llm.Message {
		return llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: id, Name: name, Arguments: arguments}}}
	}
	planned := []llm.Message{calls("1", "SetTodoList", &set), says(llm.RoleTool, "1", "Todo list updated")}
	kept := []wire.TodoItem{{Title: "first", Status: "done"}, {Title: "second", Status: "in_progress"}}
	for _, c := range []struct {
		name string
		said []llm.Message
		kept []wire.TodoItem
		want string
	}{
		{"none", nil, nil, ""},
		{"kept alone", nil, kept, "first done, second in_progress"},
		{"said", planned, kept, "first pending, second pending"},
		{"run", append(planned[:2:2], calls("2", "RunPlan", &none), says(llm.RoleTool, "2", "step a: pending\nstep b: done\n")), kept, "first pending, second done"},
		{"cut off", append(planned[:2:2], calls("2", "RunPlan", &none), says(llm.RoleTool, "2", "interrupted")), kept, "first done, second pending"},
		{"cut off, of another list", append(planned[:2:2], calls("2", "RunPlan", &none), says(llm.RoleTool, "2", "interrupted")), kept[:1], "first pending, second pending"},
		{"cut off before a whole run", append(planned[:2:2], calls("2", "RunPlan", &none), says(llm.RoleTool, "2", "interrupted"), calls("3", "RunPlan", &none), says(llm.RoleTool, "3", "step b: pending")), kept, "first pending, second pending"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for n, i := range PlanKept(c.said, c.kept) {
				if n > 0 {
					got += ", "
				}
				got += i.Title + " " + i.Status
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Servers number the calls of each answer anew: what another tool gave is no run of the
// list because its call has the id of one.
func TestRunsOfThePlanAmongCallsWithTheSameIDs(t *testing.T) {
	call := func(name, args string) llm.Message {
		return llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_0", Name: name, Arguments: &args}}}
	}
	result := func(text string) llm.Message {
		return llm.Message{Role: llm.RoleTool, ToolCallID: "call_0", Content: []llm.Part{llm.Text(text)}}
	}
	items, ok := PlanIn([]llm.Message{
		call(setTodoListName, `{"todos":[{"title":"a","status":"pending"}]}`), result("ok"),
		call(runPlanName, `{"context":"c"}`), result("step 1: done\n"),
		call("Shell", `{"command":"make"}`), result("step 1: pending\n"),
	})
	if !ok || len(items) != 1 || items[0].Status != "done" {
		t.Errorf("the plan is %+v", items)
	}
}
