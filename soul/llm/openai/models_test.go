package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
)

func TestReadModels(t *testing.T) {
	yes, no := new(true), new(false)
	for _, tt := range []struct {
		name, body string
		want       []ModelInfo
	}{
		{"Kimi Code", `{"object":"list","data":[{"id":"kimi-for-coding","display_name":"Kimi for Coding","context_length":262144,"supports_reasoning":true,"supports_image_in":true,"supports_video_in":false}]}`, []ModelInfo{
			{ID: "kimi-for-coding", DisplayName: "Kimi for Coding", ContextSize: 262144, ImageInput: yes, VideoInput: no, Thinking: yes, Chat: true},
		}},
		{"OpenAI says next to nothing", `{"data":[{"id":"gpt-5","object":"model","created":1,"owned_by":"x"}]}`, []ModelInfo{{ID: "gpt-5", Chat: true}}},
		{"OpenRouter", `{"data":[{"id":"a/b","name":"A: B","context_length":"1000","architecture":{"input_modalities":["text","image","video"],"output_modalities":["text"]},"supported_parameters":["tools","reasoning"]},` +
			`{"id":"a/c","context_length":null,"top_provider":{"context_length":5e3},"architecture":{"input_modalities":["text"],"output_modalities":["image"]},"supported_parameters":[]}]}`, []ModelInfo{
			{ID: "a/b", DisplayName: "A: B", ContextSize: 1000, ImageInput: yes, VideoInput: yes, Thinking: yes, Chat: true},
			{ID: "a/c", ContextSize: 5000, ImageInput: no, VideoInput: no, Thinking: no},
		}},
		{"Mistral", `{"data":[{"id":"m","name":"m","max_context_length":131072,"capabilities":{"completion_chat":true,"vision":false}},{"id":"e","capabilities":{"completion_chat":false}}]}`, []ModelInfo{
			{ID: "m", ContextSize: 131072, ImageInput: no, Chat: true}, {ID: "e"},
		}},
		{"LM Studio", `{"data":[{"id":"v","type":"vlm","max_context_length":9000,"loaded_context_length":4096},{"id":"e","type":"embeddings"},{"id":"l","type":"llm"}]}`, []ModelInfo{
			{ID: "v", ContextSize: 4096, ImageInput: yes, Chat: true}, {ID: "e"}, {ID: "l", Chat: true},
		}},
		{"Groq, vLLM, LiteLLM, llama.cpp", `{"data":[{"id":"g","context_window":1},{"id":"v","max_model_len":2},{"id":"t","max_input_tokens":3},{"id":"l","meta":{"n_ctx_train":4}},{"id":"n","meta":{"n_ctx_train":4,"n_ctx":3}},{"id":"h","capabilities":{"limits":{"max_context_window_tokens":5}}}]}`, []ModelInfo{
			{ID: "g", ContextSize: 1, Chat: true},
			{ID: "v", ContextSize: 2, Chat: true},
			{ID: "t", ContextSize: 3, Chat: true},
			{ID: "l", ContextSize: 4, Chat: true},
			{ID: "n", ContextSize: 3, Chat: true},
			{ID: "h", ContextSize: 5, Chat: true},
		}},
		{"Ollama", `{"models":[{"name":"x:latest","model":"x:latest","capabilities":["completion","vision"]}]}`, []ModelInfo{{ID: "x:latest", ImageInput: yes, Chat: true}}},
		{"bare", `["a",{"id":"b"},"a"]`, []ModelInfo{{ID: "a", Chat: true}, {ID: "b", Chat: true}}},
		{"strange windows", `[{"id":"a","context_length":-1},{"id":"b","context_length":"NaN"},{"id":"c","context_length":1e300},{"id":"d","context_length":{}},{"id":"e","context_length":true,"context_window":8}]`, []ModelInfo{
			{ID: "a", Chat: true}, {ID: "b", Chat: true}, {ID: "c", Chat: true}, {ID: "d", Chat: true}, {ID: "e", ContextSize: 8, Chat: true},
		}},
		{"strange entries", `[null,3,{},{"id":""},{"id":7},{"id":"a\nb"},{"id":"` + strings.Repeat("x", maxModelName+1) + `"},"",{"id":" good ","display_name":"A\u0000B","supports_reasoning":"yes","capabilities":3,"architecture":[]}]`, []ModelInfo{
			{ID: "good", DisplayName: "A B", Chat: true},
		}},
		{"none", `{"data":[]}`, nil},
	} {
		got, err := readModels([]byte(tt.body))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	for _, body := range []string{"", "{}", `{"data":{}}`, `{"data":null}`, "<html>", `"x"`} {
		var e *llm.Error
		if _, err := readModels([]byte(body)); !errors.As(err, &e) || e.Kind != llm.KindMalformed || e.Err == nil {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestModelsAreBounded(t *testing.T) {
	list := make([]string, maxModels+7)
	for i := range list {
		list[i] = fmt.Sprint("m", i)
	}
	body, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readModels(body)
	if err != nil || len(got) != maxModels || got[maxModels-1].ID != fmt.Sprint("m", maxModels-1) {
		t.Errorf("%d models, %v", len(got), err)
	}
}

func TestModels(t *testing.T) {
	const list = `{"data":[{"id":"m"}]}`
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"a list", 200, list, "m"},
		{"no such list", 404, "", "unknown model 404: Not Found"},
		{"a refused key", 401, `{"error":{"message":"bad key ` + testKey + `"}}`, "auth 401: bad key [API key]"},
		{"no list", 200, "<html>", `malformed: the list of models cannot be read: "<html>"`},
		{"too much", 200, strings.Repeat(" ", maxModelsBody) + list, "malformed: the list of models has more than 16777216 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked *http.Request
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r
				w.Header().Set("X-Request-Id", "req-1")
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer s.Close()
			p := open(t, Config{BaseURL: s.URL + "/v1", UserAgent: "kimi-acp/1", Header: http.Header{"x-title": {"t"}}})
			models, err := p.Models(t.Context())
			var got string
			for _, m := range models {
				got += m.ID
			}
			if err != nil {
				got = strings.TrimSuffix(describe(err), "\n")
				var e *llm.Error
				if errors.As(err, &e) && e.Status != 0 && e.RequestID != "req-1" {
					t.Errorf("request id %q", e.RequestID)
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if h := asked.Header; asked.Method != "GET" || asked.URL.Path != "/v1/models" || h.Get("Authorization") != "Bearer "+testKey || h.Get("User-Agent") != "kimi-acp/1" || h.Get("X-Title") != "t" {
				t.Errorf("asked %s %s with %v", asked.Method, asked.URL, h)
			}
		})
	}
}

func TestModelsTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, transport := range []http.RoundTripper{silent{}, &paced{status: http.StatusOK}} {
			p := open(t, Config{BaseURL: "http://model.test", HTTPClient: &http.Client{Transport: transport}})
			start := time.Now()
			_, err := p.Models(t.Context())
			var e *llm.Error
			if took := time.Since(start); !errors.As(err, &e) || e.Kind != llm.KindTimeout || took != modelsTimeout {
				t.Errorf("%v after %v", err, took)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := p.Models(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want the context's error", err)
			}
		}
	})
}

// Whatever a server lists, names can be shown and numbers used.
func FuzzReadModels(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":"m","name":"M","context_length":"1e3","architecture":{"input_modalities":["image"]},"capabilities":{"limits":{}}}]}`))
	f.Add([]byte(`["a",{"model":"b","capabilities":["vision"],"meta":{"n_ctx":0}}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		models, err := readModels(body)
		if err != nil {
			return
		}
		for _, m := range models {
			if !goodName(m.ID) || m.DisplayName != "" && strings.ContainsAny(m.DisplayName, "\n\x00") || m.ContextSize < 0 || m.ContextSize > maxListedWindow {
				t.Errorf("%+v", m)
			}
		}
	})
}
