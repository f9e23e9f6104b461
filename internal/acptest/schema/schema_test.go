package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kimi-acp/internal/acptest/schema"
)

func TestCheck(t *testing.T) {
	const update = `{"sessionId":"s","update":{"sessionUpdate":`
	tests := []struct {
		name, definition, value string
		wrong                   string // part of the error; empty: valid
	}{
		{"prompt result", "PromptResponse", `{"stopReason":"end_turn"}`, ""},
		{"stop reason outside the enum", "PromptResponse", `{"stopReason":"done"}`, "stopReason"},
		{"result null", "PromptResponse", `null`, "PromptResponse"},
		{"member that is not defined", "PromptResponse", `{"stopReason":"end_turn","turn":1}`, "not defined"},
		{"member of the unstable schema", "PromptResponse", `{"stopReason":"end_turn","usage":{"totalTokens":1,"inputTokens":1,"outputTokens":0}}`, "not defined"},
		{"meta takes anything", "PromptResponse", `{"stopReason":"end_turn","_meta":{"x":{"y":1}}}`, ""},
		{"meta must be an object", "PromptResponse", `{"stopReason":"end_turn","_meta":1}`, "_meta"},
		{"message chunk", "SessionNotification", update + `"agent_message_chunk","content":{"type":"text","text":"hi"}}}`, ""},
		{"message chunk with a list", "SessionNotification", update + `"agent_message_chunk","content":[{"type":"text","text":"hi"}]}}`, "content"},
		{"unknown update", "SessionNotification", update + `"dance"}}`, "enum"},
		{"member deep inside", "SessionNotification", update + `"agent_message_chunk","content":{"type":"text","text":"hi","content has a member that is not defined":true}}}`, "content has a member that is not defined"},
		{"member in the update", "SessionNotification", update + `"agent_message_chunk","turn":1,"content":{"type":"text","text":"hi"}}}`, "not defined"},
		{"raw input is free", "SessionNotification", update + `"tool_call","toolCallId":"c","title":"t","rawInput":{"any":{"thing":[1]}}}}`, ""},
		{"bare block as tool content", "SessionNotification", update + `"tool_call","toolCallId":"c","title":"t","content":[{"type":"text","text":"x"}]}}`, "content"},
		{"wrapped block as tool content", "SessionNotification", update + `"tool_call","toolCallId":"c","title":"t","content":[{"type":"content","content":{"type":"text","text":"x"}}]}}`, ""},
		{"modeId in place of currentModeId", "SessionNotification", update + `"current_mode_update","modeId":"ask"}}`, "currentModeId"},
		{"plan without entries", "SessionNotification", update + `"plan","entries":null}}`, "entries"},
		{"draft update", "SessionNotification", update + `"plan_removed","planId":"p"}}`, "update"},
		{"stdio server without a type", "NewSessionRequest", `{"cwd":"/w","mcpServers":[{"name":"n","command":"/c","args":[],"env":[]}]}`, ""},
		{"terminal auth", "InitializeResponse", `{"protocolVersion":1,"authMethods":[{"type":"terminal","id":"l","name":"L","args":["login"],"env":{"A":"b"}}]}`, ""},
		{"auth by environment is gone", "InitializeResponse", `{"protocolVersion":1,"authMethods":[{"type":"env_var","id":"l","name":"L","vars":[]}]}`, "not defined"},
		{"version too large", "InitializeResponse", `{"protocolVersion":70000}`, "protocolVersion"},
		{"elicitation without a scope", "CreateElicitationRequest", `{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`, "anyOf"},
		{"elicitation", "CreateElicitationRequest", `{"message":"m","sessionId":"s","mode":"form","requestedSchema":{"type":"object","properties":{"a":{"type":"string","minLength":1}}}}`, ""},
		{"boolean option", "SetSessionConfigOptionResponse", `{"configOptions":[{"id":"i","name":"N","type":"boolean","currentValue":true}]}`, ""},
		{"grouped options", "SetSessionConfigOptionResponse", `{"configOptions":[{"id":"i","name":"N","type":"select","currentValue":"a","options":[{"group":"g","name":"G","options":[{"value":"a","name":"A"}]}]}]}`, ""},
		{"error", "Error", `{"code":-32602,"message":"m","data":{"sessionId":"s"}}`, ""},
		{"error without a message", "Error", `{"code":-32602}`, "message"},
		{"no such definition", "Nonsense", `{}`, "no definition"},
	}
	set, err := schema.Stable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var value any
			if err := json.Unmarshal([]byte(tt.value), &value); err != nil {
				t.Fatal(err)
			}
			err := set.Check(tt.definition, value)
			switch {
			case tt.wrong == "" && err != nil:
				t.Errorf("Check: %v, want no error", err)
			case tt.wrong != "" && err == nil:
				t.Errorf("Check accepted it, want an error with %q", tt.wrong)
			case tt.wrong != "" && !strings.Contains(err.Error(), tt.wrong):
				t.Errorf("Check: %v, want it to contain %q", err, tt.wrong)
			}
		})
	}
}

func TestMethods(t *testing.T) {
	stable, err := schema.Stable()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		want schema.Method
	}{
		{"session/prompt", schema.Method{Side: schema.Agent, Request: "PromptRequest", Response: "PromptResponse"}},
		{"session/cancel", schema.Method{Side: schema.Agent, Notification: "CancelNotification"}},
		{"session/update", schema.Method{Side: schema.Client, Notification: "SessionNotification"}},
		{"fs/read_text_file", schema.Method{Side: schema.Client, Request: "ReadTextFileRequest", Response: "ReadTextFileResponse"}},
		{"$/cancel_request", schema.Method{Side: schema.Protocol, Notification: "CancelRequestNotification"}},
	}
	for _, tt := range tests {
		if got, ok := stable.Method(tt.name); !ok || got != tt.want {
			t.Errorf("Method(%q) = %+v, %v, want %+v", tt.name, got, ok, tt.want)
		}
	}
	if m, ok := stable.Method("session/fork"); ok {
		t.Errorf("the stable schema has the draft method session/fork: %+v", m)
	}
	unstable, err := schema.Unstable()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := unstable.Method("session/fork"); !ok {
		t.Error("the unstable schema lacks session/fork")
	}
	usage := map[string]any{"stopReason": "end_turn", "usage": map[string]any{"totalTokens": 1.0, "inputTokens": 1.0, "outputTokens": 0.0}}
	if err := unstable.Check("PromptResponse", usage); err != nil {
		t.Errorf("the unstable schema refuses usage: %v", err)
	}
}

func BenchmarkCheckChunk(b *testing.B) {
	set, err := schema.Stable()
	if err != nil {
		b.Fatal(err)
	}
	value := map[string]any{"sessionId": "s", "update": map[string]any{
		"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": "hi"},
	}}
	for b.Loop() {
		if err := set.Check("SessionNotification", value); err != nil {
			b.Fatal(err)
		}
	}
}
