package tool

import (
	"encoding/json"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

const setTodoListName = "SetTodoList"

// SetPlan replaces the to-do list from outside.
func (e *Executor) SetPlan(items []wire.PlanItem) { e.todo.set(items) }

// Plan gives a copy of the to-do list, never nil, each entry with an id and a priority.
func (e *Executor) Plan() []wire.PlanItem { return e.todo.Plan() }

// PlanIn finds the to-do list that a conversation left behind: that of the last call
// of SetTodoList that set one. It is false, and empty, when there is none.
func PlanIn(messages []llm.Message) (items []wire.PlanItem, ok bool) {
	for i := len(messages) - 1; i >= 0; i-- {
		calls := messages[i].ToolCalls
		for c := len(calls) - 1; c >= 0; c-- {
			if items, ok := planSet(calls[c]); ok && !failedIn(messages[i+1:], calls[c].ID) {
				planRun(items, messages[i:])
				return items, true
			}
		}
	}
	return nil, false
}

// PlansIn tells whether a to-do list is set anywhere in a conversation.
func PlansIn(messages []llm.Message) bool {
	_, ok := PlanIn(messages)
	return ok
}

// planRun takes over what came of the list in runs of it; see planResult.
func planRun(items []wire.PlanItem, messages []llm.Message) {
	list := TodoList{items: items}
	named := list.Plan() // items without an id of their own have one in a run
	runs := map[string]bool{}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			runs[c.ID] = runs[c.ID] || c.Name == runPlanName
		}
		if m.Role != llm.RoleTool || !runs[m.ToolCallID] {
			continue
		}
		for _, p := range m.Content {
			for line := range strings.Lines(p.Text) {
				step, status, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
				id, ok := strings.CutPrefix(step, "step ")
				if !ok || status != "done" && status != "pending" {
					break // the lines of steps come first
				}
				for n := range named {
					if named[n].ID == id {
						items[n].Status = status
					}
				}
			}
		}
	}
}

func planSet(call llm.ToolCall) ([]wire.PlanItem, bool) {
	if call.Name != setTodoListName || call.Arguments == nil {
		return nil, false
	}
	raw, err := parseArguments(call.Arguments)
	if err != nil {
		return nil, false
	}
	var in setTodoListArguments
	if err := json.Unmarshal(raw, &in); err != nil || in.Todos == nil {
		return nil, false
	}
	items := make([]wire.PlanItem, 0, len(*in.Todos))
	for _, t := range *in.Todos {
		items = append(items, t.item())
	}
	return items, checkPlan(items) == nil
}

// failedIn tells whether the result of a call, which stands among the next messages,
// is an error.
func failedIn(messages []llm.Message, id string) bool {
	for _, m := range messages {
		if m.Role != llm.RoleTool {
			return false
		}
		if m.ToolCallID == id {
			return len(m.Content) > 0 && strings.HasPrefix(m.Content[0].Text, "<system>ERROR: ")
		}
	}
	return false
}
