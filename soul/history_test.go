package soul

import (
	"slices"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
)

func user(s string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(s)}}
}

func TestHistoryTokens(t *testing.T) {
	var h History
	h.Append(user("12345678"))
	estimate := h.Tokens()
	if estimate <= 0 {
		t.Fatalf("a message of eight letters counts %d tokens", estimate)
	}
	h.Reported(1000)
	if got := h.Tokens(); got != 1000 {
		t.Errorf("after the model's report: %d", got)
	}
	h.Append(user("12345678"))
	if got := h.Tokens(); got != 1000+estimate {
		t.Errorf("a message later: %d, want %d", got, 1000+estimate)
	}
	h.Truncate(1)
	if got := h.Tokens(); got != 1000 {
		t.Errorf("back to what was reported: %d", got)
	}
	h.Truncate(0)
	if got := h.Tokens(); got != 0 || h.Len() != 0 {
		t.Errorf("emptied: %d tokens, %d messages", got, h.Len())
	}
}

func TestHistoryJoinsUserMessages(t *testing.T) {
	var h History
	h.Append(user("a"), user("b"), llm.Message{Role: llm.RoleAssistant, Content: []llm.Part{llm.Text("c")}}, user("d"))
	for range 2 { // the second look must see the same: joining changes nothing inside
		m := h.Messages()
		if len(m) != 3 || len(m[0].Content) != 2 || m[0].Content[0].Text != "a" || m[0].Content[1].Text != "b" || m[2].Content[0].Text != "d" {
			t.Fatalf("joined to %+v", m)
		}
	}
	if h.Len() != 4 {
		t.Errorf("the history itself has %d messages", h.Len())
	}
	h.Truncate(1)
	h.Append(user("e"), user("f"))
	if m := h.Messages(); len(m) != 1 || len(m[0].Content) != 3 || m[0].Content[2].Text != "f" {
		t.Errorf("three in a row are joined to %+v", m)
	}
	if m := h.messages[0].Content; len(m) != 1 {
		t.Errorf("joining changed the history itself: %+v", m)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 10, ""},
		{"  a \n b\t", 10, "a b"},
		{"one two three", 10, "one two…"},
		{"onetwothreefour", 10, "onetwothr…"},
		{"日本語日本語", 4, "日本語…"},
		{"exactly ten", 11, "exactly ten"},
		{"why? because, so", 14, "why? because…"},
	} {
		if got := Shorten(c.in, c.n); got != c.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

// What a model counts tells how far the estimates are off.
func TestHistoryCalibrates(t *testing.T) {
	long := user(strings.Repeat("word", 1000))
	for _, c := range []struct{ estimated, reported, want int }{
		{1001, 2002, 2002 + 2002},
		{1001, 1001, 1001 + 1001},
		{1001, 10, 10 + 500},            // no model counts so little
		{1001, 100_000, 100_000 + 4004}, // or so much
	} {
		var h History
		h.Append(long)
		if got := h.Tokens(); got != c.estimated {
			t.Fatalf("estimated as %d", got)
		}
		h.Reported(c.reported)
		h.Append(long)
		if got := h.Tokens(); got != c.want {
			t.Errorf("reported %d: %d tokens, want %d", c.reported, got, c.want)
		}
	}
	var h History
	h.Append(user("hi"))
	h.Reported(1000)
	if scale, _ := h.Scale(); scale != 1 {
		t.Errorf("a greeting makes the scale %v", scale)
	}
}

// An answer that was cut while the model still thought says nothing, and providers refuse
// a message that says nothing, with every request after it.
func TestAnswersThatSayNothingAreNotSent(t *testing.T) {
	call := llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "a", Name: "Read"}}}
	result := llm.Message{Role: llm.RoleTool, ToolCallID: "a", Content: []llm.Part{llm.Text("")}}
	for _, empty := range []llm.Message{
		{Role: llm.RoleAssistant, Content: []llm.Part{llm.Think("hm")}},
		{Role: llm.RoleAssistant, Content: []llm.Part{llm.Think("hm"), llm.Text(" \n")}},
		{Role: llm.RoleAssistant},
	} {
		var h History
		h.Append(user("one"), empty, user("two"), call, result, empty, user("three"))
		var got []string
		for _, m := range h.Messages() {
			said := string(m.Role)
			for _, p := range m.Content {
				said += " " + p.Text
			}
			got = append(got, said)
		}
		if want := []string{"user one two", "assistant", "tool ", "user three"}; !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}
		if all := h.All(); len(all) != 7 || len(all[0].Content) != 1 {
			t.Errorf("the history itself has changed: %v", all)
		}
	}
}
