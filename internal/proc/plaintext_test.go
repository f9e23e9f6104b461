package proc

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// plain gives the text of the writes, one after the other.
func plain(writes ...string) string {
	var out []byte
	t := plainText{commit: func(p []byte) { out = append(out, p...) }}
	for _, w := range writes {
		t.write([]byte(w))
	}
	t.flush()
	return string(append(out, t.line...))
}

func TestPlainText(t *testing.T) {
	long := strings.Repeat("y", maxPending)
	tests := []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"private and intermediate bytes", "\x1b[?25l\x1b[2 qx", "x"},
		{"window title, ended by BEL", "\x1b]0;title\x07x", "x"},
		{"hyperlink, ended by ST", "\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\.", "text."},
		{"device control string", "\x1bPq#0\x1b\\x", "x"},
		{"string ended by one-character ST", "\x1b]0;t\u009cx", "x"},
		{"string never ended", "\x1b]0;lost\nkept", "\nkept"},
		{"string broken off by a sequence", "\x1b]0;t\x1b[1mx", "x"},
		{"string cancelled", "\x1b]0;t\x18x", "x"},
		{"character set", "\x1b(Bx", "x"},
		{"two-character sequence", "\x1b7x\x1b8", "x"},
		{"sequence broken off", "\x1b[12\nx", "\nx"},
		{"sequence broken off after intermediates", "\x1b(\nx", "\nx"},
		{"escape before a control", "\x1b\nx", "\nx"},
		{"sequence broken off by a sequence", "\x1b[1\x1b[2mx", "x"},
		{"progress", "1%\r2%\r100%\ndone", "100%\ndone"},
		{"progress at the end", "1%\r2%\r", "2%"},
		{"carriage return and newline", "a\r\nb\r\r\n", "a\nb\n"},
		{"progress after a long line", long + "\rz\n", long + "\nz\n"},
		{"long line", long + long + "z\n", long + long + "z\n"},
		{"backspace", "|\b/\b-é\b.", "-."},
		{"backspace at the beginning", "\b\b\nx\n\b", "\nx\n"},
		{"backspace after a carriage return", "ab\r\b\n", "ab\n"},
		{"controls", "a\x00b\x07c\x7fd\u0085e", "abcde"},
		{"bad bytes", "a\xff\xfeb", "a\uFFFD\uFFFDb"},
		{"rune cut off at the end", "a\xe2\x82", "a\uFFFD\uFFFD"},
		{"wide", "héllo €𝄞", "héllo €𝄞"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := plain(tt.in); got != tt.want {
				t.Errorf("at once: got %q, want %q", got, tt.want)
			}
			if got := plain(strings.SplitAfter(tt.in, "")...); got != tt.want {
				t.Errorf("rune by rune: got %q, want %q", got, tt.want)
			}
			var bytes []string
			for i := range len(tt.in) {
				bytes = append(bytes, tt.in[i:i+1])
			}
			if got := plain(bytes...); got != tt.want {
				t.Errorf("byte by byte: got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzPlainText(f *testing.F) {
	for _, seed := range []string{"a\r\nb", "\x1b[31mx\x1b]0;t\x07", "\xe2\x82\xac\xe2", "1\r2\b3\n"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, in string, at int) {
		whole := plain(in)
		if !utf8.ValidString(whole) {
			t.Errorf("%q gave bytes that are no text: %q", in, whole)
		}
		if strings.ContainsFunc(whole, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
			t.Errorf("%q left control characters: %q", in, whole)
		}
		if at >= 0 && at <= len(in) {
			if split := plain(in[:at], in[at:]); split != whole {
				t.Errorf("%q split at %d gave %q, at once %q", in, at, split, whole)
			}
		}
	})
}
