package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

func TestDecodeDefaults(t *testing.T) {
	for in, want := range map[string]wire.Message{
		`{"type":"TurnEnd"}`:                                         wire.TurnEnd{},
		`{"type":"TurnEnd","payload":null,"extra":1}`:                wire.TurnEnd{},
		`{"type":"StatusUpdate","payload":{"later":[]}}`:             wire.StatusUpdate{},
		`{"type":"HookTriggered","payload":{"event":"e"}}`:           wire.HookTriggered{Event: "e", HookCount: 1},
		`{"type":"HookResolved","payload":{"event":"e"}}`:            wire.HookResolved{Event: "e", Action: "allow"},
		`{"type":"ToolCallPart","payload":{}}`:                       wire.ToolCallPart{},
		`{"type":"BtwEnd","payload":{"id":"b"}}`:                     wire.BtwEnd{ID: "b"},
		`{"type":"ToolCallRequest","payload":{"id":"i","name":"n"}}`: wire.ToolCallRequest{ID: "i", Name: "n"},
		`{"type":"StepRetry","payload":{"n":1,"next_attempt":2,"max_attempts":3,"wait_s":4,"error_type":"e"}}`: wire.StepRetry{
			N: 1, NextAttempt: 2, MaxAttempts: 3, WaitS: 4, ErrorType: "e",
		},
		`{"type":"ToolCall","payload":{"id":"c","function":{"name":"n"}}}`: wire.ToolCall{Call: llm.ToolCall{ID: "c", Name: "n"}},
		`{"type":"ContentPart","payload":{"type":"think","think":"t"}}`:    think("t"),
		`{"type":"Notification","payload":{"id":"","category":"","type":"","source_kind":"","source_id":"","title":"","body":"","severity":"","created_at":1}}`: wire.Notification{
			CreatedAt: 1, Payload: json.RawMessage(`{}`),
		},
		`{"type":"ApprovalRequest","payload":{"id":"i","tool_call_id":"c","sender":"s","action":"a","description":"d"}}`: wire.ApprovalRequest{
			ID: "i", ToolCallID: "c", Sender: "s", Action: "a", Description: "d",
		},
		`{"type":"QuestionRequest","payload":{"id":"i","tool_call_id":"c","questions":[{"question":"q","options":[{"label":"l"}]}]}}`: wire.QuestionRequest{
			ID: "i", ToolCallID: "c", Questions: []wire.Question{{Question: "q", Options: []wire.QuestionOption{{Label: "l"}}}},
		},
		`{"type":"HookRequest","payload":{"id":"i","event":"e","input_data":{"x":1}}}`: wire.HookRequest{
			ID: "i", Event: "e", InputData: json.RawMessage(`{"x":1}`),
		},
		`{"type":"StatusUpdate","payload":{"token_usage":{"input_other":1,"output":2}}}`: wire.StatusUpdate{
			TokenUsage: &llm.Usage{InputOther: 1, Output: 2},
		},
		`{"type":"ToolResult","payload":{"tool_call_id":"c","return_value":{"is_error":false,"output":"","message":"","display":[{"type":"diff","path":"p","old_text":"","new_text":"n"}]}}}`: wire.ToolResult{
			ToolCallID: "c",
			ReturnValue: wire.ToolReturnValue{Display: []wire.Block{
				{Type: wire.BlockDiff, Diff: &wire.DiffBlock{Path: "p", NewText: "n", OldStart: 1, NewStart: 1}},
			}},
		},
		// The names of older versions.
		`{"type":"ApprovalRequestResolved","payload":{"request_id":"r","response":"approve"}}`: wire.ApprovalResponse{
			RequestID: "r", Response: wire.ApprovalApprove,
		},
		`{"type":"SubagentEvent","payload":{"task_tool_call_id":"old","event":{"type":"TurnEnd","payload":{}}}}`: wire.SubagentEvent{
			ParentToolCallID: ptr("old"), Event: wire.TurnEnd{},
		},
		`{"type":"SubagentEvent","payload":{"task_tool_call_id":"old","parent_tool_call_id":"new","event":{"type":"TurnEnd","payload":{}}}}`: wire.SubagentEvent{
			ParentToolCallID: ptr("new"), Event: wire.TurnEnd{},
		},
		// Bytes that are not UTF-8.
		"{\"type\":\"ContentPart\",\"payload\":{\"type\":\"text\",\"text\":\"a\xff\"}}": text("a\ufffd"),
		"{\"type\":\"HookRequest\",\"payload\":{\"id\":\"i\",\"event\":\"e\",\"input_data\":{\"x\":\"\xff\"}}}": wire.HookRequest{
			ID: "i", Event: "e", InputData: json.RawMessage("{\"x\":\"\ufffd\"}"),
		},
	} {
		got, err := wire.Decode([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	returnValue := func(v string) string {
		return `{"type":"ToolResult","payload":{"tool_call_id":"c","return_value":` + v + `}}`
	}
	display := func(block string) string {
		return returnValue(`{"is_error":false,"output":"","message":"","display":[` + block + `]}`)
	}
	for in, want := range map[string]string{
		``:                                  "decode message",
		`[]`:                                "decode message",
		`{`:                                 "decode message",
		`{"payload":{}}`:                    `"type" is missing`,
		`{"type":1}`:                        "decode message",
		`{"type":"TurnEnd","payload":5}`:    "decode TurnEnd",
		`{"type":"TurnEnd","payload":[]}`:   "decode TurnEnd",
		`{"type":"TurnBegin","payload":{}}`: `"user_input" is missing`,
		`{"type":"TurnBegin","payload":{"user_input":null}}`:                `"user_input" is missing`,
		`{"type":"TurnBegin","payload":{"user_input":5}}`:                   "want a string or a list of parts, not 5",
		`{"type":"SteerInput","payload":{"user_input":[{"type":"odour"}]}}`: `unknown type "odour"`,
		`{"type":"StepBegin","payload":{"n":"1"}}`:                          "decode StepBegin",
		`{"type":"StepBegin"}`:                                              `"n" is missing`,
		`{"type":"ContentPart","payload":{"type":"odour"}}`:                 `unknown type "odour"`,
		`{"type":"ToolCall","payload":{"id":"c"}}`:                          `"name" is missing`,
		`{"type":"Notification","payload":{"id":"","category":"","type":"","source_kind":"","source_id":"","title":"","body":"","severity":"","created_at":1,"payload":[]}}`: "want an object",
		`{"type":"HookRequest","payload":{"id":"i","event":"e","input_data":1}}`:                                                                                             "want an object",
		`{"type":"HookRequest","payload":{"id":1,"event":"e","input_data":{}}}`:                                                                                              "decode HookRequest",
		`{"type":"Notification","payload":{"id":1,"category":"","type":"","source_kind":"","source_id":"","title":"","body":"","severity":"","created_at":1}}`:               "decode Notification",
		`{"type":"QuestionRequest","payload":{"id":"i","tool_call_id":"c","questions":[{"question":"q"}]}}`:                                                                  `"options" is missing`,
		`{"type":"QuestionRequest","payload":{"id":"i","tool_call_id":"c","questions":[{"question":"q","options":[{}]}]}}`:                                                   `"label" is missing`,
		`{"type":"StatusUpdate","payload":{"mcp_status":{"loading":true}}}`:                                                                                                  `"connected" is missing`,
		`{"type":"StatusUpdate","payload":{"mcp_status":{"loading":true,"connected":1,"total":1,"tools":1,"servers":[{"name":"n"}]}}}`:                                       `"status" is missing`,

		`{"type":"SubagentEvent","payload":[]}`: "decode SubagentEvent",
		`{"type":"SubagentEvent","payload":{}}`: `"event" is missing`,
		`{"type":"SubagentEvent","payload":{"event":{"type":"ToolCallRequest","payload":{"id":"i","name":"n"}}}}`: "ToolCallRequest is not an event",

		returnValue(`{"is_error":false,"output":"","message":""}`):                            `"display" is missing`,
		returnValue(`{"output":"","message":"","display":[]}`):                                `"is_error" is missing`,
		returnValue(`{"is_error":false,"output":{},"message":"","display":[]}`):               "want a string or a list of parts",
		returnValue(`{"is_error":false,"output":[{"type":"zzz"}],"message":"","display":[]}`): `unknown type "zzz"`,
		returnValue(`{"is_error":false,"output":"","message":"","display":[],"extras":"x"}`):  "extras: want an object",
		display(`{}`):                                       `"type" is missing`,
		display(`null`):                                     `"type" is missing`,
		display(`{"type":""}`):                              "the type is empty",
		display(`{"type":"brief"}`):                         `"text" is missing`,
		display(`{"type":"brief","text":1}`):                `display block "brief"`,
		display(`{"type":"diff","path":"p","old_text":""}`): `"new_text" is missing`,
		display(`{"type":"todo","items":[{"title":"t"}]}`):  `"status" is missing`,
		display(`{"type":"todo","items":[{"title":"t","status":"asleep"}]}`): `unknown status "asleep"`,
		display(`{"type":"shell","language":"bash"}`):                        `"command" is missing`,
		display(`{"type":"background_task","task_id":"1"}`):                  `"kind" is missing`,
	} {
		got, err := wire.Decode([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, error %v, want one with %q", in, got, err, want)
		}
	}
}

func TestDecodeUnknownType(t *testing.T) {
	for in, want := range map[string]wire.UnknownTypeError{
		`{"type":"Sunrise","payload":{"at":5}}`: {Type: "Sunrise", Payload: json.RawMessage(`{"at":5}`)},
		`{"type":"ToolProgress"}`:               {Type: "ToolProgress", Payload: json.RawMessage(`{}`)},
		`{"type":""}`:                           {Payload: json.RawMessage(`{}`)},
		`{"type":"SubagentEvent","payload":{"event":{"type":"Sunset","payload":{}}}}`: {Type: "Sunset", Payload: json.RawMessage(`{}`)},
	} {
		_, err := wire.Decode([]byte(in))
		unknown, ok := errors.AsType[*wire.UnknownTypeError](err)
		if !ok {
			t.Errorf("%s: error %v", in, err)
		} else if diff := cmp.Diff(want, *unknown); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	long := &wire.UnknownTypeError{Type: strings.Repeat("x", 1<<20)}
	if len(long.Error()) > 200 {
		t.Errorf("the error of a long name has %d bytes", len(long.Error()))
	}
}

func TestDecodeNesting(t *testing.T) {
	nest := func(levels int) string {
		return strings.Repeat(`{"type":"SubagentEvent","payload":{"event":`, levels) + `{"type":"TurnEnd"}` + strings.Repeat(`}}`, levels)
	}
	m, err := wire.Decode([]byte(nest(16)))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(encoded(t, m), "SubagentEvent"); got != 16 {
		t.Errorf("%d levels are left of 16", got)
	}
	for _, levels := range []int{17, 1000, 6000} {
		if _, err := wire.Decode([]byte(nest(levels))); err == nil {
			t.Errorf("%d levels were decoded", levels)
		}
	}
}

func TestUnknownBlocksAreStable(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"foo","k":1}`:                `{"type":"foo","data":{"k":1}}`,
		`{"k":1.50,"type":"foo","a":"<"}`:     `{"type":"foo","data":{"a":"<","k":1.50}}`,
		`{"type":"foo"}`:                      `{"type":"foo","data":{}}`,
		`{"type":"foo","data":null}`:          `{"type":"foo","data":null}`,
		`{"type":"foo","data":[1]}`:           `{"type":"foo","data":[1]}`,
		`{"type":"foo","data":{"data":1}}`:    `{"type":"foo","data":{"data":1}}`,
		`{"type":"foo","data":1,"more":2}`:    `{"type":"foo","data":{"data":1,"more":2}}`,
		`{"type":"unknown","data":{"k":"v"}}`: `{"type":"unknown","data":{"k":"v"}}`,
	} {
		line := in
		for round := range 3 {
			var b wire.Block
			if err := json.Unmarshal([]byte(line), &b); err != nil {
				t.Fatalf("%s, round %d: %v", in, round, err)
			}
			out, err := b.MarshalJSON()
			if err != nil {
				t.Fatalf("%s, round %d: %v", in, round, err)
			}
			if line = string(out); line != want {
				t.Errorf("%s, round %d: got %s, want %s", in, round, line, want)
			}
		}
	}
}

func TestHookDecisionJSON(t *testing.T) {
	for in, want := range map[string]wire.HookDecision{
		`{"request_id":"h"}`:              {Action: "allow"},
		`{"action":"block","reason":"r"}`: {Action: "block", Reason: "r"},
	} {
		var got wire.HookDecision
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("%s: got %v (%v), want %v", in, got, err, want)
		}
	}
	var d wire.HookDecision
	if err := json.Unmarshal([]byte(`{"action":1}`), &d); err == nil {
		t.Error("an action that is a number was accepted")
	}
}
