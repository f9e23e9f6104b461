package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// picture is what an editor holds of a session, one line for each thing in the order
// in which it appeared: messages with their chunks joined, tool calls with their last
// members, the plan and the usage as they are in the end.
func picture(t *testing.T, updates []acptest.Update) string {
	t.Helper()
	var order []string
	things := map[string]map[string]json.RawMessage{}
	thing := func(key string) map[string]json.RawMessage {
		if things[key] == nil {
			things[key] = map[string]json.RawMessage{}
			order = append(order, key)
		}
		return things[key]
	}
	for _, u := range updates {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(u.Raw, &members); err != nil {
			t.Fatal(err)
		}
		delete(members, "sessionUpdate")
		switch u.Kind {
		case "user_message_chunk":
			at := thing("user " + u.MessageID)
			at[fmt.Sprintf("%03d", len(at))] = members["content"]
		case "agent_message_chunk", "agent_thought_chunk":
			at := thing(u.Kind + " " + u.MessageID)
			var text string
			if at["text"] != nil {
				if err := json.Unmarshal(at["text"], &text); err != nil {
					t.Fatal(err)
				}
			}
			at["text"], _ = json.Marshal(text + u.Text)
		case "tool_call", "tool_call_update":
			at := thing("call " + u.CallID)
			for name, value := range members {
				at[name] = value
			}
		case "compaction_update":
			at := thing("compaction " + string(members["compactionId"]))
			for name, value := range members {
				at[name] = value
			}
		case "plan", "usage_update":
			at := thing(u.Kind)
			clear(at)
			for name, value := range members {
				at[name] = value
			}
		}
	}
	var b strings.Builder
	for _, key := range order {
		line, err := json.Marshal(things[key])
		if err != nil {
			t.Fatal(err)
		}
		if key != "plan" && key != "usage_update" { // these have no place among the others
			fmt.Fprintf(&b, "%s %s\n", key, line)
		}
	}
	for _, key := range []string{"plan", "usage_update"} {
		line, _ := json.Marshal(things[key])
		fmt.Fprintf(&b, "%s %s\n", key, line)
	}
	return b.String()
}

// withoutUsers leaves out the user's messages, which an editor has by itself.
func withoutUsers(picture string) string {
	var b strings.Builder
	for line := range strings.Lines(picture) {
		if !strings.HasPrefix(line, "user ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
