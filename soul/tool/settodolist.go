package tool

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/wire"
)

// The limits of a to-do list.
const (
	maxTodos      = 100
	maxTodoLength = 500 // characters of a title
	maxTodoID     = 50  // characters
)

//go:embed settodolist.md
var setTodoListDescription string

// TodoList is the to-do list of a session. It may be used by several goroutines
// at once.
type TodoList struct {
	mu    sync.Mutex
	items []wire.PlanItem // as the model gave them: an id or priority may be missing
}

// NewTodoList makes a list with some items in it.
func NewTodoList(items []wire.TodoItem) *TodoList {
	l := &TodoList{}
	l.Set(items)
	return l
}

// Items gives a copy of the items, never nil.
func (l *TodoList) Items() []wire.TodoItem {
	items := []wire.TodoItem{}
	for _, i := range l.given() {
		items = append(items, wire.TodoItem{Title: i.Title, Status: i.Status})
	}
	return items
}

// Plan gives a copy of the items, never nil, each with an id and a priority.
func (l *TodoList) Plan() []wire.PlanItem {
	items := l.given()
	taken := map[string]bool{}
	for _, i := range items {
		taken[i.ID] = true
	}
	next := 0
	for n := range items {
		if items[n].Priority == "" {
			items[n].Priority = "medium"
		}
		for items[n].ID == "" {
			if next++; !taken[strconv.Itoa(next)] {
				items[n].ID = strconv.Itoa(next)
			}
		}
	}
	return items
}

// Set replaces the items.
func (l *TodoList) Set(items []wire.TodoItem) {
	plan := make([]wire.PlanItem, 0, len(items))
	for _, i := range items {
		plan = append(plan, wire.PlanItem{Title: i.Title, Status: i.Status})
	}
	l.set(plan)
}

func (l *TodoList) set(items []wire.PlanItem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = items
}

func (l *TodoList) given() []wire.PlanItem {
	l.mu.Lock()
	defer l.mu.Unlock()
	items := append([]wire.PlanItem{}, l.items...)
	for n := range items {
		items[n].DependsOn = slices.Clone(items[n].DependsOn)
	}
	return items
}

type setTodoListArguments struct {
	Todos *[]todoArgument `json:"todos,omitempty" jsonschema:"The whole new list. Leave it out to read the list."`
}

type todoArgument struct {
	Title     string   `json:"title" jsonschema:"What is to be done, in a few words."`
	Status    string   `json:"status" jsonschema:"How far it is."`
	ID        string   `json:"id,omitempty" jsonschema:"A short name that depends_on of other items can use."`
	Priority  string   `json:"priority,omitempty" jsonschema:"How much it matters; left out: medium."`
	DependsOn []string `json:"depends_on,omitempty" jsonschema:"The ids of the items that must be done first."`
}

func newSetTodoList() Tool {
	return Define(Definition[setTodoListArguments]{
		Name:        setTodoListName,
		Description: setTodoListDescription,
		Effect:      ReadOnly,
		Refine: func(a map[string]*jsonschema.Schema) {
			a["todos"].MaxItems = jsonschema.Ptr(maxTodos)
			item := a["todos"].Items.Properties
			item["title"].MinLength = jsonschema.Ptr(1)
			item["title"].MaxLength = jsonschema.Ptr(maxTodoLength)
			item["status"].Enum = []any{"pending", "in_progress", "done"}
			item["priority"].Enum = []any{"high", "medium", "low"}
			item["id"].MaxLength = jsonschema.Ptr(maxTodoID)
			item["depends_on"].MaxItems = jsonschema.Ptr(maxTodos)
		},
		Run: setTodoList,
	})
}

func setTodoList(_ context.Context, c *Invocation, in setTodoListArguments) wire.ToolReturnValue {
	if in.Todos == nil {
		return wire.ToolReturnValue{Output: wire.Output{Text: listTodos(c.Todo().given())}}
	}
	items := make([]wire.PlanItem, 0, len(*in.Todos))
	for _, t := range *in.Todos {
		items = append(items, t.item())
	}
	if err := checkPlan(items); err != nil {
		return failure("Error validating JSON arguments: "+sentence(err.Error())+" The list stays as it was.", "Invalid arguments")
	}
	c.Todo().set(items)
	return todoUpdated(c.Todo())
}

// todoUpdated is the result of setting a list.
func todoUpdated(l *TodoList) wire.ToolReturnValue {
	const updated = "Todo list updated"
	return wire.ToolReturnValue{
		Output:  wire.Output{Text: updated},
		Message: updated,
		// An emptied list is shown too, or the old one would stay before people's eyes.
		Display: []wire.Block{{Type: wire.BlockTodo, Todo: &wire.TodoBlock{Items: l.Items()}}},
		Todo:    l.Plan(),
	}
}

func (t todoArgument) item() wire.PlanItem {
	return wire.PlanItem{ID: t.ID, Title: t.Title, Status: t.Status, Priority: t.Priority, DependsOn: t.DependsOn}
}

// checkPlan refuses ids that stand twice, dependencies on what is not there, and
// items that wait for themselves by whatever way.
func checkPlan(items []wire.PlanItem) error {
	at := map[string]int{}
	for n, i := range items {
		if i.ID == "" {
			continue
		}
		if _, twice := at[i.ID]; twice {
			return fmt.Errorf("the id %q stands twice", i.ID)
		}
		at[i.ID] = n
	}
	waiting := make([]int, len(items)) // for how many others an item waits
	waiters := make([][]int, len(items))
	for n, i := range items {
		for _, id := range i.DependsOn {
			on, ok := at[id]
			if !ok {
				return fmt.Errorf("%q depends on %q, which is no id in the list", i.Title, id)
			}
			waiting[n]++
			waiters[on] = append(waiters[on], n)
		}
	}
	var free []int
	for n, count := range waiting {
		if count == 0 {
			free = append(free, n)
		}
	}
	for next := 0; next < len(free); next++ {
		for _, n := range waiters[free[next]] {
			if waiting[n]--; waiting[n] == 0 {
				free = append(free, n)
			}
		}
	}
	if len(free) < len(items) {
		n := slices.IndexFunc(waiting, func(count int) bool { return count > 0 })
		return fmt.Errorf("%q waits for itself, directly or by way of others", items[n].Title)
	}
	return nil
}

func listTodos(items []wire.PlanItem) string {
	if len(items) == 0 {
		return "The to-do list is empty."
	}
	var b strings.Builder
	for _, t := range items {
		b.WriteString("- [" + t.Status + "] " + t.Title)
		var extras []string
		if t.ID != "" {
			extras = append(extras, "id "+t.ID)
		}
		if t.Priority != "" {
			extras = append(extras, t.Priority+" priority")
		}
		if len(t.DependsOn) > 0 {
			extras = append(extras, "after "+strings.Join(t.DependsOn, ", "))
		}
		if len(extras) > 0 {
			b.WriteString(" (" + strings.Join(extras, "; ") + ")")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
