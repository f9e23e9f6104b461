package wire

import (
	"encoding/json"
	"fmt"

	"kimi-acp/soul/llm"
)

// MarshalJSON gives a string, or a list of parts.
func (u UserInput) MarshalJSON() ([]byte, error) { return marshalContent(u.Text, u.Parts) }

// UnmarshalJSON reads a string or a list of parts.
func (u *UserInput) UnmarshalJSON(data []byte) (err error) {
	u.Text, u.Parts, err = unmarshalContent(data)
	return err
}

// MarshalJSON gives a string, or a list of parts.
func (o Output) MarshalJSON() ([]byte, error) { return marshalContent(o.Text, o.Parts) }

// UnmarshalJSON reads a string or a list of parts.
func (o *Output) UnmarshalJSON(data []byte) (err error) {
	o.Text, o.Parts, err = unmarshalContent(data)
	return err
}

func marshalContent(text string, parts []llm.Part) ([]byte, error) {
	if parts == nil {
		return marshal(text)
	}
	return marshal(parts)
}

func unmarshalContent(data []byte) (text string, parts []llm.Part, err error) {
	switch data[0] {
	case '"':
		err = json.Unmarshal(data, &text)
	case '[':
		err = json.Unmarshal(data, &parts)
	default:
		err = fmt.Errorf("want a string or a list of parts, not %s", clip(string(data)))
	}
	return text, parts, err
}

// MarshalJSON gives the part itself.
func (c ContentPart) MarshalJSON() ([]byte, error) { return c.Part.MarshalJSON() }

// UnmarshalJSON reads the part itself.
func (c *ContentPart) UnmarshalJSON(data []byte) error { return c.Part.UnmarshalJSON(data) }

// MarshalJSON gives the call itself.
func (c ToolCall) MarshalJSON() ([]byte, error) { return c.Call.MarshalJSON() }

// UnmarshalJSON reads the call itself.
func (c *ToolCall) UnmarshalJSON(data []byte) error { return c.Call.UnmarshalJSON(data) }
