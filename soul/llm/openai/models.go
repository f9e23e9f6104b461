package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"kimi-acp/soul/llm"
)

const (
	modelsPath      = "/models"
	modelsTimeout   = 20 * time.Second
	maxModelsBody   = 16 << 20    // bytes of a list of models
	maxModels       = 2000        // models of a list that are told
	maxModelName    = 200         // bytes of an id or a display name
	maxListedWindow = 100_000_000 // tokens; a greater number is a mistake
)

// ModelInfo is what a server's list says of one of its models.
type ModelInfo struct {
	ID          string // the name to call it by: printable, at most 200 bytes
	DisplayName string // "": the list has none
	ContextSize int    // tokens, prompt and answer together; 0: the list does not say
	ImageInput  *bool  // takes images; nil: the list does not say
	VideoInput  *bool  // takes videos; nil: the list does not say
	Thinking    *bool  // can think; nil: the list does not say
	Chat        bool   // false: the list says that it does not write text
}

// Models asks the server which models it has, in the server's order, each once.
// Entries that cannot be read are left out, and so is all beyond 2000 models.
// The error is an *llm.Error, or ctx's when ctx ended; 20 s without a whole list
// are a KindTimeout.
func (p *Provider) Models(ctx context.Context) ([]ModelInfo, error) {
	limited, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	models, err := p.models(limited)
	if err != nil {
		return nil, p.failed(ctx, err, nil)
	}
	return models, nil
}

func (p *Provider) models(ctx context.Context) ([]ModelInfo, error) {
	resp, err := p.ask(ctx, http.MethodGet, modelsPath)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	if resp.StatusCode != http.StatusOK {
		// What was read before the body broke is still the best account of the failure.
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return nil, statusError(resp.StatusCode, resp.Header, body, time.Now())
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxModelsBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the list of models: %w", err)
	case len(body) > maxModelsBody:
		return nil, malformed("the list of models has more than %d bytes", maxModelsBody)
	}
	return readModels(body)
}

// readModels reads the forms in which servers list models: under `data` or
// `models`, or bare.
func readModels(body []byte) ([]ModelInfo, error) {
	list, err := listOfModels(body)
	if err != nil {
		return nil, &llm.Error{Kind: llm.KindMalformed, Message: "the list of models cannot be read: " + excerpt(body), Err: err}
	}
	var out []ModelInfo
	seen := map[string]bool{}
	for _, entry := range list {
		m, ok := readModel(entry)
		if !ok || seen[m.ID] {
			continue
		}
		if len(out) == maxModels {
			break
		}
		seen[m.ID] = true
		out = append(out, m)
	}
	return out, nil
}

func listOfModels(body []byte) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil {
		return list, nil
	}
	var object struct {
		Data   []json.RawMessage `json:"data"`
		Models []json.RawMessage `json:"models"`
	}
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	if object.Data == nil && object.Models == nil {
		return nil, errors.New("it holds no list")
	}
	return append(object.Data, object.Models...), nil
}

// entry is a model in a list, or an object within it.
type entry map[string]json.RawMessage

func readModel(raw json.RawMessage) (ModelInfo, bool) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return ModelInfo{ID: name, Chat: true}, goodName(name)
	}
	var e entry
	if json.Unmarshal(raw, &e) != nil {
		return ModelInfo{}, false
	}
	m := ModelInfo{
		ID:          e.text("id", "model", "name"),
		DisplayName: clip(e.text("display_name", "name"), maxModelName),
		ContextSize: e.contextSize(),
		Chat:        true,
	}
	if m.DisplayName == m.ID {
		m.DisplayName = ""
	}
	input := append(e.within("architecture").texts("input_modalities"), e.texts("input_modalities")...)
	output := append(e.within("architecture").texts("output_modalities"), e.texts("output_modalities")...)
	abilities := e.within("capabilities")
	kind := e.text("type")
	m.ImageInput = firstSaid(e.flag("supports_image_in"), abilities.flag("vision"), holds(e.texts("capabilities"), "vision"), holds(input, "image"), is(kind, "vlm"))
	m.VideoInput = firstSaid(e.flag("supports_video_in"), holds(input, "video"))
	m.Thinking = firstSaid(e.flag("supports_reasoning"), abilities.flag("reasoning"), holds(e.texts("supported_parameters"), "reasoning"))
	if chat := firstSaid(abilities.flag("completion_chat"), holds(output, "text")); chat != nil {
		m.Chat = *chat
	}
	m.Chat = m.Chat && !strings.HasPrefix(kind, "embedding")
	return m, goodName(m.ID)
}

// contextSize reads the window under the names that servers have for it. The
// window that a server gave to the model goes before what the model could have.
func (e entry) contextSize() int {
	for _, n := range []int{
		// LM Studio
		e.count("loaded_context_length"),
		// llama.cpp
		e.within("meta").count("n_ctx"),
		// Moonshot, OpenRouter
		e.count("context_length"),
		// LM Studio, Mistral
		e.count("max_context_length"),
		// Groq
		e.count("context_window"),
		// several
		e.count("context_size"),
		// vLLM
		e.count("max_model_len"),
		// LiteLLM, Anthropic
		e.count("max_input_tokens"),
		// llama.cpp
		e.within("meta").count("n_ctx_train"),
		// OpenRouter
		e.within("top_provider").count("context_length"),
		// several
		e.within("limits").count("max_context_window_tokens"),
		// GitHub
		e.within("capabilities").within("limits").count("max_context_window_tokens"),
	} {
		if n > 0 {
			return n
		}
	}
	return 0
}

func (e entry) within(key string) entry {
	var inner entry
	_ = json.Unmarshal(e[key], &inner) // something else says nothing
	return inner
}

// text gives the first of the keys that holds a text, trimmed.
func (e entry) text(keys ...string) string {
	for _, key := range keys {
		var s string
		if json.Unmarshal(e[key], &s) == nil && strings.TrimSpace(s) != "" {
			return strings.TrimSpace(s)
		}
	}
	return ""
}

func (e entry) texts(key string) []string {
	var list []string
	if json.Unmarshal(e[key], &list) != nil {
		return nil
	}
	return list
}

func (e entry) flag(key string) *bool {
	var b *bool
	if json.Unmarshal(e[key], &b) != nil {
		return nil
	}
	return b
}

// count reads a number of tokens, also one in quotes; 0: there is none.
func (e entry) count(key string) int {
	n, err := strconv.ParseFloat(plainText(e[key]), 64)
	if err == nil && n >= 1 && n <= maxListedWindow {
		return int(n)
	}
	return 0
}

// holds tells whether a list that is there holds a word.
func holds(list []string, word string) *bool {
	if list == nil {
		return nil
	}
	return new(slices.Contains(list, word))
}

// is gives true for the word, and does not know otherwise.
func is(text, word string) *bool {
	if text != word {
		return nil
	}
	return new(true)
}

func firstSaid(all ...*bool) *bool {
	for _, b := range all {
		if b != nil {
			return b
		}
	}
	return nil
}

func goodName(s string) bool {
	return s != "" && len(s) <= maxModelName && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
