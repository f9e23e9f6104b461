package wire_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// messages has each message of the Wire at its fullest and at its emptiest, with
// the bytes that it is written as.
var messages = []struct {
	msg  wire.Message
	want string
}{
	{wire.TurnBegin{UserInput: wire.UserInput{Text: "a<b>&c \"é\""}}, `{"type":"TurnBegin","payload":{"user_input":"a<b>&c \"é\""}}`},
	{
		wire.TurnBegin{UserInput: wire.UserInput{Parts: []llm.Part{llm.Text("<"), llm.Image("u")}}},
		`{"type":"TurnBegin","payload":{"user_input":[{"type":"text","text":"<"},{"type":"image_url","image_url":{"url":"u","id":null}}]}}`,
	},
	{wire.TurnBegin{UserInput: wire.UserInput{Parts: []llm.Part{}}}, `{"type":"TurnBegin","payload":{"user_input":[]}}`},
	{wire.SteerInput{}, `{"type":"SteerInput","payload":{"user_input":""}}`},
	{wire.TurnEnd{}, `{"type":"TurnEnd","payload":{}}`},
	{wire.StepBegin{N: 3}, `{"type":"StepBegin","payload":{"n":3}}`},
	{wire.StepInterrupted{}, `{"type":"StepInterrupted","payload":{}}`},
	{
		wire.StepRetry{N: 1, NextAttempt: 2, MaxAttempts: 3, WaitS: 0.5, ErrorType: "APIStatusError", StatusCode: ptr(429)},
		`{"type":"StepRetry","payload":{"n":1,"next_attempt":2,"max_attempts":3,"wait_s":0.5,"error_type":"APIStatusError","status_code":429}}`,
	},
	{wire.StepRetry{}, `{"type":"StepRetry","payload":{"n":0,"next_attempt":0,"max_attempts":0,"wait_s":0,"error_type":"","status_code":null}}`},
	{wire.CompactionBegin{}, `{"type":"CompactionBegin","payload":{}}`},
	{wire.CompactionEnd{}, `{"type":"CompactionEnd","payload":{}}`},
	{wire.MCPLoadingBegin{}, `{"type":"MCPLoadingBegin","payload":{}}`},
	{wire.MCPLoadingEnd{}, `{"type":"MCPLoadingEnd","payload":{}}`},
	{wire.HookTriggered{Event: "Stop", Target: "t", HookCount: 2}, `{"type":"HookTriggered","payload":{"event":"Stop","target":"t","hook_count":2}}`},
	{
		wire.HookResolved{Event: "Stop", Action: "block", Reason: "r", DurationMS: 4},
		`{"type":"HookResolved","payload":{"event":"Stop","target":"","action":"block","reason":"r","duration_ms":4}}`,
	},
	{
		wire.StatusUpdate{},
		`{"type":"StatusUpdate","payload":{"context_usage":null,"context_tokens":null,"max_context_tokens":null,"token_usage":null,"message_id":null,"plan_mode":null,"mcp_status":null}}`,
	},
	{
		wire.StatusUpdate{
			ContextUsage: ptr(0.25), ContextTokens: ptr(10), MaxContextTokens: ptr(40),
			TokenUsage: &llm.Usage{InputOther: 1, Output: 2, InputCacheRead: 3, InputCacheCreation: 4},
			MessageID:  ptr("m"), PlanMode: ptr(false),
			MCPStatus: &wire.MCPStatus{Loading: true, Connected: 1, Total: 2, Tools: 3, Servers: []wire.MCPServerStatus{
				{Name: "s", Status: "connected", Tools: []string{"t"}},
				{Name: "z", Status: "pending"},
			}},
		},
		`{"type":"StatusUpdate","payload":{"context_usage":0.25,"context_tokens":10,"max_context_tokens":40,` +
			`"token_usage":{"input_other":1,"output":2,"input_cache_read":3,"input_cache_creation":4},"message_id":"m","plan_mode":false,` +
			`"mcp_status":{"loading":true,"connected":1,"total":2,"tools":3,"servers":[{"name":"s","status":"connected","tools":["t"]},{"name":"z","status":"pending","tools":[]}]}}}`,
	},
	{
		wire.StatusUpdate{MCPStatus: &wire.MCPStatus{}},
		`{"type":"StatusUpdate","payload":{"context_usage":null,"context_tokens":null,"max_context_tokens":null,"token_usage":null,"message_id":null,"plan_mode":null,` +
			`"mcp_status":{"loading":false,"connected":0,"total":0,"tools":0,"servers":[]}}}`,
	},
	{
		wire.Notification{
			ID: "n", Category: "task", Type: "task.completed", SourceKind: "k", SourceID: "s",
			Title: "t", Body: "b<", Severity: "info", CreatedAt: 12.5, Payload: json.RawMessage(`{"a":1e3}`),
		},
		`{"type":"Notification","payload":{"id":"n","category":"task","type":"task.completed","source_kind":"k","source_id":"s",` +
			`"title":"t","body":"b<","severity":"info","created_at":12.5,"payload":{"a":1e3}}}`,
	},
	{
		wire.Notification{},
		`{"type":"Notification","payload":{"id":"","category":"","type":"","source_kind":"","source_id":"","title":"","body":"","severity":"","created_at":0,"payload":{}}}`,
	},
	{text("a <i> & \u2028\n"), "{\"type\":\"ContentPart\",\"payload\":{\"type\":\"text\",\"text\":\"a <i> & \u2028\\n\"}}"},
	{think("hm"), `{"type":"ContentPart","payload":{"type":"think","think":"hm","encrypted":null}}`},
	{
		wire.ContentPart{Part: llm.Part{Type: llm.PartVideo, Media: llm.Media{URL: "u", ID: ptr("i")}}},
		`{"type":"ContentPart","payload":{"type":"video_url","video_url":{"url":"u","id":"i"}}}`,
	},
	{
		wire.ToolCall{Call: llm.ToolCall{ID: "c", Name: "Shell"}},
		`{"type":"ToolCall","payload":{"type":"function","id":"c","function":{"name":"Shell","arguments":null},"extras":null}}`,
	},
	{
		wire.ToolCall{Call: llm.ToolCall{ID: "c", Name: "Shell", Arguments: ptr(`{"a":">"}`), Extras: json.RawMessage(`{"x":{}}`)}},
		`{"type":"ToolCall","payload":{"type":"function","id":"c","function":{"name":"Shell","arguments":"{\"a\":\">\"}"},"extras":{"x":{}}}}`,
	},
	{wire.ToolCallPart{}, `{"type":"ToolCallPart","payload":{"arguments_part":null}}`},
	{wire.ToolCallPart{ArgumentsPart: ptr("{")}, `{"type":"ToolCallPart","payload":{"arguments_part":"{"}}`},
	{
		wire.ToolResult{ToolCallID: "c"},
		`{"type":"ToolResult","payload":{"tool_call_id":"c","return_value":{"is_error":false,"output":"","message":"","display":[],"extras":null}}}`,
	},
	{
		wire.ToolResult{ToolCallID: "c", ReturnValue: wire.ToolReturnValue{
			IsError: true, Output: wire.Output{Parts: []llm.Part{llm.Text("o")}}, Message: "m",
			Display: []wire.Block{
				{Type: wire.BlockBrief, Brief: &wire.BriefBlock{Text: "<b>"}},
				{Type: wire.BlockDiff, Diff: &wire.DiffBlock{Path: "p", OldText: "o", NewText: "n", OldStart: 4, NewStart: 5, IsSummary: true}},
				{Type: wire.BlockTodo, Todo: &wire.TodoBlock{Items: []wire.TodoItem{{Title: "t", Status: "done"}}}},
				{Type: wire.BlockTodo, Todo: &wire.TodoBlock{}},
				{Type: wire.BlockShell, Shell: &wire.ShellBlock{Language: "bash", Command: "a && b"}},
				{Type: wire.BlockBackgroundTask, BackgroundTask: &wire.BackgroundTaskBlock{TaskID: "1", Kind: "bash", Status: "running", Description: "d"}},
				{Type: "acp/hide_output"},
				{Type: "foo", Raw: json.RawMessage(`{"k":1}`)},
			},
			Extras: json.RawMessage(`{"e":[]}`),
			Files:  []wire.FileChange{{Path: "/secret/path"}},
			Todo:   []wire.PlanItem{{ID: "secret"}}, Rejected: true,
		}},
		`{"type":"ToolResult","payload":{"tool_call_id":"c","return_value":{"is_error":true,"output":[{"type":"text","text":"o"}],"message":"m","display":[` +
			`{"type":"brief","text":"<b>"},` +
			`{"type":"diff","path":"p","old_text":"o","new_text":"n","old_start":4,"new_start":5,"is_summary":true},` +
			`{"type":"todo","items":[{"title":"t","status":"done"}]},` +
			`{"type":"todo","items":[]},` +
			`{"type":"shell","language":"bash","command":"a && b"},` +
			`{"type":"background_task","task_id":"1","kind":"bash","status":"running","description":"d"},` +
			`{"type":"acp/hide_output","data":{}},` +
			`{"type":"foo","data":{"k":1}}],"extras":{"e":[]}}}}`,
	},
	{
		wire.ApprovalResponse{RequestID: "r", Response: wire.ApprovalReject, Feedback: "no"},
		`{"type":"ApprovalResponse","payload":{"request_id":"r","response":"reject","feedback":"no"}}`,
	},
	{
		wire.SubagentEvent{ParentToolCallID: ptr("p"), Event: wire.SubagentEvent{AgentID: ptr("a"), SubagentType: ptr("coder"), Event: text("<")}},
		`{"type":"SubagentEvent","payload":{"parent_tool_call_id":"p","agent_id":null,"subagent_type":null,"event":` +
			`{"type":"SubagentEvent","payload":{"parent_tool_call_id":null,"agent_id":"a","subagent_type":"coder","event":` +
			`{"type":"ContentPart","payload":{"type":"text","text":"<"}}}}}}`,
	},
	{wire.PlanDisplay{Content: "# P", FilePath: "/p.md"}, `{"type":"PlanDisplay","payload":{"content":"# P","file_path":"/p.md"}}`},
	{wire.BtwBegin{ID: "b", Question: "q"}, `{"type":"BtwBegin","payload":{"id":"b","question":"q"}}`},
	{wire.BtwEnd{ID: "b"}, `{"type":"BtwEnd","payload":{"id":"b","response":null,"error":null}}`},
	{
		wire.ApprovalRequest{ID: "r", ToolCallID: "c", Sender: "Shell", Action: "run", Description: "d", Files: []wire.FileChange{{Path: "/secret"}}, Scope: "here"},
		`{"type":"ApprovalRequest","payload":{"id":"r","tool_call_id":"c","sender":"Shell","action":"run","description":"d","source_kind":null,` +
			`"source_id":null,"agent_id":null,"subagent_type":null,"source_description":null,"display":[]}}`,
	},
	{
		wire.ApprovalRequest{
			ID: "r", SourceKind: ptr("foreground_turn"), SourceID: ptr("s"), AgentID: ptr("a"), SubagentType: ptr("t"), SourceDescription: ptr("x"),
			Display: []wire.Block{{Type: wire.BlockShell, Shell: &wire.ShellBlock{Language: "bash", Command: "ls"}}},
		},
		`{"type":"ApprovalRequest","payload":{"id":"r","tool_call_id":"","sender":"","action":"","description":"","source_kind":"foreground_turn",` +
			`"source_id":"s","agent_id":"a","subagent_type":"t","source_description":"x","display":[{"type":"shell","language":"bash","command":"ls"}]}}`,
	},
	{wire.ToolCallRequest{ID: "c", Name: "ext"}, `{"type":"ToolCallRequest","payload":{"id":"c","name":"ext","arguments":null}}`},
	{
		wire.QuestionRequest{ID: "q", ToolCallID: "c", Questions: []wire.Question{
			{Question: "Which?", Header: "H", Options: []wire.QuestionOption{{Label: "A", Description: "d"}}, MultiSelect: true, Body: "b", OtherLabel: "o", OtherDescription: "p"},
			{Question: "Else?"},
		}},
		`{"type":"QuestionRequest","payload":{"id":"q","tool_call_id":"c","questions":[` +
			`{"question":"Which?","header":"H","options":[{"label":"A","description":"d"}],"multi_select":true,"body":"b","other_label":"o","other_description":"p"},` +
			`{"question":"Else?","header":"","options":[],"multi_select":false,"body":"","other_label":"","other_description":""}]}}`,
	},
	{wire.QuestionRequest{ID: "q"}, `{"type":"QuestionRequest","payload":{"id":"q","tool_call_id":"","questions":[]}}`},
	{
		wire.HookRequest{ID: "h", SubscriptionID: "s", Event: "Stop", Target: "t", InputData: json.RawMessage(`{"cwd":"/"}`)},
		`{"type":"HookRequest","payload":{"id":"h","subscription_id":"s","event":"Stop","target":"t","input_data":{"cwd":"/"}}}`,
	},
	{wire.HookRequest{}, `{"type":"HookRequest","payload":{"id":"","subscription_id":"","event":"","target":"","input_data":{}}}`},
}

func TestEncodeDecode(t *testing.T) {
	var seen []string
	for _, tt := range messages {
		seen = append(seen, tt.msg.WireType())
		t.Run(tt.msg.WireType(), func(t *testing.T) {
			if diff := cmp.Diff(tt.want, encoded(t, tt.msg)); diff != "" {
				t.Fatalf("encoded (-want +got):\n%s", diff)
			}
			back, err := wire.Decode([]byte(tt.want))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := back.WireType(), tt.msg.WireType(); got != want {
				t.Errorf("decoded a %s, want a %s", got, want)
			}
			if diff := cmp.Diff(tt.want, encoded(t, back)); diff != "" {
				t.Errorf("encoded again (-want +got):\n%s", diff)
			}
		})
	}
	for _, name := range append(wire.TypeNames(), "SubagentEvent") {
		if name != "ApprovalRequestResolved" && !slices.Contains(seen, name) {
			t.Errorf("%s is not in the table", name)
		}
	}
}

func TestEventsAndRequests(t *testing.T) {
	requests := map[string]string{"ApprovalRequest": "r", "ToolCallRequest": "c", "QuestionRequest": "q", "HookRequest": "h"}
	checked := 0
	for _, tt := range messages {
		_, isEvent := tt.msg.(wire.Event)
		request, isRequest := tt.msg.(wire.Request)
		id, wantRequest := requests[tt.msg.WireType()]
		if isRequest != wantRequest || isEvent == wantRequest {
			t.Errorf("%s: event %v, request %v", tt.msg.WireType(), isEvent, isRequest)
		}
		if isRequest && request.RequestID() != "" {
			checked++
			if request.RequestID() != id {
				t.Errorf("%s: id %q, want %q", tt.msg.WireType(), request.RequestID(), id)
			}
		}
	}
	if checked < len(requests) {
		t.Errorf("only %d ids were looked at", checked)
	}
}

func TestEncodeErrors(t *testing.T) {
	deep := wire.Event(wire.TurnEnd{})
	for range 17 {
		deep = wire.SubagentEvent{Event: deep}
	}
	for name, m := range map[string]wire.Message{
		"nil":             nil,
		"local":           wire.ToolProgress{},
		"not a number":    wire.StatusUpdate{ContextUsage: ptr(math.NaN())},
		"part":            wire.ContentPart{Part: llm.Part{Type: "odour"}},
		"block":           result(wire.Block{}),
		"empty block":     result(wire.Block{Type: wire.BlockDiff}),
		"raw block":       result(wire.Block{Type: "x", Raw: json.RawMessage(`{`)}),
		"extras":          wire.ToolResult{ReturnValue: wire.ToolReturnValue{Extras: json.RawMessage(`[1]`)}},
		"payload":         wire.Notification{Payload: json.RawMessage(`3`)},
		"input data":      wire.HookRequest{InputData: json.RawMessage(`"x"`)},
		"inner":           wire.SubagentEvent{},
		"local inner":     wire.SubagentEvent{Event: wire.ToolProgress{}},
		"too deep":        deep,
		"broken raw data": wire.HookRequest{InputData: json.RawMessage(`{"a"`)},
	} {
		prefix := []byte("kept")
		got, err := wire.AppendJSON(prefix, m)
		if err == nil {
			t.Errorf("%s: no error, but %s", name, got)
		}
		if string(got) != "kept" {
			t.Errorf("%s: %q was left after the error", name, got)
		}
	}
}

func result(blocks ...wire.Block) wire.ToolResult {
	return wire.ToolResult{ReturnValue: wire.ToolReturnValue{Display: blocks}}
}

// FuzzDecode checks that what can be decoded can be encoded, and that this is stable.
func FuzzDecode(f *testing.F) {
	for _, tt := range messages {
		f.Add([]byte(tt.want))
	}
	f.Add([]byte(`{"type":"ToolResult","payload":{"tool_call_id":"c","return_value":{"is_error":false,"output":[],"message":"","display":[{"type":"x","y":[{}]}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := wire.Decode(data)
		if err != nil {
			return
		}
		first := encoded(t, m)
		again, err := wire.Decode([]byte(first))
		if err != nil {
			t.Fatalf("decode what was encoded: %v\n%s", err, first)
		}
		if second := encoded(t, again); second != first {
			t.Fatalf("not stable:\n%s\n%s", first, second)
		}
	})
}

func BenchmarkEncodeText(b *testing.B) {
	m := text("a few words of an answer, ")
	var buf []byte
	for b.Loop() {
		var err error
		if buf, err = wire.AppendJSON(buf[:0], m); err != nil {
			b.Fatal(err)
		}
	}
}
