package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"kimi-acp/soul/llm"
)

// Dialect says which additions to the protocol a server knows. Many servers
// refuse a request for one field that they do not know.
type Dialect uint8

// The dialects.
const (
	// DialectOpenAI is the protocol as OpenAI has it, less what only OpenAI's own
	// servers know.
	DialectOpenAI Dialect = iota
	// DialectKimi adds Moonshot's fields: prompt_cache_key, thinking and
	// max_completion_tokens, and types in every schema of a tool.
	DialectKimi
)

// openAIHost is the one server outside of DialectKimi that is sent a cache key.
const openAIHost = "api.openai.com"

// Thinking says how much a model is to think before it answers.
type Thinking string

// The amounts of thinking. DialectKimi knows on and off, and takes an effort as
// on; DialectOpenAI knows efforts, takes on as high, and sends null for off.
const (
	ThinkingUnset  Thinking = "" // nothing is sent: the server decides
	ThinkingOff    Thinking = "off"
	ThinkingOn     Thinking = "on"
	ThinkingLow    Thinking = "low"
	ThinkingMedium Thinking = "medium"
	ThinkingHigh   Thinking = "high"
)

func (t Thinking) check() error {
	switch t {
	case ThinkingUnset, ThinkingOff, ThinkingOn, ThinkingLow, ThinkingMedium, ThinkingHigh:
		return nil
	}
	return fmt.Errorf("%q is no amount of thinking", string(t))
}

// The names of the field in which an assistant's message carries its thinking.
const (
	DefaultReasoningKey = "reasoning_content"
	NoReasoningKey      = "-" // thinking is not sent back
)

// addDialect adds the fields that depend on the dialect to a body.
func addDialect(body map[string]any, cfg *Config, req *llm.Request) {
	if cfg.cacheKey && req.CacheKey != "" {
		body["prompt_cache_key"] = req.CacheKey
	}
	switch cfg.Dialect {
	case DialectKimi:
		if n := completionBudget(cfg, req); n > 0 {
			body["max_completion_tokens"] = n
		}
		switch cfg.Thinking {
		case ThinkingUnset:
		case ThinkingOff:
			body["thinking"] = json.RawMessage(`{"type":"disabled"}`)
		default:
			body["thinking"] = json.RawMessage(`{"type":"enabled"}`)
		}
	case DialectOpenAI:
		switch cfg.Thinking {
		case ThinkingUnset:
			// Gateways refuse thinking in the history without an effort beside it.
			if cfg.Model.Thinking && cfg.ReasoningKey != NoReasoningKey && slices.ContainsFunc(req.Messages, thought) {
				body["reasoning_effort"] = ThinkingMedium
			}
		case ThinkingOff:
			body["reasoning_effort"] = nil
		case ThinkingOn:
			body["reasoning_effort"] = ThinkingHigh
		default:
			body["reasoning_effort"] = cfg.Thinking
		}
	}
}

// thought tells whether a message has thinking in it.
func thought(m llm.Message) bool {
	return slices.ContainsFunc(m.Content, func(p llm.Part) bool { return p.Type == llm.PartThink })
}

// completionReserve is kept free between a request and its answer, in tokens,
// for what an estimate misses.
const completionReserve = 1024

// completionBudget gives how many tokens the answer may have: the budget of the
// config, or the window, less what the request takes of it. 0: no limit is sent.
func completionBudget(cfg *Config, req *llm.Request) int {
	budget, window := cfg.MaxCompletionTokens, cfg.Model.ContextSize
	switch {
	case budget < 0:
		return 0
	case window <= 0:
		return budget
	case budget == 0:
		budget = window
	}
	used := max(estimate(req), req.Tokens) + completionReserve
	return max(1, min(budget, window-used))
}

// estimate gives the size of a request in tokens.
func estimate(req *llm.Request) int {
	n := llm.EstimateText(req.System)
	for i := range req.Tools {
		n += llm.EstimateTool(req.Tools[i])
	}
	for i := range req.Messages {
		if known := req.Messages[i].Tokens; known > 0 {
			n += known
		} else {
			n += llm.EstimateTokens(req.Messages[i])
		}
	}
	return n
}
