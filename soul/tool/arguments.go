package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxArguments bounds the text of one call's arguments, in bytes. It leaves room
// for the largest text that fileop writes, escaped.
const maxArguments = 32 << 20

// parseArguments turns the arguments of a call, as a model sent them, into a
// JSON object. Nothing, blanks and null mean no arguments. What models are known
// to get wrong without leaving doubt is mended: control characters inside
// strings, invalid UTF-8, and an object that was encoded as a JSON string.
func parseArguments(text *string) (json.RawMessage, error) {
	if text == nil {
		return json.RawMessage("{}"), nil
	}
	if len(*text) > maxArguments {
		return nil, fmt.Errorf("the arguments have %d bytes, the limit is %d: do it in several smaller calls", len(*text), maxArguments)
	}
	raw, err := mendJSON(*text)
	if err != nil {
		return nil, err
	}
	if raw != "" && raw[0] == '"' {
		var inner string
		if err := json.Unmarshal([]byte(raw), &inner); err != nil {
			return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
		}
		if raw, err = mendJSON(inner); err != nil {
			return nil, fmt.Errorf("the arguments are a JSON string, not an object, and in the string %w", err)
		}
	}
	switch {
	case raw == "" || raw == "null":
		return json.RawMessage("{}"), nil
	case raw[0] != '{':
		return nil, fmt.Errorf("the arguments must be a JSON object, not %s", kindOfJSON(raw[0]))
	}
	return json.RawMessage(raw), nil
}

// mendJSON gives s as one valid JSON value without blanks around it; "" for
// blanks alone.
func mendJSON(s string) (string, error) {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if s == "" || json.Valid([]byte(s)) {
		return s, nil
	}
	s = escapeControls(s)
	var ignored json.RawMessage
	err := json.Unmarshal([]byte(s), &ignored)
	if err == nil {
		return s, nil
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return "", fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	at := min(max(int(syntax.Offset), 1), len(s))
	before := strings.ToValidUTF8(s[max(at-30, 0):at], "")
	if at == len(s) && strings.Contains(err.Error(), "unexpected end") {
		return "", fmt.Errorf("the arguments are not valid JSON: they break off at byte %d, after %q; send the whole call again, with less text in it if it was cut for its length", at, before)
	}
	return "", fmt.Errorf("the arguments are not valid JSON: %w at byte %d, after %q", err, at, before)
}

// escapeControls escapes the control characters that stand raw inside the
// strings of a JSON text.
func escapeControls(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	inString, escaped := false, false
	for i := range len(s) {
		c := s[i]
		switch {
		case !inString:
			inString = c == '"'
		case escaped:
			escaped = false
			if c < ' ' {
				// A backslash before a raw control character: both are meant.
				b.WriteByte('\\')
			}
		case c == '\\':
			escaped = true
		case c == '"':
			inString = false
		}
		if inString && c < ' ' {
			writeControl(&b, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func writeControl(b *strings.Builder, c byte) {
	switch c {
	case '\n':
		b.WriteString(`\n`)
	case '\r':
		b.WriteString(`\r`)
	case '\t':
		b.WriteString(`\t`)
	default:
		fmt.Fprintf(b, `\u%04x`, c)
	}
}

// kindOfJSON names the kind of a JSON value by its first byte.
func kindOfJSON(first byte) string {
	switch first {
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
