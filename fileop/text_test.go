package fileop

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		data    string
		body    string
		bom     bool
		newline Newline
		notUTF8 bool
	}{
		{data: ""},
		{data: "a", body: "a"},
		{data: "a\nb\n", body: "a\nb\n"},
		{data: "a\r\nb", body: "a\nb", newline: CRLF},
		{data: "\ufeffa\r\n", body: "a\n", bom: true, newline: CRLF},
		{data: "\ufeff\ufeffa", body: "\ufeffa", bom: true},
		{data: "a\r\nb\n", body: "a\nb\n", newline: Mixed},
		{data: "a\rb\n", body: "a\rb\n"},
		{data: "a\r\r\n", body: "a\r\n", newline: CRLF},
		{data: "\n\r\n", body: "\n\n", newline: Mixed},
		{data: "\xe4\r\n", body: "\xe4\n", newline: CRLF, notUTF8: true},
	}
	for _, test := range tests {
		got, err := Decode([]byte(test.data))
		if err != nil {
			t.Errorf("%q: %v", test.data, err)
			continue
		}
		if got.Body != test.body || got.BOM != test.bom || got.Newline != test.newline || got.NotUTF8 != test.notUTF8 {
			t.Errorf("%q: got %+v, want %+v", test.data, got, test)
		}
		if back := got.Encode(); string(back) != test.data {
			t.Errorf("%q came back as %q", test.data, back)
		}
	}
	for _, data := range []string{"a\x00", "\x00", "\xff\xfea\x00", "\xfe\xff\x00a"} {
		if _, err := Decode([]byte(data)); !errors.Is(err, ErrBinary) {
			t.Errorf("%q: %v, want ErrBinary", data, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "a\r\nb\n\r", "\ufeff\r\n", "\xff\x00", "\r\r\n\n", "\xe4\n"} {
		f.Add([]byte(s), "x\ny")
	}
	f.Fuzz(func(t *testing.T, data []byte, body string) {
		text, err := Decode(data)
		if err != nil {
			return
		}
		if back := text.Encode(); !bytes.Equal(back, data) {
			t.Errorf("%q came back as %q", data, back)
		}
		if same := text.withBody(text.Body).Encode(); !bytes.Equal(same, data) {
			t.Errorf("%q with its own body became %q", data, same)
		}
		body = joinLF(body)
		if got := joinLF(string(text.withBody(body).Encode())); !strings.HasSuffix(got, joinLF(body)) {
			t.Errorf("%q with body %q became %q", data, body, got)
		}
	})
}

func TestInStyleOf(t *testing.T) {
	tests := []struct{ editor, disk, want string }{
		{"a\nb\n", "a\nb\n", "a\nb\n"},
		{"a\nB\n", "\ufeffa\r\nb\r\n", "\ufeffa\r\nB\r\n"},
		{"a\nb\nc\n", "a\r\nb\n", "a\r\nb\nc\r\n"},
		{"a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n"}, // the user changed the line ends
		{"\ufeffa\n", "a\n", "\ufeffa\n"},
		{"a", "", "a"},
	}
	for _, test := range tests {
		e, err1 := Decode([]byte(test.editor))
		d, err2 := Decode([]byte(test.disk))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if got := string(e.inStyleOf(d).Encode()); got != test.want {
			t.Errorf("%q in the style of %q is %q, want %q", test.editor, test.disk, got, test.want)
		}
	}
}
