package llm

import (
	"encoding/json"
	"testing"
)

func TestEstimateText(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "a": 1, "abcd": 1, "abcde": 2, "日本語": 3, "ab日": 2, "😀": 1, "\xff\xfe": 2,
	} {
		if got := EstimateText(in); got != want {
			t.Errorf("%q: got %d, want %d", in, got, want)
		}
	}
}

func TestEstimateTokens(t *testing.T) {
	for _, tt := range []struct {
		name string
		msg  Message
		want int
	}{
		{"role only", Message{Role: RoleUser}, 1},
		{"tokens are not looked at", Message{Role: RoleUser, Tokens: 99}, 1},
		{"text", Message{Role: RoleUser, Content: []Part{Text("12345678")}}, 1 + 2},
		{"think without its signature", Message{Role: RoleUser, Content: []Part{{Type: PartThink, Think: "1234", Encrypted: ptr("12345678")}}}, 1 + 1},
		{"media", Message{Role: RoleUser, Content: []Part{Image("data:long"), {Type: PartVideo}}}, 1 + 2*2000},
		{
			"calls",
			Message{Role: RoleAssistant, Name: "ab", ToolCalls: []ToolCall{
				{ID: "call_1", Name: "Shell", Arguments: ptr(`{"command":"ls"}`)}, {ID: "b", Name: "c"},
			}},
			3 + 1 + (2 + 2 + 4) + (1 + 1),
		},
		{"result", Message{Role: RoleTool, ToolCallID: "call_1"}, 1 + 2},
	} {
		if got := EstimateTokens(tt.msg); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestEstimateTool(t *testing.T) {
	got := EstimateTool(ToolSpec{Name: "Glob", Description: "Finds.", Parameters: json.RawMessage(`{"a":1}`)})
	if want := 1 + 2 + 2; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}
