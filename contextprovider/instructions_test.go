package contextprovider

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

type files map[string]string

func (f files) Read(_ context.Context, path string) ([]byte, error) {
	if text, ok := f[path]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

func TestInstructions(t *testing.T) {
	long := strings.Repeat("é", maxInstructions)
	for _, c := range []struct {
		name  string
		files files
		want  string // path=text, a * where it was cut
	}{
		{"none", files{}, ""},
		{"one", files{"/w/AGENTS.md": " be brief\n"}, "/w/AGENTS.md=be brief"},
		{"the small name counts only without the large one", files{"/w/AGENTS.md": "a", "/w/agents.md": "b", "/x/agents.md": "c"}, "/w/AGENTS.md=a /x/agents.md=c"},
		{"the tool's own file first", files{"/w/AGENTS.md": "a", "/w/.kimi/AGENTS.md": "b"}, "/w/.kimi/AGENTS.md=b /w/AGENTS.md=a"},
		{"BOM and CRLF", files{"/w/AGENTS.md": "\ufeffa\r\nb\r\n"}, "/w/AGENTS.md=a\nb"},
		{"an empty file hides nothing else", files{"/w/AGENTS.md": " \n", "/w/agents.md": "b"}, ""},
		{"no text", files{"/w/AGENTS.md": "a\x00b", "/x/AGENTS.md": "\xff\xfe"}, ""},
		{"too long", files{"/w/AGENTS.md": long, "/x/AGENTS.md": "never"}, "/w/AGENTS.md=" + long[:maxInstructions] + "*"},
	} {
		var got []string
		for _, i := range Instructions(t.Context(), c.files, []string{"/w", "/x"}) {
			s := fmt.Sprintf("%s=%s", i.Path, i.Text)
			if i.Truncated {
				s += "*"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %.200q, want %.200q", c.name, s, c.want)
		}
	}
}
