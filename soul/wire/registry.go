package wire

import (
	"encoding/json"
	"fmt"
)

// decoder reads a payload.
type decoder func(payload []byte) (Message, error)

// as makes the decoder of T. Keys that the payload lacks keep their values of
// defaults; the required ones must be there and not be null.
func as[T Message](defaults T, required ...string) decoder {
	return func(payload []byte) (Message, error) {
		m := defaults
		if err := decodeObject(payload, &m, required...); err != nil {
			return nil, err
		}
		return m, nil
	}
}

// registry has the messages of Wire 1.10 by the name in their envelope. Only
// SubagentEvent is not here: its payload holds a message, so Decode reads it.
// Nothing changes the map.
var registry = map[string]decoder{
	"TurnBegin":        as(TurnBegin{}, "user_input"),
	"SteerInput":       as(SteerInput{}, "user_input"),
	"TurnEnd":          as(TurnEnd{}),
	"StepBegin":        as(StepBegin{}, "n"),
	"StepInterrupted":  as(StepInterrupted{}),
	"StepRetry":        as(StepRetry{}, "n", "next_attempt", "max_attempts", "wait_s", "error_type"),
	"CompactionBegin":  as(CompactionBegin{}),
	"CompactionEnd":    as(CompactionEnd{}),
	"MCPLoadingBegin":  as(MCPLoadingBegin{}),
	"MCPLoadingEnd":    as(MCPLoadingEnd{}),
	"HookTriggered":    as(HookTriggered{HookCount: 1}, "event"),
	"HookResolved":     as(HookResolved{Action: hookAllow}, "event"),
	"StatusUpdate":     as(StatusUpdate{}),
	"Notification":     as(Notification{}, "id", "category", "type", "source_kind", "source_id", "title", "body", "severity", "created_at"),
	"ContentPart":      as(ContentPart{}),
	"ToolCall":         as(ToolCall{}),
	"ToolCallPart":     as(ToolCallPart{}),
	"ToolResult":       as(ToolResult{}, "tool_call_id", "return_value"),
	"ApprovalResponse": as(ApprovalResponse{}, "request_id", "response"),
	"PlanDisplay":      as(PlanDisplay{}, "content", "file_path"),
	"BtwBegin":         as(BtwBegin{}, "id", "question"),
	"BtwEnd":           as(BtwEnd{}, "id"),

	"ApprovalRequest": as(ApprovalRequest{}, "id", "tool_call_id", "sender", "action", "description"),
	"ToolCallRequest": as(ToolCallRequest{}, "id", "name"),
	"QuestionRequest": as(QuestionRequest{}, "id", "tool_call_id", "questions"),
	"HookRequest":     as(HookRequest{}, "id", "event", "input_data"),

	// Wire 1.0 called it so.
	"ApprovalRequestResolved": as(ApprovalResponse{}, "request_id", "response"),
}

// decodeObject reads a JSON object into v, which points to a struct. The required
// keys must be there and not be null; other keys may be absent.
func decodeObject(data []byte, v any, required ...string) error {
	if len(required) > 0 {
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(data, &keys); err != nil {
			return err
		}
		for _, key := range required {
			if isNull(keys[key]) {
				return fmt.Errorf("%q is missing", key)
			}
		}
	}
	return json.Unmarshal(data, v)
}

// isNull reports whether raw stands for no value.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
