package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Lists and objects that are not nullable on the Wire are written as [] and {}
// when Go has nil; on input the fields that are not nullable and have no default
// are required. Here are the payloads in which encoding/json alone would do neither.

// notNil gives an empty list for a nil one.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// objectOrEmpty gives {} for no value.
func objectOrEmpty(raw json.RawMessage) (json.RawMessage, error) {
	if isNull(raw) {
		return json.RawMessage(`{}`), nil
	}
	return raw, checkObject(raw)
}

// checkObject is an error when raw is neither null nor an object. Whether an
// object is whole is for encoding/json to say.
func checkObject(raw json.RawMessage) error {
	if !isNull(raw) && raw[0] != '{' {
		return errors.New("want an object")
	}
	return nil
}

// MarshalJSON writes an empty Display as [].
func (r ApprovalRequest) MarshalJSON() ([]byte, error) {
	type plain ApprovalRequest
	r.Display = notNil(r.Display)
	return marshal(plain(r))
}

// MarshalJSON writes empty Questions as [].
func (r QuestionRequest) MarshalJSON() ([]byte, error) {
	type plain QuestionRequest
	r.Questions = notNil(r.Questions)
	return marshal(plain(r))
}

// MarshalJSON writes empty Options as [].
func (q Question) MarshalJSON() ([]byte, error) {
	type plain Question
	q.Options = notNil(q.Options)
	return marshal(plain(q))
}

// UnmarshalJSON reads a question. The question itself and its options are required.
func (q *Question) UnmarshalJSON(data []byte) error {
	type plain Question
	return decodeObject(data, (*plain)(q), "question", "options")
}

// UnmarshalJSON reads an option. Its label is required.
func (o *QuestionOption) UnmarshalJSON(data []byte) error {
	type plain QuestionOption
	return decodeObject(data, (*plain)(o), "label")
}

// MarshalJSON writes an empty InputData as {}; anything but an object is an error.
func (r HookRequest) MarshalJSON() (_ []byte, err error) {
	type plain HookRequest
	if r.InputData, err = objectOrEmpty(r.InputData); err != nil {
		return nil, fmt.Errorf("input_data: %w", err)
	}
	return marshal(plain(r))
}

// UnmarshalJSON reads the request; input_data must be an object.
func (r *HookRequest) UnmarshalJSON(data []byte) error {
	type plain HookRequest
	if err := json.Unmarshal(data, (*plain)(r)); err != nil {
		return err
	}
	if err := checkObject(r.InputData); err != nil {
		return fmt.Errorf("input_data: %w", err)
	}
	return nil
}

// UnmarshalJSON reads the answer to a HookRequest. The action defaults to "allow".
func (d *HookDecision) UnmarshalJSON(data []byte) error {
	type plain HookDecision
	out := plain{Action: hookAllow}
	if err := json.Unmarshal(data, &out); err != nil {
		return err
	}
	*d = HookDecision(out)
	return nil
}

// MarshalJSON writes an empty Payload as {}; anything but an object is an error.
func (n Notification) MarshalJSON() (_ []byte, err error) {
	type plain Notification
	if n.Payload, err = objectOrEmpty(n.Payload); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	return marshal(plain(n))
}

// UnmarshalJSON reads the notification; its payload is an object, {} when absent.
func (n *Notification) UnmarshalJSON(data []byte) (err error) {
	type plain Notification
	if err := json.Unmarshal(data, (*plain)(n)); err != nil {
		return err
	}
	if n.Payload, err = objectOrEmpty(n.Payload); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	return nil
}

// MarshalJSON writes empty Servers as [].
func (s MCPStatus) MarshalJSON() ([]byte, error) {
	type plain MCPStatus
	s.Servers = notNil(s.Servers)
	return marshal(plain(s))
}

// UnmarshalJSON reads the status. All fields are required.
func (s *MCPStatus) UnmarshalJSON(data []byte) error {
	type plain MCPStatus
	return decodeObject(data, (*plain)(s), "loading", "connected", "total", "tools", "servers")
}

// MarshalJSON writes empty Tools as [].
func (s MCPServerStatus) MarshalJSON() ([]byte, error) {
	type plain MCPServerStatus
	s.Tools = notNil(s.Tools)
	return marshal(plain(s))
}

// UnmarshalJSON reads the status. All fields are required.
func (s *MCPServerStatus) UnmarshalJSON(data []byte) error {
	type plain MCPServerStatus
	return decodeObject(data, (*plain)(s), "name", "status", "tools")
}

// MarshalJSON writes empty Items as [].
func (b TodoBlock) MarshalJSON() ([]byte, error) {
	type plain TodoBlock
	b.Items = notNil(b.Items)
	return marshal(plain(b))
}
