package openai

import (
	"slices"
	"strings"

	"kimi-acp/soul/llm"
)

// vendorTexts is the one place where failures are told apart by their words:
// vendors use few statuses for many things. The first row that fits wins; a
// status that no row fits means what llm.KindOfStatus says.
//
// A row fits when the status is among its statuses, or there is none since the
// error came within a stream, and one of its texts is part of the error's type,
// code or message, in lower case.
var vendorTexts = [...]struct {
	kind     llm.Kind
	statuses []int
	texts    []string
}{
	{llm.KindOverflow, []int{400, 413, 422, 500}, []string{
		"context_length_exceeded",          // OpenAI
		"maximum context length",           // OpenAI, DeepSeek, vLLM
		"exceeded model token limit",       // Moonshot
		"prompt is too long",               // Anthropic
		"exceed context limit",             // Anthropic
		"exceed_context_size",              // llama.cpp
		"exceeds the available context",    // llama.cpp
		"greater than the context length",  // LM Studio
		"maximum number of tokens allowed", // Gemini
		"range of input length should be",  // DashScope
		"context window",                   // several
		"reduce the length of the messages",
		"input is too long",
		"too many tokens in the prompt",
	}},
	{llm.KindContentFilter, []int{400, 403, 422, 451}, []string{
		"content_filter",                  // Moonshot, Azure
		"considered high risk",            // Moonshot
		"content_policy_violation",        // OpenAI
		"content management policy",       // Azure
		"responsibleaipolicyviolation",    // Azure
		"data_inspection_failed",          // DashScope
		"datainspectionfailed",            // DashScope
		"blocked by our content policies", // several
	}},
	{llm.KindBadImage, []int{400, 413, 415, 422, 500}, []string{
		"could not process image",       // Anthropic
		"image exceeds",                 // Anthropic: too many bytes
		"image dimensions exceed",       // Anthropic
		"invalid_image",                 // OpenAI
		"image_parse_error",             // OpenAI
		"unsupported image",             // OpenAI, Moonshot
		"invalid image",                 // several
		"unable to process input image", // Gemini
		"failed to load image",          // llama.cpp
		"failed to decode image",        // vLLM, llama.cpp
		"cannot identify image",         // vLLM
		"image is too large",            // several
		"does not support image",        // several
		"image input is not supported",  // llama.cpp
	}},
	// Gemini words a limit per minute like a used-up quota, but says when to come back.
	{llm.KindRateLimit, []int{429}, []string{"please retry in "}},
	{llm.KindBilling, []int{400, 402, 403, 429}, []string{
		"insufficient_quota",          // OpenAI
		"exceeded your current quota", // OpenAI
		"exceeded_current_quota",      // Moonshot
		"insufficient balance",        // Moonshot, DeepSeek
		"usage limit",                 // Kimi Code
		"credit balance is too low",   // Anthropic
		"insufficient credits",        // OpenRouter
		"arrearage",                   // DashScope
		"account is suspended",        // several
		"billing_hard_limit_reached",  // OpenAI
		"membership has expired",      // Kimi Code
	}},
	{llm.KindOverloaded, []int{429, 500, 502, 503, 529}, []string{
		"engine_overloaded", // Moonshot
		"overloaded",        // Moonshot, Anthropic
		"no capacity",       // several
		"server is busy",    // DeepSeek
		"at capacity",       // several
	}},
	{llm.KindUnknownModel, []int{400, 403, 404, 422}, []string{
		"model_not_found",         // OpenAI
		"model not exist",         // DeepSeek
		"is not a valid model id", // OpenRouter
		"not found the model",     // Moonshot
		"model not found",         // several
		"unknown model",           // several
	}},
	{llm.KindAuth, []int{400, 403}, []string{
		"invalid_api_key",        // OpenAI
		"api key not valid",      // Gemini
		"invalid_authentication", // Moonshot
		"incorrect api key",      // OpenAI
	}},
	{llm.KindRateLimit, []int{403}, []string{"rate_limit", "rate limit", "too many requests"}},
}

// classify says what kind of failure a status and a provider's words mean. A
// status of 0 stands for an error within a stream.
func classify(status int, f failure) llm.Kind {
	words := strings.ToLower(f.labels + f.message)
	for _, row := range vendorTexts {
		if status != 0 && !slices.Contains(row.statuses, status) {
			continue
		}
		if slices.ContainsFunc(row.texts, func(t string) bool { return strings.Contains(words, t) }) {
			return row.kind
		}
	}
	if status == 0 {
		return llm.KindServer // it had begun to answer, so the request was good
	}
	return llm.KindOfStatus(status)
}
