package acp

import (
	"errors"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/llm"
)

// Error codes of ACP beside those of JSON-RPC.
const (
	codeAuthRequired = -32000
	codeNotFound     = -32002
)

func authRequired(message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: codeAuthRequired, Message: "Authentication required: " + message}
}

func unknownSession(id string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: codeNotFound, Message: "Unknown session; make one with session/new", Data: map[string]string{"sessionId": clip(id)}}
}

func invalidRequest(message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}
}

// promptError is what an editor gets when a turn fails: a sentence that says what
// to do, and the provider's words.
func promptError(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The turn failed because of a fault in kimi-acp; the log has the details. The session can be used on."}
	}
	code, advice := jsonrpc.CodeInternal, adviceFor(e.Kind)
	if e.Kind == llm.KindAuth {
		code = codeAuthRequired
	}
	return &jsonrpc.Error{Code: code, Message: advice + " The model's provider said: " + e.Error(), Data: map[string]any{"kind": kindName(e.Kind), "status": e.Status}}
}

// adviceFor says what a person can do about a failed model call.
func adviceFor(k llm.Kind) string {
	switch k {
	case llm.KindAuth:
		return "The API key was not accepted: check KIMI_API_KEY (or OPENAI_API_KEY), or api_key in acp.toml; `kimi-acp doctor` tells more."
	case llm.KindPermission:
		return "The API key may not do this: check what your account allows."
	case llm.KindBilling:
		return "The account has no credit or quota left: top it up, or use another key."
	case llm.KindRateLimit:
		return "Too many requests: wait a little and send the prompt again."
	case llm.KindOverloaded:
		return "The provider is overloaded: send the prompt again in a while."
	case llm.KindServer:
		return "The provider failed: send the prompt again."
	case llm.KindTimeout, llm.KindStalled:
		return "The provider did not answer in time: send the prompt again."
	case llm.KindConnection:
		return "The connection to the provider failed: check the network and the base URL, then send the prompt again."
	case llm.KindEmpty, llm.KindMalformed:
		return "The provider's answer was not usable: send the prompt again."
	case llm.KindOverflow:
		return "The conversation is too long for the model: use /clear, or start a new session."
	case llm.KindContentFilter:
		return "The provider refused the content: reword the prompt."
	case llm.KindUnknownModel:
		return "The provider does not know the model: check KIMI_MODEL_NAME (or OPENAI_MODEL)."
	case llm.KindBadRequest:
		return "The provider refused the request."
	}
	return "The model call failed."
}

// kindName is the machine-readable name of a kind.
func kindName(k llm.Kind) string {
	names := map[llm.Kind]string{
		llm.KindAuth: "auth", llm.KindPermission: "permission", llm.KindBilling: "billing", llm.KindRateLimit: "rate_limit",
		llm.KindOverloaded: "overloaded", llm.KindServer: "server", llm.KindTimeout: "timeout", llm.KindConnection: "connection",
		llm.KindEmpty: "empty", llm.KindMalformed: "malformed", llm.KindStalled: "stalled", llm.KindOverflow: "overflow",
		llm.KindContentFilter: "content_filter", llm.KindUnknownModel: "unknown_model", llm.KindBadRequest: "bad_request",
	}
	if n, ok := names[k]; ok {
		return n
	}
	return "unknown"
}
