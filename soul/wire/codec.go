package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxNesting is how many SubagentEvents may stand in one another.
const maxNesting = 16

// UnknownTypeError says that a message is of a type that is not in Wire 1.10. A
// reader passes the message through or logs it; it is no reason to stop.
type UnknownTypeError struct {
	Type    string          // the envelope's "type"
	Payload json.RawMessage // the envelope's "payload", {} when it was absent
}

// Error names the type.
func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("unknown message type %q", clip(e.Type))
}

// envelope is the form in which every message travels.
type envelope struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// Encode gives the message as {"type":…,"payload":{…}}, compact and in one line:
// keys in the order of the struct's fields, every nullable key there, no HTML
// escapes. Errors: a Local message, a number that JSON cannot hold, a Block or
// part of a type without form, a json.RawMessage that is not JSON, SubagentEvents
// more than 16 deep.
func Encode(m Message) ([]byte, error) { return AppendJSON(nil, m) }

// AppendJSON appends to dst what Encode gives. On an error dst is returned as it was.
func AppendJSON(dst []byte, m Message) ([]byte, error) {
	if m == nil || Local(m) {
		return dst, fmt.Errorf("encode %T: it is not a message of the Wire", m)
	}
	if err := checkNesting(m); err != nil {
		return dst, fmt.Errorf("encode %T: %w", m, err)
	}
	out := append(dst, `{"type":"`...)
	out = append(out, m.WireType()...)
	out = append(out, `","payload":`...)
	out, err := appendPayload(out, m)
	if err != nil {
		return dst, fmt.Errorf("encode %s: %w", m.WireType(), err)
	}
	return append(out, '}'), nil
}

// appendPayload spares a model's deltas, which come by the thousand, the detour
// through reflection.
func appendPayload(dst []byte, m Message) ([]byte, error) {
	if c, ok := m.(ContentPart); ok {
		return c.Part.AppendJSON(dst)
	}
	payload, err := marshal(m)
	return append(dst, payload...), err
}

func checkNesting(m Message) error {
	for range maxNesting + 1 {
		sub, ok := m.(SubagentEvent)
		if !ok {
			return nil
		}
		m = sub.Event
	}
	return errTooDeep
}

var errTooDeep = fmt.Errorf("more than %d SubagentEvents in one another", maxNesting)

// Decode reads what Encode gives, and what other programs write: absent nullable
// keys are nil, other absent keys have the defaults of Wire 1.10, unknown keys are
// ignored, the names of older versions are understood, bytes that are not UTF-8
// become U+FFFD. Display blocks of unknown types are kept. A message of an unknown
// type, also one within a SubagentEvent, is an *UnknownTypeError. Decode keeps no
// part of data.
func Decode(data []byte) (Message, error) {
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	return decode(data, maxNesting)
}

// decode reads a message with at most depth SubagentEvents in one another.
func decode(data []byte, depth int) (Message, error) {
	var e envelope
	if err := decodeObject(data, &e, "type"); err != nil {
		return nil, fmt.Errorf("decode message: %w", err)
	}
	if isNull(e.Payload) {
		e.Payload = json.RawMessage(`{}`)
	}
	var m Message
	var err error
	if e.Type == typeSubagentEvent {
		m, err = decodeSubagentEvent(e.Payload, depth)
	} else if read, ok := registry[e.Type]; ok {
		m, err = read(e.Payload)
	} else {
		return nil, &UnknownTypeError{Type: e.Type, Payload: e.Payload}
	}
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", e.Type, err)
	}
	return m, nil
}

const typeSubagentEvent = "SubagentEvent"

func decodeSubagentEvent(payload []byte, depth int) (Message, error) {
	if depth == 0 {
		return nil, errTooDeep
	}
	var in struct {
		ParentToolCallID *string         `json:"parent_tool_call_id"`
		TaskToolCallID   *string         `json:"task_tool_call_id"` // its name before Wire 1.6
		AgentID          *string         `json:"agent_id"`
		SubagentType     *string         `json:"subagent_type"`
		Event            json.RawMessage `json:"event"`
	}
	if err := decodeObject(payload, &in, "event"); err != nil {
		return nil, err
	}
	inner, err := decode(in.Event, depth-1)
	if err != nil {
		return nil, err
	}
	event, ok := inner.(Event)
	if !ok {
		return nil, fmt.Errorf("%s is not an event", inner.WireType())
	}
	if in.ParentToolCallID == nil {
		in.ParentToolCallID = in.TaskToolCallID
	}
	return SubagentEvent{
		ParentToolCallID: in.ParentToolCallID,
		AgentID:          in.AgentID,
		SubagentType:     in.SubagentType,
		Event:            event,
	}, nil
}

// MarshalJSON gives the payload, in which the inner event has its own envelope.
func (e SubagentEvent) MarshalJSON() ([]byte, error) {
	if e.Event == nil {
		return nil, errors.New("there is no inner event")
	}
	inner, err := Encode(e.Event)
	if err != nil {
		return nil, err
	}
	return marshal(struct {
		ParentToolCallID *string         `json:"parent_tool_call_id"`
		AgentID          *string         `json:"agent_id"`
		SubagentType     *string         `json:"subagent_type"`
		Event            json.RawMessage `json:"event"`
	}{e.ParentToolCallID, e.AgentID, e.SubagentType, inner})
}

// marshal is json.Marshal without HTML escapes.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// clip shortens text of unknown origin for an error.
func clip(s string) string {
	const limit = 64
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "…"
}
