package openai

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// Events that come in one read go on in one line, up to a bound; others alone.
func TestEventsThatComeTogether(t *testing.T) {
	long := `{"x":"` + strings.Repeat("y", maxTogether-40) + `"}`
	hidden := "{ " + long[1:]
	for _, tt := range []struct{ name, in, want string }{
		{"events", "data: {\"a\":1}\n\ndata:{\"b\":2}\r\n: c\nevent: x\ndata:\ndata: [1]\n", "data:{ \"a\":1}\x1e{ \"b\":2}\x1e[1]\n"},
		{"the end", "data: {}\n\ndata: [DONE]\n\ndata: {\"late\":1}\n", "data:{ }\ndata:[DONE]\ndata:{ \"late\":1}\n"},
		{"what is no event", "data: {}\n{\"error\":1}\ndata: {}\n", "data:{ }\ndata:{ }\n"},
		{"no line end", "data: {}\ndata: {\"a\":1}", "data:{ }\ndata:{ \"a\":1}\n"},
		{"more than the bound", "data: " + long + "\ndata: {}\ndata: " + long + "\n", "data:" + hidden + "\x1e{ }\ndata:" + hidden + "\n"},
	} {
		read := func(r io.Reader) string {
			l := newLines(io.NopCloser(r), time.Hour, func(error) {})
			defer l.Close()
			got, err := io.ReadAll(l)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			return string(got)
		}
		if got := read(strings.NewReader(tt.in)); got != tt.want {
			t.Errorf("%s: got  %q\nwant %q", tt.name, got, tt.want)
		}
		alone := strings.ReplaceAll(tt.want, "\x1e", "\ndata:")
		if got := read(iotest.OneByteReader(strings.NewReader(tt.in))); got != alone {
			t.Errorf("%s, byte by byte: got  %q\nwant %q", tt.name, got, alone)
		}
	}
}
