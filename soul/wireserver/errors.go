package wireserver

import (
	"errors"
	"fmt"
	"strings"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// The error codes of the protocol beyond those of JSON-RPC.
const (
	codeInvalidState = -32000
	codeNoModel      = -32001
	codeNotSupported = -32002
	codeProvider     = -32003
)

func stateError(text string) error { return &jsonrpc.Error{Code: codeInvalidState, Message: text} }

func errRunning() error { return stateError("An agent turn is already in progress") }

func errNothingRuns() error { return stateError("No agent turn is in progress") }

// promptError is what a client gets for a turn that failed.
func promptError(err error) error {
	var capability *soul.CapabilityError
	var provider *llm.Error
	switch {
	case errors.Is(err, soul.ErrNoModel):
		return &jsonrpc.Error{Code: codeNoModel, Message: soul.ErrNoModel.Error()}
	case errors.As(err, &capability):
		return &jsonrpc.Error{Code: codeNotSupported, Message: capability.Error()}
	case errors.As(err, &provider):
		return &jsonrpc.Error{Code: codeProvider, Message: provider.Message}
	}
	// As kimi-cli has it: the kind of the error in front of its words.
	kind := strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: kind + ": " + err.Error()}
}
