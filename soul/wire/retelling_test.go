package wire

import (
	"strings"
	"testing"

	"kimi-acp/soul/llm"
)

func TestRetelling(t *testing.T) {
	text := func(s string) Message { return ContentPart{Part: llm.Text(s)} }
	think := func(s string) Message { return ContentPart{Part: llm.Think(s)} }
	again, step := StepRetry{}, StepBegin{N: 2}
	for _, c := range []struct {
		name string
		told []Message
		want string
	}{
		{"once", []Message{text("a"), text("b")}, "a|b|"},
		{"the same in other pieces", []Message{text("ab"), text("cd"), again, text("a"), text("bcd"), text("e")}, "ab|cd|R|e|"},
		{"the rest of a piece", []Message{text("ab"), again, text("abc"), text("d")}, "ab|R|c|d|"},
		{"another way", []Message{text("hello"), again, text("he"), text("y"), text("!")}, "hello|R|*hey|!|"},
		{"another way at once", []Message{text("hello"), again, text("no")}, "hello|R|*no|"},
		{"the second attempt is what counts", []Message{text("aa"), again, text("b"), again, text("b"), text("c")}, "aa|R|*b|R|c|"},
		{"broken while it repeats", []Message{text("abc"), again, text("a"), again, text("abc"), text("d")}, "abc|R|R|d|"},
		{"thinking apart", []Message{think("t"), text("a"), again, think("t"), think("u"), text("a"), text("b")}, "(t)|a|R|(u)|b|"},
		{"nothing was said", []Message{again, text("a")}, "R|a|"},
		{"another step", []Message{text("a"), step, text("a"), again, text("a"), text("b")}, "a|S|a|R|b|"},
		{"a call in place of the text", []Message{text("a"), again, ToolCall{}, text("b")}, "a|R|C|b|"},
		{"behind the end of the step", []Message{text("a"), again, StepInterrupted{}, text("b")}, "a|R|b|"},
		{"an empty thought", []Message{think(""), again, think("")}, "()|R|()|"},
	} {
		var r Retelling
		var got strings.Builder
		for _, m := range c.told {
			show, superseded := r.Receive(m)
			if superseded {
				got.WriteString("*")
			}
			switch m := show.(type) {
			case ContentPart:
				if m.Part.Type == llm.PartThink {
					got.WriteString("(" + m.Part.Think + ")|")
				} else {
					got.WriteString(m.Part.Text + "|")
				}
			case ToolCall:
				got.WriteString("C|")
			case StepRetry:
				got.WriteString("R|")
			case StepBegin:
				got.WriteString("S|")
			}
		}
		if got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.String(), c.want)
		}
	}
}

// What does not fit is not kept, and is never left out.
func TestRetellingIsBounded(t *testing.T) {
	long := strings.Repeat("x", maxRetold)
	var r Retelling
	r.Receive(ContentPart{Part: llm.Text(long)})
	r.Receive(ContentPart{Part: llm.Text("beyond")})
	r.Receive(StepRetry{})
	show, superseded := r.Receive(ContentPart{Part: llm.Text(long + "beyond")})
	if got := show.(ContentPart).Part.Text; superseded || got != "beyond" {
		t.Errorf("%d bytes, superseded %v", len(got), superseded)
	}
}
