package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The scripts' error texts quote values as Python prints them, and scripts are
// cut into lines as Python cuts them. This file holds those rules.

// splitLines cuts text as str.splitlines does; a final line end begins no line.
func splitLines(text string) []string {
	var lines []string
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch r {
		case '\n', '\v', '\f', '\r', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			lines = append(lines, text[start:i])
			if r == '\r' && strings.HasPrefix(text[i+size:], "\n") {
				size++
			}
			start = i + size
		}
		i += size
	}
	if start < len(text) {
		lines = append(lines, text[start:])
	}
	return lines
}

// isSpace tells what str.strip removes.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}

// unquote removes one pair of equal quotes around s.
func unquote(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') {
		return s[1 : n-1]
	}
	return s
}

// parseInt reads a whole number as int() does: blanks around it, a sign, and
// single underscores between digits.
func parseInt(s string) (int, bool) {
	s = strings.TrimFunc(s, isSpace)
	digits := strings.TrimLeft(s, "+-")
	if strings.HasPrefix(digits, "_") || strings.HasSuffix(digits, "_") || strings.Contains(digits, "__") {
		return 0, false
	}
	n, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
	return n, err == nil
}

// integer gives the value as int() makes it: numbers are cut, true is 1 and
// text must be a whole number.
func (v value) integer() (int, bool) {
	switch v.kind() {
	case 't':
		return 1, true
	case 'f':
		return 0, true
	case '"':
		s, _ := v.str()
		return parseInt(s)
	case 'n', '{', '[':
		return 0, false
	}
	if n, err := strconv.Atoi(string(v.raw)); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v.raw), 64)
	if err != nil || math.Abs(f) >= 1<<62 {
		return 0, false
	}
	return int(f), true
}

// falsy tells whether Python's `or` passes over the value.
func (v value) falsy() bool {
	switch v.kind() {
	case 'n', 'f':
		return true
	case '"':
		return string(v.raw) == `""`
	case '{':
		return len(v.fields()) == 0
	case '[':
		var items []json.RawMessage
		return json.Unmarshal(v.raw, &items) == nil && len(items) == 0
	case 't':
		return false
	}
	f, err := strconv.ParseFloat(string(v.raw), 64)
	return err == nil && f == 0
}

// typeName names the value's type as type(v).__name__ does.
func (v value) typeName() string {
	switch v.kind() {
	case 'n':
		return "NoneType"
	case 't', 'f':
		return "bool"
	case '"':
		return "str"
	case '{':
		return "dict"
	case '[':
		return "list"
	}
	if bytes.ContainsAny(v.raw, ".eE") {
		return "float"
	}
	return "int"
}

// quote prints text as repr does.
func quote(s string) string {
	q := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	var b strings.Builder
	b.WriteRune(q)
	for _, r := range s {
		switch {
		case r == q || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(q)
	return b.String()
}

// reprJSON prints a JSON value as repr prints it once loaded. The text is valid
// JSON, or empty, which stands for null.
func reprJSON(raw []byte) string {
	if len(raw) == 0 {
		return "None"
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var b strings.Builder
	reprNext(dec, &b)
	return b.String()
}

// reprNext prints the decoder's next value. A decoder over valid JSON does not
// fail, and a container ends where More says so.
func reprNext(dec *json.Decoder, b *strings.Builder) {
	token, err := dec.Token()
	if err != nil {
		return
	}
	switch t := token.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		if t {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case string:
		b.WriteString(quote(t))
	case json.Number:
		b.WriteString(t.String())
	case json.Delim:
		b.WriteRune(rune(t))
		for first := true; dec.More(); first = false {
			if !first {
				b.WriteString(", ")
			}
			reprNext(dec, b)
			if t == '{' {
				b.WriteString(": ")
				reprNext(dec, b)
			}
		}
		if end, err := dec.Token(); err == nil {
			fmt.Fprint(b, end)
		}
	}
}

// jsonString encodes text as a JSON string that escapes no HTML.
func jsonString(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// asciiString encodes text as json.dumps does.
func asciiString(s string) string { return asciiJSON(jsonString(s)) }

// asciiJSON gives valid JSON without blanks, and in ASCII alone.
func asciiJSON(raw []byte) string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return string(raw)
	}
	var b strings.Builder
	for _, r := range compact.String() {
		switch {
		case r <= '~':
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return b.String()
}
