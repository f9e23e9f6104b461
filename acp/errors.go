package acp

import (
	"errors"
	"fmt"
	"time"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
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
	if t, ok := errors.AsType[*soul.Trouble](err); ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: t.Advice}
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The turn failed because of a fault in kimi-acp; the log has the details. The session can be used on."}
	}
	remedy := e.Kind.Remedy()
	code := jsonrpc.CodeInternal
	if e.Kind == llm.KindAuth {
		code = codeAuthRequired
	}
	data := map[string]any{"kind": remedy.Name, "status": e.Status}
	message := remedy.Advice
	if e.RetryAfter > 0 {
		data["retryAfterMs"] = e.RetryAfter.Milliseconds()
		message += fmt.Sprintf(" It asks to wait %v.", max(e.RetryAfter.Round(time.Second), time.Second))
	}
	return &jsonrpc.Error{Code: code, Message: message + " The model's provider said: " + e.Error(), Data: data}
}
