package jsonstring

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestAppend(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `""`},
		{"plain é 😀", `"plain é 😀"`},
		{"\"\\/", `"\"\\/"`},
		{"\b\t\n\f\r", `"\b\t\n\f\r"`},
		{"\x00\x1b\x1f", `"\u0000\u001b\u001f"`},
		{"<>&\x7f", "\"<>&\x7f\""},
		{"\u0085\u2028\u2029\ufeff", "\"\u0085\u2028\u2029\ufeff\""},
		{"a\xffb\xc3", "\"a\ufffdb\ufffd\""},
		{"\ufffd", "\"\ufffd\""},
	}
	for _, tt := range tests {
		if got := string(Append([]byte("x"), tt.in)); got != "x"+tt.want {
			t.Errorf("Append(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func FuzzAppend(f *testing.F) {
	for _, seed := range []string{"", "a\"b", "\x00\n", "é\xff\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := Append(nil, s)
		var back string
		if err := json.Unmarshal(raw, &back); err != nil || !utf8.Valid(raw) {
			t.Fatalf("%q gives %q: %v", s, raw, err)
		}
		if want := string([]rune(s)); back != want { // []rune reads as U+FFFD what is invalid
			t.Fatalf("%q became %q", s, back)
		}
	})
}
