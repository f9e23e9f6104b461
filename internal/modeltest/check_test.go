package modeltest_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"kimi-acp/internal/modeltest"
)

func TestCheck(t *testing.T) {
	const user = `{"role":"user","content":"hi"}`
	call := func(ids ...string) string {
		calls := ""
		for i, id := range ids {
			if i > 0 {
				calls += ","
			}
			calls += fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"N","arguments":"{}"}}`, id)
		}
		return `{"role":"assistant","tool_calls":[` + calls + `]}`
	}
	answer := func(id string) string { return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":""}`, id) }
	const tool = `{"type":"function","function":{"name":"N","parameters":{}}}`

	for _, tt := range []struct {
		name, messages, tools, want string
	}{
		{"plain", user, tool, ""},
		{"media", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}`, "", ""},
		{"calls and answers in any order", user + "," + call("a", "b") + "," + answer("b") + "," + answer("a") + "," + user, "", ""},
		{"builtin tool", user, `{"type":"builtin_function","function":{"name":"$web"}}`, ""},

		{"no messages", "", "", "messages are missing"},
		{"unanswered at the end", user + "," + call("a"), "", "tool calls a have no answer"},
		{"unanswered before the user", call("a", "b") + "," + answer("a") + "," + user, "", "messages[2]: tool calls b have no answer"},
		{"orphan answer", user + "," + answer("a"), "", `messages[1]: the tool message answers no open call: "a"`},
		{"answered twice", call("a") + "," + answer("a") + "," + answer("a"), "", `messages[2]: the tool message answers no open call: "a"`},
		{"answer without content", call("a") + `,{"role":"tool","tool_call_id":"a"}`, "", `messages[1]: the answer to tool call "a" has no content`},
		{"id twice", call("a", "a"), "", `messages[0]: the id of tool call "a" is missing or used twice`},
		{"no id", call(""), "", `messages[0]: the id of tool call "" is missing or used twice`},
		{"no name", `{"role":"assistant","tool_calls":[{"id":"a","type":"function"}]}`, "", `messages[0]: tool call "a" has no name or the type "function"`},
		{"no type", `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"N"}}]}`, "", `messages[0]: tool call "a" has no name or the type ""`},
		{"arguments", `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"N","arguments":"null"}}]}`, "", `messages[0]: the arguments of tool call "a" are not a JSON object: "null"`},
		{"blank beside calls", `{"role":"assistant","content":" ","tool_calls":[{"id":"a"}]}`, "", "messages[0]: the assistant message has blank text beside its tool calls"},
		{"empty assistant", `{"role":"assistant"}`, "", "messages[0]: the assistant message has neither content nor tool calls"},
		{"blank part", `{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"\n"}]}`, "", "messages[0]: the user message has a blank text"},
		{"no content", `{"role":"system"}`, "", "messages[0]: the system message has no content"},
		{"role", `{"role":"bot"}`, "", `messages[0]: unknown role "bot"`},
		{"tool twice", user, tool + "," + tool, `the tool name "N" is missing or used twice`},
		{"tool parameters", user, `{"type":"function","function":{"name":"N","parameters":null}}`, `tool "N" is no function with an object of parameters`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c modeltest.Chat
			body := `{"model":"m","messages":[` + tt.messages + `],"tools":[` + tt.tools + `]}`
			if err := json.Unmarshal([]byte(body), &c); err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := modeltest.Check(&c); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if err := modeltest.Check(&modeltest.Chat{}); err == nil || err.Error() != "model is missing" {
		t.Errorf("no model: %v", err)
	}
}
