package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// message is one line of the wire, taken apart.
type message struct {
	id     string // raw JSON, "" when absent
	method string
	params any // as encoding/json decodes, nil when absent
	result any
	err    any

	hasMethod, hasResult, hasError bool
}

func (m *message) isRequest() bool { return m.hasMethod && m.id != "" }

// parse takes a line without its newline apart. What it says is wrong makes the
// line unusable; what is merely against the rules goes to report.
func parse(line []byte, report func(format string, args ...any)) (*message, error) {
	if !utf8.Valid(line) {
		report("the line is not valid UTF-8")
	}
	if bytes.IndexByte(line, '\r') >= 0 {
		report("the line has a carriage return")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, fmt.Errorf("the line is not a JSON object: %w", err)
	}
	m := &message{}
	for name, raw := range members {
		var err error
		switch name {
		case "jsonrpc":
			if string(raw) != `"2.0"` {
				report(`jsonrpc is %s, want "2.0"`, raw)
			}
		case "id":
			m.id = string(raw)
		case "method":
			m.hasMethod = true
			err = json.Unmarshal(raw, &m.method)
		case "params":
			err = json.Unmarshal(raw, &m.params)
		case "result":
			m.hasResult = true
			err = json.Unmarshal(raw, &m.result)
		case "error":
			m.hasError = true
			err = json.Unmarshal(raw, &m.err)
		default:
			report("a message has no member %q", name)
		}
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", name, err)
		}
	}
	if _, ok := members["jsonrpc"]; !ok {
		report(`jsonrpc is missing, want "2.0"`)
	}
	_, hasParams := members["params"]
	err := m.checkForm(hasParams)
	return m, err
}

func (m *message) checkForm(hasParams bool) error {
	switch {
	case m.hasMethod && (m.hasResult || m.hasError):
		return fmt.Errorf("method beside a result or an error")
	case m.hasMethod && m.method == "":
		return fmt.Errorf("the method is empty")
	case m.hasMethod:
		if m.id != "" && !isID(m.id) {
			return fmt.Errorf("a request id is a string or an integer, not %s", m.id)
		}
		return nil
	case hasParams:
		return fmt.Errorf("params without a method")
	case m.hasResult == m.hasError:
		return fmt.Errorf("a response has exactly one of result and error")
	case m.id == "":
		return fmt.Errorf("a response has an id")
	}
	return nil
}

// isID tells whether raw is a string or an integer. Null is allowed by the letter
// and discouraged; a request with it cannot be told from a failed one.
func isID(raw string) bool {
	if raw[0] == '"' {
		return true
	}
	for i, c := range []byte(raw) {
		if (c < '0' || c > '9') && (i != 0 || c != '-') {
			return false
		}
	}
	return true
}

// object, text, list and flag read decoded JSON; what is not of the kind, or not
// there, is the zero value. The schema has complained of it already.

func object(v any, path ...string) map[string]any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	m, _ := v.(map[string]any)
	return m
}

func text(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

func list(m map[string]any, name string) []any {
	l, _ := m[name].([]any)
	return l
}

func flag(m map[string]any, name string) bool {
	b, _ := m[name].(bool)
	return b
}
