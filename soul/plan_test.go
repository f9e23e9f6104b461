package soul

import (
	"fmt"
	"testing"

	"kimi-acp/soul/wire"
)

func TestPlanOf(t *testing.T) {
	list := []wire.Block{{Type: wire.BlockBrief, Brief: &wire.BriefBlock{}}, {Type: wire.BlockTodo, Todo: &wire.TodoBlock{Items: []wire.TodoItem{
		{Title: "look", Status: "done"}, {Title: "mend", Status: "in_progress"}, {Title: "test", Status: "?"},
	}}}}
	for _, c := range []struct {
		name string
		in   wire.ToolReturnValue
		want string
	}{
		{"no plan", wire.ToolReturnValue{Display: list[:1]}, "{[]} false"},
		{"over the Wire", wire.ToolReturnValue{Display: list}, "{[{look look medium completed []} {mend mend medium running []} {test test medium pending []}]} true"},
		{"in this process", wire.ToolReturnValue{Display: list, Todo: []wire.PlanItem{
			{ID: "1", Title: "look", Status: "done", Priority: "high"}, {ID: "2", Title: "mend", Status: "in_progress", Priority: "low", DependsOn: []string{"1"}}, {ID: "3", Title: "test", Status: "pending", Priority: "?"},
		}}, "{[{1 look high completed []} {2 mend low running [1]} {3 test medium pending []}]} true"},
		{"emptied", wire.ToolReturnValue{Display: []wire.Block{{Type: wire.BlockTodo, Todo: &wire.TodoBlock{}}}}, "{[]} true"},
	} {
		plan, ok := PlanOf(c.in)
		if got := fmt.Sprint(plan, " ", ok); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
