package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kimi-acp/internal/modeltest"
	"kimi-acp/soul/llm"
)

// fieldsOf gives the body of a request without its messages and what is the same
// in every body.
func fieldsOf(t *testing.T, cfg Config, req *llm.Request) string {
	t.Helper()
	if cfg.BaseURL == "" {
		cfg.BaseURL = "http://model.test/v1"
	}
	body, err := encodeRequest(&open(t, cfg).cfg, req)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages", "model", "stream", "stream_options", "tools"} {
		delete(fields, name)
	}
	out, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestFieldsOfTheDialects(t *testing.T) {
	model := llm.Model{Name: "m", ContextSize: 10_000, Thinking: true}
	thought := &llm.Request{CacheKey: "s", Messages: []llm.Message{
		{Role: llm.RoleUser, Content: []llm.Part{llm.Text("hi")}},
		{Role: llm.RoleAssistant, Content: []llm.Part{llm.Think(""), llm.Text("ho")}},
	}}
	plain := &llm.Request{CacheKey: "s", Messages: thought.Messages[:1]}
	const openAI = "https://api.openai.com/v1"
	extra := func(name, value string) map[string]json.RawMessage {
		return map[string]json.RawMessage{name: json.RawMessage(value)}
	}
	for _, tt := range []struct {
		name string
		cfg  Config
		req  *llm.Request
		want string
	}{
		{"openai", Config{Model: model}, plain, `{}`},
		{"openai, low", Config{Model: model, Thinking: ThinkingLow}, plain, `{"reasoning_effort":"low"}`},
		{"openai, medium", Config{Model: model, Thinking: ThinkingMedium}, plain, `{"reasoning_effort":"medium"}`},
		{"openai, high", Config{Model: model, Thinking: ThinkingHigh}, plain, `{"reasoning_effort":"high"}`},
		{"openai, on", Config{Model: model, Thinking: ThinkingOn}, plain, `{"reasoning_effort":"high"}`},
		{"openai, off", Config{Model: model, Thinking: ThinkingOff}, thought, `{"reasoning_effort":null}`},
		{"openai after thinking", Config{Model: model}, thought, `{"reasoning_effort":"medium"}`},
		{"openai after thinking that is not sent", Config{Model: model, ReasoningKey: NoReasoningKey}, thought, `{}`},
		{"openai after another model's thinking", Config{Model: llm.Model{Name: "m"}}, thought, `{}`},
		{"openai, more fields", Config{Model: model, Thinking: ThinkingLow, Extra: extra("reasoning_effort", `"minimal"`)}, plain, `{"reasoning_effort":"minimal"}`},
		{"OpenAI itself", Config{Model: model, BaseURL: openAI}, plain, `{"prompt_cache_key":"s"}`},
		{"OpenAI itself, no key", Config{Model: model, BaseURL: openAI}, &llm.Request{}, `{}`},
		{"kimi", Config{Model: model, Dialect: DialectKimi, MaxCompletionTokens: -1}, plain, `{"prompt_cache_key":"s"}`},
		{"kimi, on", Config{Model: model, Dialect: DialectKimi, MaxCompletionTokens: 5, Thinking: ThinkingOn}, thought, `{"max_completion_tokens":5,"prompt_cache_key":"s","thinking":{"type":"enabled"}}`},
		{"kimi, high", Config{Model: model, Dialect: DialectKimi, MaxCompletionTokens: 5, Thinking: ThinkingHigh}, thought, `{"max_completion_tokens":5,"prompt_cache_key":"s","thinking":{"type":"enabled"}}`},
		{"kimi, off", Config{Model: model, Dialect: DialectKimi, MaxCompletionTokens: 5, Thinking: ThinkingOff}, &llm.Request{}, `{"max_completion_tokens":5,"thinking":{"type":"disabled"}}`},
		{"kimi, more fields", Config{Model: model, Dialect: DialectKimi, Extra: extra("max_completion_tokens", "7")}, &llm.Request{}, `{"max_completion_tokens":7}`},
	} {
		if got := fieldsOf(t, tt.cfg, tt.req); got != tt.want {
			t.Errorf("%s: got  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestCompletionBudget(t *testing.T) {
	text := func(tokens int) []llm.Message {
		return []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text(strings.Repeat("abcd", tokens-1))}}} // the role is 1
	}
	for _, tt := range []struct {
		name           string
		budget, window int
		req            llm.Request
		want           int
	}{
		{"the window less the reserve", 0, 10_000, llm.Request{}, 8976},
		{"less the conversation", 0, 10_000, llm.Request{Messages: text(1000)}, 7976},
		{"less system prompt and tools", 0, 10_000, llm.Request{System: "abcd", Tools: []llm.ToolSpec{{Name: "n", Description: "d", Parameters: json.RawMessage("{}")}}}, 8972},
		{"sizes that are known", 0, 10_000, llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Tokens: 976}}}, 8000},
		{"a greater count", 0, 10_000, llm.Request{Messages: text(1000), Tokens: 1976}, 7000},
		{"a smaller count", 0, 10_000, llm.Request{Messages: text(1000), Tokens: 3}, 7976},
		{"the budget", 500, 10_000, llm.Request{}, 500},
		{"a budget that the window has no room for", 9000, 10_000, llm.Request{Tokens: 5000}, 3976},
		{"a window that is full", 0, 10_000, llm.Request{Tokens: 10_000}, 1},
		{"no bound", -1, 10_000, llm.Request{}, 0},
		{"no window", 0, 0, llm.Request{}, 0},
		{"no window but a budget", 500, 0, llm.Request{}, 500},
	} {
		cfg := &Config{MaxCompletionTokens: tt.budget, Model: llm.Model{ContextSize: tt.window}}
		if got := completionBudget(cfg, &tt.req); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestToolChoice(t *testing.T) {
	tools := []llm.ToolSpec{{Name: "Read"}}
	for choice, want := range map[string]string{
		"":                     `{}`,
		llm.ToolChoiceNone:     `{"tool_choice":"none"}`,
		llm.ToolChoiceRequired: `{"tool_choice":"required"}`,
		"Read":                 `{"tool_choice":{"type":"function","function":{"name":"Read"}}}`,
	} {
		if got := fieldsOf(t, Config{}, &llm.Request{Tools: tools, ToolChoice: choice}); got != want {
			t.Errorf("%q: %s, want %s", choice, got, want)
		}
	}
	if got := fieldsOf(t, Config{}, &llm.Request{ToolChoice: llm.ToolChoiceNone}); got != `{}` {
		t.Errorf("a choice without tools: %s", got)
	}
}

func TestThinkingUnderAnotherName(t *testing.T) {
	history := &llm.Request{Messages: []llm.Message{
		{Role: llm.RoleUser, Content: []llm.Part{llm.Text("hi")}},
		{Role: llm.RoleAssistant, Content: []llm.Part{llm.Think("<a>\n"), llm.Text("<b>")}},
		{Role: llm.RoleAssistant, Content: []llm.Part{llm.Text("c")}},
		{Role: llm.RoleUser, Content: []llm.Part{llm.Text("go on")}},
	}}
	const read = "think \"r\"\n"
	for _, tt := range []struct{ key, sent, answer, read string }{
		{"", `{"role":"assistant","content":"<b>","reasoning_content":"<a>\n"}`, `{"reasoning_content":"r"}`, read},
		{"reasoning", `{"role":"assistant","content":"<b>","reasoning":"<a>\n"}`, `{"reasoning":"r"}`, read},
		{"thoughts", `{"role":"assistant","content":"<b>","thoughts":"<a>\n"}`, `{"thoughts":"r"}`, read},
		{"thoughts", `{"role":"assistant","content":"<b>","thoughts":"<a>\n"}`, `{"thoughts":[{"text":"r"}]}`, read},
		{"thoughts", `{"role":"assistant","content":"<b>","thoughts":"<a>\n"}`, `{"thoughts":3}`, ""},
		{"thoughts", `{"role":"assistant","content":"<b>","thoughts":"<a>\n"}`, `{"reasoning_content":"r"}`, read},
		{NoReasoningKey, `{"role":"assistant","content":"<b>"}`, `{"reasoning_content":"r"}`, read},
	} {
		s := modeltest.New(t)
		s.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Delta("%s", tt.answer), modeltest.Text("ok")}})
		p := open(t, Config{BaseURL: s.URL(), ReasoningKey: tt.key})
		want := "id chatcmpl-1\n" + tt.read + "text \"ok\"\nfinish stop\n"
		if got := transcript(t.Context(), p, history); got != want {
			t.Errorf("%q: got %swant %s", tt.key, got, want)
		}
		if body := string(s.Requests()[0].Body); !strings.Contains(body, tt.sent+`,{"role":"assistant","content":"c"}`) {
			t.Errorf("%q: %s is not in %s", tt.key, tt.sent, body)
		}
	}
}

func TestResultsThatComeTwice(t *testing.T) {
	call := llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "a", Name: "A"}, {ID: "b", Name: "A"}}}
	result := func(id, text string) llm.Message {
		return llm.Message{Role: llm.RoleTool, ToolCallID: id, Content: []llm.Part{llm.Text(text)}}
	}
	req := hello()
	req.Messages = append(req.Messages, call, result("a", "1"), result("b", "2"), result("a", "3"), call, result("a", "4"), result("b", "5"), result("b", "6"))
	s := modeltest.New(t) // which refuses what servers refuse
	s.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("ok")}})
	if got := transcript(t.Context(), open(t, Config{BaseURL: s.URL()}), req); !strings.HasSuffix(got, "finish stop\n") {
		t.Fatal(got)
	}
	var got string
	for _, m := range s.Requests()[0].Chat.Messages {
		if m.Role == "tool" {
			got += fmt.Sprintf("%s=%s ", m.ToolCallID, m.Text())
		}
	}
	if want := "a=1 b=2 a=4 b=5 "; got != want {
		t.Errorf("results %s, want %s", got, want)
	}
}

func TestMediaThatTheModelCannotTake(t *testing.T) {
	parts := []llm.Part{llm.Text("look"), llm.Image("i"), {Type: llm.PartVideo, Media: llm.Media{URL: "v"}}}
	const text, image, video = `{"type":"text","text":"look"}`, `{"type":"image_url","image_url":{"url":"i"}}`, `{"type":"video_url","video_url":{"url":"v"}}`
	const noVideo = `{"type":"text","text":"[a video was here, which this model cannot take]"}`
	const neither = `"look\n[an image was here, which this model cannot take]\n[a video was here, which this model cannot take]"`
	for _, tt := range []struct {
		model llm.Model
		role  llm.Role
		want  string
	}{
		{llm.Model{ImageInput: true, VideoInput: true}, llm.RoleUser, `[` + text + `,` + image + `,` + video + `]`},
		{llm.Model{ImageInput: true}, llm.RoleUser, `[` + text + `,` + image + `,` + noVideo + `]`},
		{llm.Model{}, llm.RoleUser, neither},
		{llm.Model{}, llm.RoleTool, neither},
	} {
		got, err := plainJSON(encodeContent(&tt.model, &llm.Message{Role: tt.role, Content: parts}))
		if err != nil || string(got) != tt.want {
			t.Errorf("%+v: got  %s (%v)\nwant %s", tt.model, got, err, tt.want)
		}
	}
}
