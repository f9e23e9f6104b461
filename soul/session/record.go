package session

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"kimi-acp/soul/llm"
)

// The roles of context.jsonl that are not a model's.
const (
	roleSystem     = "_system_prompt"
	roleCheckpoint = "_checkpoint"
	roleUsage      = "_usage"
)

func appendSystem(dst []byte, prompt string) []byte {
	dst = append(dst, `{"role": "_system_prompt", "content": `...)
	dst = appendASCII(dst, prompt)
	return append(dst, "}\n"...)
}

func appendCheckpoint(dst []byte, id int) []byte {
	dst = append(dst, `{"role": "_checkpoint", "id": `...)
	dst = strconv.AppendInt(dst, int64(id), 10)
	return append(dst, "}\n"...)
}

func appendUsage(dst []byte, tokens int) []byte {
	dst = append(dst, `{"role": "_usage", "token_count": `...)
	dst = strconv.AppendInt(dst, int64(tokens), 10)
	return append(dst, "}\n"...)
}

// appendMessage appends a message as a line.
func appendMessage(dst []byte, m llm.Message) ([]byte, error) {
	dst, err := m.AppendJSON(dst)
	return append(dst, '\n'), err
}

// appendASCII appends a JSON string in which all that is not ASCII is escaped,
// what is beyond 16 bits as a pair.
func appendASCII(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\b':
			dst = append(dst, `\b`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		case r >= ' ' && r < utf8.RuneSelf:
			dst = append(dst, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = appendEscape(appendEscape(dst, high), low)
		default:
			dst = appendEscape(dst, r)
		}
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
}
