package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The error codes that the core itself sends.
const (
	CodeParse          = -32700 // the bytes are not JSON
	CodeInvalidRequest = -32600 // JSON, but not a message of the protocol
	CodeMethodNotFound = -32601 // no such method
	CodeInvalidParams  = -32602 // params that the method cannot take
	CodeInternal       = -32603 // anything unexpected
	CodeCancelled      = -32800 // the request was cancelled
)

// What ends or refuses an operation of a Conn; match with errors.Is.
var (
	// ErrClosed says that the connection takes no more messages, or that no
	// answer can come any more.
	ErrClosed = errors.New("connection closed")
	// ErrCancelled is the cause of a call's context after the peer's cancel.
	ErrCancelled = errors.New("request cancelled by the peer")
	// ErrBadResponse says that the peer's answer to a call cannot be used: it is
	// malformed or over the size limit.
	ErrBadResponse = errors.New("bad response")
	// ErrForgotten is what Wait returns after Forget.
	ErrForgotten = errors.New("request forgotten")
	// ErrIDInUse refuses StartAs with an id that still waits for its answer.
	ErrIDInUse = errors.New("request id in use")
)

// Error is a JSON-RPC error: as the answer of a peer, or as the answer to it.
// Everything in it is meant for the other side.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`        // one short sentence
	Data    any    `json:"data,omitempty"` // a json.RawMessage when it came from the peer; nil when absent
}

// Error gives message and code.
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// answerFor turns what a handler returned into what the peer may see. ctx is the
// call's context: only its own cancellation is reported as one. worded says that
// err had words for the peer, or needs none; otherwise it belongs in the log.
func answerFor(ctx context.Context, err error) (e *Error, worded bool) {
	if errors.As(err, &e) && e != nil {
		return e, true
	}
	cancelled := errors.Is(err, context.Canceled) && ctx.Err() != nil
	if cancelled || errors.Is(err, ErrCancelled) {
		return &Error{Code: CodeCancelled, Message: "Request cancelled"}, true
	}
	return &Error{Code: CodeInternal, Message: "Internal error"}, false
}

// errorTypes names the types of an error's chain. The text may quote params, so
// this is all that a log may hold.
func errorTypes(err error) string {
	var names []string
	for depth := 0; err != nil && depth < 8; depth++ {
		names = append(names, fmt.Sprintf("%T", err))
		err = errors.Unwrap(err)
	}
	return strings.Join(names, " > ")
}
