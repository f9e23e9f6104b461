package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
)

// reserved tells which fields of the body belong to the provider.
func reserved(field string) bool {
	switch field {
	case "messages", "model", "prompt_cache_key", "stream", "stream_options", "tool_choice", "tools":
		return true
	}
	return false
}

// encodeRequest writes the body of a call. Its keys are sorted and nothing in it
// changes from call to call, so equal requests are equal bytes and longer
// conversations begin with the same messages.
func encodeRequest(cfg *Config, req *llm.Request) ([]byte, error) {
	body := map[string]any{
		"model":          cfg.Model.Name,
		"messages":       encodeMessages(cfg, req),
		"stream":         true,
		"stream_options": map[string]bool{"include_usage": true},
	}
	if len(req.Tools) > 0 {
		tools, err := encodeTools(req.Tools, cfg.Dialect)
		if err != nil {
			return nil, err
		}
		body["tools"] = tools
		if req.ToolChoice != "" {
			body["tool_choice"] = encodeChoice(req.ToolChoice)
		}
	}
	addDialect(body, cfg, req)
	for name, value := range cfg.Extra {
		body[name] = value
	}
	return plainJSON(body)
}

// plainJSON encodes without the escapes that only HTML needs: code is full of <,
// > and &.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

type wireTool struct {
	Type     string           `json:"type"`
	Function wireToolFunction `json:"function"`
}

type wireToolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// encodeTools writes tools. A name that begins with `$` is Moonshot's for a
// tool that runs at the provider; it has nothing but that name.
func encodeTools(tools []llm.ToolSpec, dialect Dialect) ([]wireTool, error) {
	out := make([]wireTool, len(tools))
	for i, t := range tools {
		switch {
		case strings.HasPrefix(t.Name, "$"):
			out[i] = wireTool{Type: "builtin_function", Function: wireToolFunction{Name: t.Name}}
			continue
		case len(t.Parameters) == 0:
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		case !json.Valid(t.Parameters):
			return nil, fmt.Errorf("the parameters of tool %s are not JSON", t.Name)
		case dialect == DialectKimi:
			t.Parameters = typedSchema(t.Parameters)
		}
		out[i] = wireTool{Type: "function", Function: wireToolFunction(t)}
	}
	return out, nil
}

// encodeChoice writes which tool is to be called: a word, or a function's name.
func encodeChoice(choice string) any {
	if choice == llm.ToolChoiceNone || choice == llm.ToolChoiceRequired {
		return choice
	}
	return wireTool{Type: "function", Function: wireToolFunction{Name: choice}}
}
