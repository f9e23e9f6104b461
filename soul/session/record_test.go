package session

import (
	"encoding/json"
	"testing"
)

func TestASCII(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `""`},
		{"a/b<>&'", `"a/b<>&'"`},
		{"\"\\\n\r\t\b\f", `"\"\\\n\r\t\b\f"`},
		{"\x00\x1f\x7f", "\"\\u0000\\u001f\x7f\""},
		{"é\u2028\uffff", `"\u00e9\u2028\uffff"`},
		{"\U00010000\U0010ffff", `"\ud800\udc00\udbff\udfff"`},
	}
	for _, tt := range tests {
		got := appendASCII(nil, tt.text)
		if string(got) != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != tt.text {
			t.Errorf("%q: read as %q, %v", tt.text, back, err)
		}
	}
	if got := string(appendASCII(nil, "a\xffb")); got != `"a\ufffdb"` {
		t.Errorf("bytes that are no UTF-8: %s", got)
	}
}
