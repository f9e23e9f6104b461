package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// FailedTool is the result of a call that failed: a message for the model and a brief for
// people. Where one of the two is empty, the other stands for it.
func FailedTool(message, brief string) ToolReturnValue {
	return ToolReturnValue{IsError: true, Message: cmp.Or(message, brief), Display: []Block{Brief(cmp.Or(brief, message))}}
}

// Brief is a block with a few words.
func Brief(text string) Block {
	return Block{Type: BlockBrief, Brief: &BriefBlock{Text: text}}
}

// resultJSON is the form of a ToolReturnValue. It has no Files, Todo and Rejected.
type resultJSON struct {
	IsError bool            `json:"is_error"`
	Output  Output          `json:"output"`
	Message string          `json:"message"`
	Display []Block         `json:"display"`
	Extras  json.RawMessage `json:"extras"`
}

// MarshalJSON gives is_error, output, message, display and extras. What stays in
// this process is not written.
func (v ToolReturnValue) MarshalJSON() ([]byte, error) {
	out := resultJSON{v.IsError, v.Output, v.Message, notNil(v.Display), v.Extras}
	if err := checkObject(v.Extras); err != nil {
		return nil, fmt.Errorf("extras: %w", err)
	}
	return marshal(out)
}

// UnmarshalJSON reads what MarshalJSON gives. All keys but extras are required.
func (v *ToolReturnValue) UnmarshalJSON(data []byte) error {
	var in resultJSON
	if err := decodeObject(data, &in, "is_error", "output", "message", "display"); err != nil {
		return fmt.Errorf("tool return value: %w", err)
	}
	if err := checkObject(in.Extras); err != nil {
		return fmt.Errorf("tool return value: extras: %w", err)
	}
	if isNull(in.Extras) {
		in.Extras = nil
	}
	*v = ToolReturnValue{IsError: in.IsError, Output: in.Output, Message: in.Message, Display: in.Display, Extras: in.Extras}
	return nil
}
