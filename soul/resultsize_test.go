package soul

import (
	"context"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// A client's tool gives more than a line of the history can hold. The session is kept all
// the same, with the ends of it.
func TestResultThatIsTooLarge(t *testing.T) {
	long := "begin" + strings.Repeat("ö", 40<<20) + "end"
	for name, v := range map[string]wire.ToolReturnValue{
		"text":  ok(long),
		"parts": {Output: wire.Output{Parts: []llm.Part{llm.Text("begin"), llm.Text(long), llm.Image("data:" + long)}}},
		"error": {IsError: true, Message: long},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(tools{"Fetch": func(context.Context, string) wire.ToolReturnValue { return v }}, Config{},
				call("a", "Fetch", "{}")+"finish: tool_calls", "text: done")
			store, kept := keepNew(t, s)
			if _, err := s.Run(t.Context(), ask("go")); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(s.transcript(), "can no longer be saved") {
				t.Error("the session is no longer saved")
			}
			text := ""
			for _, m := range keptOnDisk(t, store, kept) {
				if m.Role == llm.RoleTool {
					text += textOf(m.Content)
				}
			}
			if len(text) > maxResultText+1000 || !strings.Contains(text, "begin") || !strings.Contains(text, "left out") {
				t.Errorf("%d bytes are kept", len(text))
			}
		})
	}
}

func TestBoundedKeepsWhatIsSmall(t *testing.T) {
	v := wire.ToolReturnValue{Output: wire.Output{Parts: []llm.Part{llm.Text("a"), llm.Image("data:b")}}, Message: "done"}
	if got := bounded(v); len(got.Output.Parts) != 2 || got.Output.Parts[1].Media.URL != "data:b" || got.Message != "done" {
		t.Errorf("%+v", got)
	}
	if got := cutMiddle("aéb"+strings.Repeat("x", 10)+"céd", 4); got != "a\n[16 bytes are left out here]\nd" {
		t.Errorf("%q", got)
	}
}
