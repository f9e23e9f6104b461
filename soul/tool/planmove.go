package tool

import (
	"encoding/json"
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// planMoves begins the id of what tells of the moves of a plan, behind the id of the call
// that has it done.
const planMoves = "/plan-"

// PlanMove words, for whoever watches the Wire, that a step of the plan which a call has
// done by agents has moved, for the n-th time: the to-do list is set within the call, by
// no agent. Clients of the Wire know no other form for a list that changes during a call.
func PlanMove(call string, n int, items []wire.PlanItem) []wire.SubagentEvent {
	id := fmt.Sprintf("%s%s%d", call, planMoves, n)
	todos := make([]todoArgument, 0, len(items))
	list := TodoList{items: items}
	for _, i := range items {
		todos = append(todos, todoArgument{Title: i.Title, Status: i.Status, ID: i.ID, Priority: i.Priority, DependsOn: i.DependsOn})
	}
	raw, err := json.Marshal(setTodoListArguments{Todos: &todos})
	if err != nil {
		raw = []byte(`{}`) // texts can always be encoded
	}
	arguments := string(raw)
	return []wire.SubagentEvent{
		{ParentToolCallID: &call, Event: wire.ToolCall{Call: llm.ToolCall{ID: id, Name: setTodoListName, Arguments: &arguments}}},
		{ParentToolCallID: &call, Event: wire.ToolResult{ToolCallID: id, ReturnValue: todoUpdated(&list)}},
	}
}

// IsPlanMove tells whether an event is one of PlanMove's.
func IsPlanMove(e wire.SubagentEvent) bool {
	if e.ParentToolCallID == nil || e.AgentID != nil {
		return false
	}
	switch m := e.Event.(type) {
	case wire.ToolCall:
		return strings.HasPrefix(m.Call.ID, *e.ParentToolCallID+planMoves)
	case wire.ToolResult:
		return strings.HasPrefix(m.ToolCallID, *e.ParentToolCallID+planMoves)
	}
	return false
}
