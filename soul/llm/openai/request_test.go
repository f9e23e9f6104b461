package openai

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/modeltest"
	"kimi-acp/soul/llm"
)

func ptr(s string) *string { return &s }

// conversation has a message of every kind.
func conversation() *llm.Request {
	return &llm.Request{
		System:   "Be <brief> & kind",
		CacheKey: "session-1",
		Messages: []llm.Message{
			{Role: llm.RoleUser, Name: "ann", Content: []llm.Part{llm.Text("look"), llm.Text(" "), llm.Image("data:image/png;base64,AA=="), {Type: llm.PartVideo, Media: llm.Media{URL: "ms://f", ID: ptr("f")}}, {Type: llm.PartAudio, Media: llm.Media{URL: "u"}}}},
			{Role: llm.RoleAssistant, Content: []llm.Part{llm.Think("hm"), llm.Text("\n"), llm.Think("m")}, ToolCalls: []llm.ToolCall{
				{ID: "a", Name: "Read", Arguments: ptr(`{"path":"x"}`)},
				{ID: "b", Name: "List", Extras: json.RawMessage(`{"extra_content":{"s":1},"other":2}`)},
				{ID: "c", Name: "List", Arguments: ptr(" "), Extras: json.RawMessage(`[]`)},
			}},
			{Role: llm.RoleTool, Name: "Read", ToolCallID: "a", Content: []llm.Part{llm.Text("<system>ok</system>"), llm.Text("body")}},
			{Role: llm.RoleTool, ToolCallID: "b"},
			{Role: llm.RoleTool, ToolCallID: "c", Content: []llm.Part{llm.Image("i")}},
			{Role: llm.RoleAssistant, Content: []llm.Part{llm.Think(""), llm.Text("I"), llm.Text(" see")}},
			{Role: llm.RoleUser, Content: []llm.Part{llm.Text("one"), llm.Text("two")}},
			{Role: llm.RoleAssistant, Content: []llm.Part{llm.Think("x")}},
			{Role: llm.RoleSystem, Content: []llm.Part{llm.Text("now"), llm.Text("then")}},
			{Role: llm.RoleUser, Content: []llm.Part{llm.Text(""), llm.Text("three")}},
		},
		Tools: []llm.ToolSpec{
			{Name: "Read", Description: "reads", Parameters: json.RawMessage(`{ "type": "object" }`)},
			{Name: "List"},
			{Name: "$web_search", Description: "unused", Parameters: json.RawMessage(`{}`)},
		},
	}
}

const conversationBody = `{"messages":[` +
	`{"role":"system","content":"Be <brief> & kind"},` +
	`{"role":"user","name":"ann","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"video_url","video_url":{"url":"ms://f","id":"f"}},{"type":"audio_url","audio_url":{"url":"u"}}]},` +
	`{"role":"assistant","reasoning_content":"hmm","tool_calls":[` +
	`{"id":"a","type":"function","function":{"name":"Read","arguments":"{\"path\":\"x\"}"}},` +
	`{"id":"b","type":"function","function":{"name":"List","arguments":"{}"},"extra_content":{"s":1}},` +
	`{"id":"c","type":"function","function":{"name":"List","arguments":"{}"}}]},` +
	`{"role":"tool","content":"<system>ok</system>\nbody","tool_call_id":"a"},` +
	`{"role":"tool","content":"","tool_call_id":"b"},` +
	`{"role":"tool","content":[{"type":"image_url","image_url":{"url":"i"}}],"tool_call_id":"c"},` +
	`{"role":"assistant","content":"I see","reasoning_content":""},` +
	`{"role":"user","content":"one\ntwo"},` +
	`{"role":"assistant","content":"","reasoning_content":"x"},` +
	`{"role":"system","content":"now\nthen"},` +
	`{"role":"user","content":"three"}],` +
	`"model":"gpt-5-pro","prompt_cache_key":"session-1","stream":true,"stream_options":{"include_usage":true},"temperature":0,"thinking":{"type":"enabled"},` +
	`"tools":[{"type":"function","function":{"name":"Read","description":"reads","parameters":{"type":"object"}}},` +
	`{"type":"function","function":{"name":"List","parameters":{"type":"object","properties":{}}}},` +
	`{"type":"builtin_function","function":{"name":"$web_search"}}]}`

func TestRequestBytes(t *testing.T) {
	s := modeltest.New(t)
	p := open(t, Config{
		BaseURL:   s.URL() + "/",
		Dialect:   DialectKimi,
		Model:     llm.Model{Name: "gpt-5-pro", ImageInput: true, VideoInput: true}, // the library would check the fields of this one
		UserAgent: "kimi-acp/1",
		Header:    http.Header{"X-Title": {"t"}},
		Extra:     map[string]json.RawMessage{"thinking": json.RawMessage(`{"type":"enabled"}`), "temperature": json.RawMessage("0")},
	})
	for i := range 3 {
		s.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("ok")}})
		if got := transcript(t.Context(), p, conversation()); !strings.HasSuffix(got, "finish stop\n") {
			t.Fatal(got)
		}
		r := s.Requests()[i]
		if diff := cmp.Diff(conversationBody, string(r.Body)); diff != "" {
			t.Errorf("request %d: %s", i+1, diff)
		}
		for name, want := range map[string]string{
			"Authorization": "Bearer " + testKey,
			"User-Agent":    "kimi-acp/1",
			"X-Title":       "t",
			"Content-Type":  "application/json",
			"Accept":        "text/event-stream",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}

func TestALongerConversationBeginsWithTheSameBytes(t *testing.T) {
	cfg := &open(t, Config{BaseURL: "http://x"}).cfg
	req := conversation()
	all, err := encodeRequest(cfg, req)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = req.Messages[:6]
	short, err := encodeRequest(cfg, req)
	if err != nil {
		t.Fatal(err)
	}
	messages, _, _ := strings.Cut(string(short), `],"model"`)
	if !strings.HasPrefix(string(all), messages) {
		t.Errorf("%s\nis no prefix of\n%s", messages, all)
	}
}

func TestRequestsThatCannotBeWritten(t *testing.T) {
	p := open(t, Config{BaseURL: "http://localhost:1"})
	req := hello()
	req.Tools = []llm.ToolSpec{{Name: "T", Parameters: json.RawMessage("{")}}
	if got := transcript(t.Context(), p, req); got != "bad request: encode the request: the parameters of tool T are not JSON\n" {
		t.Error(got)
	}
	p = open(t, Config{BaseURL: "http://localhost:1", Extra: map[string]json.RawMessage{"x": json.RawMessage("{")}})
	if got := transcript(t.Context(), p, hello()); !strings.HasPrefix(got, "bad request: encode the request: ") {
		t.Error(got)
	}
}

func TestNewChecksTheConfig(t *testing.T) {
	model := llm.Model{Name: "m"}
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{BaseURL: "x", Model: model}, "base_url must be an http or https URL"},
		{Config{BaseURL: "http://" + testKey + "\x00", Model: model}, "base_url must be an http or https URL"},
		{Config{BaseURL: "file:///x", Model: model}, "base_url must be an http or https URL"},
		{Config{BaseURL: "http://x/v1?key=1", Model: model}, "base_url must have no query and no fragment"},
		{Config{BaseURL: "http://x"}, "the model has no name"},
		{Config{BaseURL: "http://x", Model: model, IdleTimeout: -1}, "the idle timeout -1ns is negative"},
		{Config{BaseURL: "http://x", Model: model, Extra: map[string]json.RawMessage{"stream": nil}}, `the body field "stream" is not free to set`},
		{Config{BaseURL: "http://x", Model: model, Extra: map[string]json.RawMessage{"tool_choice": nil}}, `the body field "tool_choice" is not free to set`},
		{Config{BaseURL: "http://x", Model: model, Dialect: 7}, "there is no dialect 7"},
		{Config{BaseURL: "http://x", Model: model, Thinking: "hard"}, `"hard" is no amount of thinking`},
		{Config{BaseURL: "http://x", Model: model, ReasoningKey: "content"}, `the message field "content" is not free for thinking`},
		{Config{BaseURL: "http://x", Model: model, APIKey: testKey + "\nx"}, "the API key holds characters that no header can carry"},
	} {
		if _, err := New(tt.cfg); err == nil || err.Error() != tt.want {
			t.Errorf("New: %v, want %s", err, tt.want)
		}
	}
	p := open(t, Config{BaseURL: "http://x//", Model: llm.Model{Name: "m", ContextSize: 7}})
	if p.Model().ContextSize != 7 || p.cfg.BaseURL != "http://x" || p.cfg.IdleTimeout != DefaultIdleTimeout {
		t.Errorf("%+v", p.cfg)
	}
}

func TestTheKeyIsTrimmed(t *testing.T) {
	p, err := New(Config{BaseURL: "http://x", Model: llm.Model{Name: "m"}, APIKey: " k\n"})
	if err != nil || p.cfg.APIKey != "k" {
		t.Errorf("%v, %+v", err, p)
	}
}

// What a model sent in place of arguments does not spoil the requests after it.
func TestArgumentsGoBackAsAnObject(t *testing.T) {
	for sent, want := range map[string]string{
		`{"a":1}`:       `{"a":1}`,
		"{\n}":          "{\n}",
		`{"a":`:         `{"not_an_object":"{\"a\":"}`,
		`[]`:            `{"not_an_object":"[]"}`,
		`null`:          `{"not_an_object":"null"}`,
		`"{\"a\":1}"`:   `{"not_an_object":"\"{\\\"a\\\":1}\""}`,
		"{\"a\":\"\x00": `{"not_an_object":"{\"a\":\"\u0000"}`,
	} {
		got := encodeCalls([]llm.ToolCall{{ID: "a", Name: "n", Arguments: &sent}})[0].Function.Arguments
		if got != want {
			t.Errorf("%q goes back as %q, want %q", sent, got, want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%q goes back as %q, which is no JSON", sent, got)
		}
	}
}
