package jsonrpc

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// A3: one line and valid UTF-8, whatever is sent.
func TestA3_OneLineOfUTF8(t *testing.T) {
	binary := "a\nb\r\xff\xfe\u2028<&>"
	tests := []struct {
		name string
		v    any
		want string
	}{
		{"string", binary, `"a\nb\r` + `\ufffd\ufffd` + `\u2028<&>"`},
		{"appender", delta(binary), `{"sessionId":"s1","text":"a\nb\r` + "\ufffd\ufffd\u2028" + `<&>"}`},
		{"careless appender", appends("\"\xff\""), "\"\ufffd\""},
		{"raw", json.RawMessage("{\n\"a\": \"\xff\"\r\n}"), "{\"a\":\"\ufffd\"}"},
		{"raw numbers", json.RawMessage(`[1.0, 9007199254740993]`), `[1.0,9007199254740993]`},
		{"nil raw", json.RawMessage(nil), `null`},
		{"nil", nil, `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := appendValue([]byte("x"), tt.v)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, string(got), "x"+tt.want)
			if strings.ContainsAny(string(got), "\n\r") || !utf8.Valid(got) || !json.Valid(got[1:]) {
				t.Errorf("no line of JSON: %q", got)
			}
		})
	}
}
