package acp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"kimi-acp/internal/jsonrpc"
)

// members is a JSON object of an editor, taken apart. Editors differ in what they
// leave out and add, so each member is read by itself: what a method needs is
// checked, a malformed optional member counts as absent (as the schema's
// x-deserialize-default-on-error says), and unknown members are ignored.
type members map[string]json.RawMessage

// parseParams takes the parameters of a method apart.
func parseParams(raw json.RawMessage) (members, error) {
	m, ok := object(raw)
	if !ok {
		return nil, invalid("params must be an object, not %s", kindOf(raw))
	}
	return m, nil
}

// object takes a JSON object apart; ok is false for anything else.
func object(raw json.RawMessage) (m members, ok bool) {
	if kindOf(raw) != "an object" || json.Unmarshal(raw, &m) != nil {
		return nil, false
	}
	return m, true
}

// text is a required string.
func (m members) text(name string) (string, error) {
	raw, ok := m[name]
	if !ok {
		return "", invalid("%s is missing", name)
	}
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", invalid("%s must be a string, not %s", name, kindOf(raw))
	}
	return *s, nil
}

// optionalText is a string that may be absent, null or malformed: then "".
func (m members) optionalText(name string) string {
	var s string
	if json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return s
}

// list is an array; ok is false when the member is absent or no array.
func (m members) list(name string) (items []json.RawMessage, ok bool) {
	raw := m[name]
	if kindOf(raw) != "an array" || json.Unmarshal(raw, &items) != nil {
		return nil, false
	}
	return items, true
}

// sub is a nested object; empty when absent or malformed.
func (m members) sub(name string) members {
	o, _ := object(m[name])
	return o
}

// flag is a boolean; false when absent or malformed.
func (m members) flag(name string) bool {
	return string(bytes.TrimSpace(m[name])) == "true"
}

// has reports whether a marker, an object in ACP, is there.
func (m members) has(name string) bool {
	_, ok := object(m[name])
	return ok
}

// kindOf names the kind of a JSON value for an error text.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// invalid is the error for parameters that are not as the protocol says.
func invalid(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + fmt.Sprintf(format, args...)}
}

// maxEcho bounds what an error repeats of the editor's input, in bytes.
const maxEcho = 200

// clip shortens s for an error text.
func clip(s string) string {
	if len(s) <= maxEcho {
		return s
	}
	cut := maxEcho
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
