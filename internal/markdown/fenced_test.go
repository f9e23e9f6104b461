package markdown_test

import (
	"testing"

	"kimi-acp/internal/markdown"
)

func TestFenced(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"", "", "```\n\n```"},
		{"", "a\n", "```\na\n```"},
		{"json", "{}", "```json\n{}\n```"},
		{"", "x ``` y", "````\nx ``` y\n````"},
		{"", "`````\nz\n", "``````\n`````\nz\n``````"},
	} {
		if got := markdown.Fenced(c.language, c.text); got != c.want {
			t.Errorf("Fenced(%q, %q) = %q, want %q", c.language, c.text, got, c.want)
		}
	}
}
