package wireserver

import (
	"errors"
	"fmt"
	"strings"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

func stateError(text string) error { return &jsonrpc.Error{Code: wire.CodeInvalidState, Message: text} }

func errRunning() error { return stateError("An agent turn is already in progress") }

func errNothingRuns() error { return stateError("No agent turn is in progress") }

// promptError is what a client gets for a turn that failed.
func promptError(err error) error {
	var capability *soul.CapabilityError
	var provider *llm.Error
	switch {
	case errors.Is(err, soul.ErrNoModel):
		return &jsonrpc.Error{Code: wire.CodeNoModel, Message: soul.ErrNoModel.Error()}
	case errors.As(err, &capability):
		return &jsonrpc.Error{Code: wire.CodeNotSupported, Message: capability.Error()}
	case errors.As(err, &provider):
		return &jsonrpc.Error{Code: wire.CodeProvider, Message: provider.Message}
	}
	// As kimi-cli has it: the kind of the error in front of its words.
	kind := strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: kind + ": " + err.Error()}
}
