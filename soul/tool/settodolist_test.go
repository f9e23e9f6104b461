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

func TestTodoPlan(t *testing.T) {
	w := newWorld(t, nil)
	args := `{"todos":[{"title":"build","status":"done","id":"2"},{"title":"test","status":"pending","id":"t","priority":"high","depends_on":["2"]},{"title":"ship","status":"pending","depends_on":["t","2"]}]}`
	v := w.call(t.Context(), "1", "SetTodoList", args)
	want := []wire.PlanItem{
		{ID: "2", Title: "build", Status: "done", Priority: "medium"},
		{ID: "t", Title: "test", Status: "pending", Priority: "high", DependsOn: []string{"2"}},
		{ID: "1", Title: "ship", Status: "pending", Priority: "medium", DependsOn: []string{"t", "2"}},
	}
	if diff := cmp.Diff(want, v.Todo); diff != "" {
		t.Error(diff)
	}
	// The block is what Wire knows, no more.
	if got, want := jsonText(t, v.Display), `[{"type":"todo","items":[{"title":"build","status":"done"},{"title":"test","status":"pending"},{"title":"ship","status":"pending"}]}]`; got != want {
		t.Errorf("display %s, want %s", got, want)
	}
	list := "- [done] build (id 2)\n- [pending] test (id t; high priority; after 2)\n- [pending] ship (after t, 2)\n"
	if v := w.call(t.Context(), "1", "SetTodoList", `{}`); v.Output.Text != list || v.Todo != nil {
		t.Errorf("list %q, want %q", v.Output.Text, list)
	}
	for args, want := range map[string]string{
		`{"todos":[{"title":"a","status":"done","id":"x"},{"title":"b","status":"done","id":"x"}]}`:                                                                     "the id \"x\" stands twice",
		`{"todos":[{"title":"a","status":"done","depends_on":["x"]}]}`:                                                                                                  "no id in the list",
		`{"todos":[{"title":"a","status":"done","id":"x","depends_on":["x"]}]}`:                                                                                         "\"a\" waits for itself",
		`{"todos":[{"title":"o","status":"done"},{"title":"a","status":"done","id":"x","depends_on":["y"]},{"title":"b","status":"done","id":"y","depends_on":["x"]}]}`: "\"a\" waits for itself",
		`{"todos":[{"title":"a","status":"done","priority":"urgent"}]}`:                                                                                                 "priority",
	} {
		v := w.call(t.Context(), "1", "SetTodoList", args)
		if !v.IsError || brief(t, v) != "Invalid arguments" {
			t.Errorf("%s: %+v", args, v)
		}
		mustContain(t, v.Message, want)
	}
	if v := w.call(t.Context(), "1", "SetTodoList", `{}`); v.Output.Text != list {
		t.Errorf("a refused list changed the old one: %q", v.Output.Text)
	}
}
