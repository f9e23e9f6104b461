package tool

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/wire"
)

func TestSetTodoList(t *testing.T) {
	list := NewTodoList([]wire.TodoItem{{Title: "old", Status: "done"}})
	w := newWorld(t, func(o *Options) { o.Todo = list })
	call := func(args string) wire.ToolReturnValue {
		t.Helper()
		v := w.call(t.Context(), "1", "SetTodoList", args)
		if v.IsError {
			t.Fatal(v.Message)
		}
		return v
	}
	if got, want := call(`{}`).Output.Text, "- [done] old\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	items := []wire.TodoItem{{Title: "a", Status: "in_progress"}, {Title: "b", Status: "pending"}}
	v := call(`{"todos":[{"title":"a","status":"in_progress"},{"title":"b","status":"pending"}]}`)
	if v.Output.Text != "Todo list updated" || v.Message != "Todo list updated" {
		t.Errorf("result %+v", v)
	}
	block := []wire.Block{{Type: wire.BlockTodo, Todo: &wire.TodoBlock{Items: items}}}
	if diff := cmp.Diff(block, v.Display); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(items, list.Items()); diff != "" {
		t.Error(diff)
	}
	list.Items()[0].Title = "changed by a caller"
	if got, want := call(``).Output.Text, "- [in_progress] a\n- [pending] b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	v = call(`{"todos":[]}`)
	if diff := cmp.Diff([]wire.Block{{Type: wire.BlockTodo, Todo: &wire.TodoBlock{Items: []wire.TodoItem{}}}}, v.Display); diff != "" {
		t.Errorf("an emptied list is not shown: %s", diff)
	}
	if got, want := call(`null`).Output.Text, "The to-do list is empty."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
