package tool

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/wire"
)

// The limits of a to-do list.
const (
	maxTodos      = 100
	maxTodoLength = 500 // characters of a title
)

//go:embed settodolist.md
var setTodoListDescription string

// TodoList is the to-do list of a session. It may be used by several goroutines
// at once.
type TodoList struct {
	mu    sync.Mutex
	items []wire.TodoItem
}

// NewTodoList makes a list with some items in it.
func NewTodoList(items []wire.TodoItem) *TodoList {
	return &TodoList{items: slices.Clone(items)}
}

// Items gives a copy of the items, never nil.
func (l *TodoList) Items() []wire.TodoItem {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]wire.TodoItem{}, l.items...)
}

// Set replaces the items.
func (l *TodoList) Set(items []wire.TodoItem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = slices.Clone(items)
}

type setTodoListArguments struct {
	Todos *[]todoArgument `json:"todos,omitempty" jsonschema:"The whole new list. Leave it out to read the list."`
}

type todoArgument struct {
	Title  string `json:"title" jsonschema:"What is to be done, in a few words."`
	Status string `json:"status" jsonschema:"How far it is."`
}

func newSetTodoList() Tool {
	return Define(Definition[setTodoListArguments]{
		Name:        "SetTodoList",
		Description: setTodoListDescription,
		Effect:      ReadOnly,
		Refine: func(a map[string]*jsonschema.Schema) {
			a["todos"].MaxItems = jsonschema.Ptr(maxTodos)
			item := a["todos"].Items.Properties
			item["title"].MinLength = jsonschema.Ptr(1)
			item["title"].MaxLength = jsonschema.Ptr(maxTodoLength)
			item["status"].Enum = []any{"pending", "in_progress", "done"}
		},
		Run: setTodoList,
	})
}

func setTodoList(_ context.Context, c *Invocation, in setTodoListArguments) wire.ToolReturnValue {
	if in.Todos == nil {
		return wire.ToolReturnValue{Output: wire.Output{Text: listTodos(c.Todo().Items())}}
	}
	items := make([]wire.TodoItem, 0, len(*in.Todos))
	for _, t := range *in.Todos {
		items = append(items, wire.TodoItem{Title: t.Title, Status: t.Status})
	}
	c.Todo().Set(items)
	const updated = "Todo list updated"
	return wire.ToolReturnValue{
		Output:  wire.Output{Text: updated},
		Message: updated,
		// An emptied list is shown too, or the old one would stay before people's eyes.
		Display: []wire.Block{{Type: wire.BlockTodo, Todo: &wire.TodoBlock{Items: items}}},
	}
}

func listTodos(items []wire.TodoItem) string {
	if len(items) == 0 {
		return "The to-do list is empty."
	}
	var b strings.Builder
	for _, t := range items {
		b.WriteString("- [" + t.Status + "] " + t.Title + "\n")
	}
	return b.String()
}
