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
		in      Encoding
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
		{data: "\xe4\r\n", body: "ä\n", newline: CRLF, in: Windows1252},
		{data: "caf\xe9 \x80 5 \x96 \x93x\x94\n", body: "café € 5 – “x”\n", in: Windows1252},
		{data: "\xe4\x81", body: "\xe4\x81", notUTF8: true},                                                 // no such character
		{data: "\xcf\xf0\xe8\xe2\xe5\xf2, x", body: "\xcf\xf0\xe8\xe2\xe5\xf2, x", notUTF8: true},           // Cyrillic
		{data: "\x93\xfa\x96\x7b\x8c\xea\x82\xcc", body: "\x93\xfa\x96\x7b\x8c\xea\x82\xcc", notUTF8: true}, // Shift-JIS
		{data: "é \xe9", body: "é \xe9", notUTF8: true},                                                     // UTF-8 with a broken byte
		{data: "\ufeffa\xe9\xe9\xe9\xe9", body: "a\xe9\xe9\xe9\xe9", bom: true, notUTF8: true},
		{data: "\xff\xfea\x00\r\x00\n\x00", body: "a\n", bom: true, newline: CRLF, in: UTF16LE},
		{data: "\xfe\xff\x00a\x00\n\xd8\x3d\xde\x42", body: "a\n🙂", bom: true, in: UTF16BE},
		{data: "\xff\xfe", bom: true, in: UTF16LE},
		{data: "\xff\xfea\x00\r\x00\n\x00b\x00\n\x00", body: "a\nb\n", bom: true, newline: Mixed, in: UTF16LE},
		{data: "\xff\xfe\x0a\x0a\n\x00", body: "\u0a0a\n", bom: true, in: UTF16LE}, // bytes of LF that are none
	}
	for _, test := range tests {
		got, err := Decode([]byte(test.data))
		if err != nil {
			t.Errorf("%q: %v", test.data, err)
			continue
		}
		if got.Body != test.body || got.BOM != test.bom || got.Newline != test.newline || got.NotUTF8 != test.notUTF8 || got.Encoding != test.in {
			t.Errorf("%q: got %+v, want %+v", test.data, got, test)
		}
		if back := got.Encode(); string(back) != test.data {
			t.Errorf("%q came back as %q", test.data, back)
		}
	}
	for _, data := range []string{"a\x00", "\x00", "\xff\xfea", "\xfe\xff\x00\x00", "\xff\xfe\x00\x00a\x00\x00\x00", "\xff\xfe\x3d\xd8", "\xff\xfe\x42\xdea\x00"} {
		if _, err := Decode([]byte(data)); !errors.Is(err, ErrBinary) {
			t.Errorf("%q: %v, want ErrBinary", data, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "a\r\nb\n\r", "\ufeff\r\n", "\xff\x00", "\r\r\n\n", "\xe4\n", "\xff\xfea\x00\n\x00", "\xfe\xff\xd8\x3d\xde\x42", "\xe4\xf6\xfc\xdf\n"} {
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
		if body = joinLF(body); text.accepts(body) != nil {
			return
		}
		if text.Encoding != UTF8 {
			again := Text{Body: body, Newline: text.Newline, own: text.own, Encoding: text.Encoding, BOM: text.BOM}
			if again.Newline == Mixed {
				again = text.withBody(body)
			}
			if back := again.Encode(); again.readsBack(back) == nil {
				got, err := Decode(back)
				if err != nil || got.Body != body {
					t.Errorf("%q in %v came back as %q, %v", body, text.Encoding, got.Body, err)
				}
			}
			return
		}
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
