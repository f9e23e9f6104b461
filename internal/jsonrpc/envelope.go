package jsonrpc

import (
	"bytes"
	"encoding/json"
)

// envelope holds the raw values of a message's top-level members; nil where a
// member is absent. encoding/json cannot do this job: it matches names without
// regard to case and cannot read the beginning of a message that is cut.
type envelope struct {
	version, id, method, params, result, failure []byte
}

// member gives the place for the member named key, nil if the name means nothing.
func (e *envelope) member(key string) *[]byte {
	switch key {
	case "jsonrpc":
		return &e.version
	case "id":
		return &e.id
	case "method":
		return &e.method
	case "params":
		return &e.params
	case "result":
		return &e.result
	case "error":
		return &e.failure
	}
	return nil
}

// scanEnvelope reads the members of a JSON object, of which the last one with a
// name wins. The values alias data. On a valid object cut is ""; on an object
// that is cut off it is the name of the member that the cut went through, and
// the members before it were read. Other bytes give what they happen to give.
func scanEnvelope(data []byte) (e envelope, cut string) {
	i := skipSpace(data, 0)
	if i == len(data) || data[i] != '{' {
		return e, ""
	}
	for i++; ; i++ { // past '{' or ','
		i = skipSpace(data, i)
		start := i
		if i = skipString(data, i); i < 0 {
			return e, ""
		}
		key := unquote(data[start:i])
		if i = skipSpace(data, i); i == len(data) || data[i] != ':' {
			return e, key
		}
		start = skipSpace(data, i+1)
		if i = skipValue(data, start); i < 0 {
			return e, key
		}
		if place := e.member(key); place != nil {
			*place = data[start:i:i]
		}
		if i = skipSpace(data, i); i == len(data) || data[i] != ',' {
			return e, ""
		}
	}
}

// skipSpace gives the first index from i on that is no JSON white space.
func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r') {
		i++
	}
	return i
}

// skipString gives the index behind the string that begins at i, -1 if there is
// none or it has no end. Images come as strings of many megabytes, so it looks
// for quotes and not at each byte.
func skipString(data []byte, i int) int {
	if i >= len(data) || data[i] != '"' {
		return -1
	}
	begin := i + 1
	for i = begin; ; i++ {
		quote := bytes.IndexByte(data[i:], '"')
		if quote < 0 {
			return -1
		}
		i += quote
		escapes := 0
		for i-escapes > begin && data[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// skipValue gives the index behind the value that begins at i, -1 if it has no
// end. It counts brackets and does not recurse, so depth costs no stack.
func skipValue(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			if i = skipString(data, i); i < 0 {
				return -1
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return -1 // no value begins like this
			}
			i++
			continue
		default:
			if i = skipScalar(data, i); i < 0 {
				return -1
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return -1
}

// skipScalar gives the index behind a number, true, false or null; -1 if data
// ends there, since more of it may have been cut off.
func skipScalar(data []byte, i int) int {
	for ; i < len(data); i++ {
		switch data[i] {
		case ',', ':', '}', ']', ' ', '\t', '\n', '\r', '"', '{', '[':
			return i
		}
	}
	return -1
}

// unquote gives the value of a JSON string, "" if it is none.
func unquote(raw []byte) string {
	for _, b := range raw {
		if b == '\\' {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return ""
			}
			return s
		}
	}
	return string(raw[1 : len(raw)-1])
}
