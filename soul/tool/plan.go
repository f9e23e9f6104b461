package tool

import (
	"encoding/json"
	"slices"
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

// PlanKept gives the to-do list of a session that is opened again: that of its
// conversation, and where that has none the one that was kept beside it. What was done in
// a run of the list that was cut off, which the conversation does not tell, is taken from
// there too.
func PlanKept(messages []llm.Message, kept []wire.TodoItem) []wire.PlanItem {
	items, ok := PlanIn(messages)
	if !ok {
		for _, t := range kept {
			items = append(items, wire.PlanItem{Title: t.Title, Status: t.Status})
		}
		return items
	}
	same := slices.EqualFunc(items, kept, func(i wire.PlanItem, t wire.TodoItem) bool { return i.Title == t.Title })
	for n := range items {
		if same && kept[n].Status == "done" && cutOffRun(messages) {
			items[n].Status = "done"
		}
	}
	return items
}

// cutOffRun tells whether the last run of a to-do list does not say what came of it.
func cutOffRun(messages []llm.Message) (cutOff bool) {
	for _, run := range runsIn(messages) {
		cutOff = run == nil
	}
	return cutOff
}

// planRun takes over what came of the list in runs of it.
func planRun(items []wire.PlanItem, messages []llm.Message) {
	list := TodoList{items: items}
	named := list.Plan() // items without an id of their own have one in a run
	for _, run := range runsIn(messages) {
		for n := range named {
			if status, ok := run[named[n].ID]; ok {
				items[n].Status = status
			}
		}
	}
}

// runsIn gives what runs of a to-do list came to, see planResult: the status of each item
// by its id, nil for a run that does not say.
func runsIn(messages []llm.Message) (all []map[string]string) {
	runs := map[string]bool{}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			runs[c.ID] = c.Name == runPlanName
		}
		if m.Role != llm.RoleTool || !runs[m.ToolCallID] {
			continue
		}
		var run map[string]string
		for _, p := range m.Content {
			for line := range strings.Lines(p.Text) {
				step, status, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
				id, ok := strings.CutPrefix(step, "step ")
				if !ok || status != "done" && status != "pending" {
					break // the lines of steps come first
				}
				if run == nil {
					run = map[string]string{}
				}
				run[id] = status
			}
		}
		all = append(all, run)
	}
	return all
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
