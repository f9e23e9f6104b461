package scripted

import (
	"encoding/json"
	"strings"

	"kimi-acp/soul/llm"
)

// value is what a payload or one of its fields holds: JSON, or bare text, which
// becomes a JSON string. The zero value is null.
type value struct{ raw json.RawMessage }

func (v value) kind() byte {
	if len(v.raw) == 0 {
		return 'n'
	}
	return v.raw[0]
}

func (v value) null() bool   { return v.kind() == 'n' }
func (v value) object() bool { return v.kind() == '{' }

// str gives the contents of a string.
func (v value) str() (string, bool) {
	if v.kind() != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(v.raw, &s)
	return s, err == nil
}

// fields gives the members of an object; none for anything else.
func (v value) fields() fields {
	var m map[string]json.RawMessage
	if v.object() && json.Unmarshal(v.raw, &m) != nil {
		return nil
	}
	out := make(fields, len(m))
	for k, raw := range m {
		out[k] = value{raw}
	}
	return out
}

// fields is an object or a list of k=v tokens; a missing key reads as null.
type fields map[string]value

// parseJSON takes text for JSON if it is.
func parseJSON(text string) (value, bool) {
	if !json.Valid([]byte(text)) {
		return value{}, false
	}
	return value{json.RawMessage(text)}, true
}

// parseValue reads a payload: nothing, null and none are null, JSON is itself
// and anything else is text, without a pair of quotes around it.
func parseValue(text string) value {
	text = strings.TrimFunc(text, isSpace)
	switch strings.ToLower(text) {
	case "", "null", "none":
		return value{}
	}
	if v, ok := parseJSON(text); ok {
		return v
	}
	return value{jsonString(unquote(text))}
}

// parseFields reads a payload that is an object or k=v tokens.
func parseFields(text, context string) (fields, error) {
	text = strings.TrimFunc(text, isSpace)
	if v, ok := parseJSON(text); ok && !v.null() {
		if !v.object() {
			return nil, failf("%s payload must be an object, got %s", context, reprJSON(v.raw))
		}
		return v.fields(), nil
	}
	out := fields{}
	for token := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || isSpace(r) }) {
		key, val, ok := strings.Cut(token, "=")
		if !ok {
			return nil, failf("Invalid token '%s' in %s payload.", token, context)
		}
		out[key] = parseValue(val)
	}
	if len(out) == 0 {
		return nil, failf("%s payload cannot be empty.", context)
	}
	return out, nil
}

func parseUsage(ln line) (*llm.Usage, error) {
	m, err := parseFields(ln.payload, "usage")
	if err != nil {
		return nil, err
	}
	var u llm.Usage
	for _, f := range []struct {
		key string
		to  *int
	}{
		{"input_other", &u.InputOther},
		{"output", &u.Output},
		{"input_cache_read", &u.InputCacheRead},
		{"input_cache_creation", &u.InputCacheCreation},
	} {
		v, ok := m[f.key]
		if !ok {
			continue
		}
		n, ok := v.integer()
		if !ok {
			return nil, failf("Usage field '%s' must be an integer, got %s", f.key, reprJSON(v.raw))
		}
		*f.to = n
	}
	return &u, nil
}

func parseMedia(kind string, ln line) (llm.Media, error) {
	v := parseValue(ln.payload)
	if !v.object() {
		url, ok := v.str()
		if !ok {
			return llm.Media{}, failf("%s expects url string or object, got %s", kind, reprJSON(v.raw))
		}
		return llm.Media{URL: url}, nil
	}
	m := v.fields()
	url, ok := m["url"].str()
	if !ok {
		return llm.Media{}, failf("%s requires a url field, got %s", kind, reprJSON(v.raw))
	}
	media := llm.Media{URL: url}
	if id := m["id"]; !id.null() {
		text, ok := id.str()
		if !ok {
			return llm.Media{}, failf("%s id must be a string when provided.", kind)
		}
		media.ID = &text
	}
	return media, nil
}

func parseCall(ln line) (llm.ToolCall, error) {
	m, err := parseFields(ln.payload, "tool_call")
	if err != nil {
		return llm.ToolCall{}, err
	}
	function := m["function"].fields()
	nameValue := m["name"]
	if nameValue.falsy() {
		nameValue = function["name"]
	}
	arguments, extras := m["arguments"], m["extras"]
	if arguments.null() {
		arguments = function["arguments"]
	}
	if extras.null() {
		extras = function["extras"]
	}

	id, idOK := m["id"].str()
	name, nameOK := nameValue.str()
	if !idOK || !nameOK {
		return llm.ToolCall{}, failf("tool_call requires string id and name at line %d: %s", ln.number, quote(ln.raw))
	}
	call := llm.ToolCall{ID: id, Name: name}
	if !arguments.null() {
		text, ok := arguments.str()
		if !ok {
			return llm.ToolCall{}, failf("tool_call.arguments must be a string at line %d, got %s", ln.number, arguments.typeName())
		}
		call.Arguments = &text
	}
	if extras.object() {
		call.Extras = extras.raw
	}
	return call, nil
}

func parseCallPart(ln line) (*string, error) {
	v := parseValue(ln.payload)
	if v.object() {
		v = v.fields()["arguments_part"]
	}
	switch v.kind() {
	case 'n':
		return nil, nil
	case '{', '[':
		text := asciiJSON(v.raw)
		return &text, nil
	}
	text, ok := v.str()
	switch {
	case !ok:
		return nil, failf("tool_call_part must be text, an object or null at line %d, got %s", ln.number, v.typeName())
	case text == "":
		return nil, nil
	default:
		return &text, nil
	}
}
