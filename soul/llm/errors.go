package llm

import (
	"fmt"
	"time"
)

// Kind classifies a failed model call where it arises; nothing above looks at texts.
type Kind uint8

// The kinds of failure of a model call.
const (
	KindUnknown       Kind = iota
	KindAuth               // the key is missing, wrong or expired (401)
	KindPermission         // the key may not do this (403)
	KindBilling            // out of credit or quota (402, or 429 with a billing text)
	KindRateLimit          // too many requests (429)
	KindOverloaded         // the provider has no capacity (503, 529)
	KindServer             // the provider failed (other 5xx)
	KindTimeout            // no answer in time
	KindConnection         // the connection could not be made, or broke
	KindEmpty              // an answer without text and tool calls
	KindMalformed          // a stream that is not what the protocol says
	KindStalled            // a stream that went silent
	KindOverflow           // the conversation does not fit the model's window
	KindContentFilter      // refused by the provider's filter
	KindUnknownModel       // no such model (404)
	KindBadRequest         // refused as invalid (other 4xx)
	KindBadImage           // an image of the conversation cannot be read or is too large
)

// Error is a failed model call.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 when there was none
	RetryAfter time.Duration // what the provider asked for, 0 when it did not
	Message    string        // the provider's words, without secrets
	RequestID  string        // the provider's id of the call, which its support asks for; "": none
	Final      bool          // a repetition is pointless whatever the kind says, or all repetitions are used up
	Err        error         // the cause, may be nil
}

// Error gives the provider's words with the status and the id of the call, where
// there are such.
func (e *Error) Error() string {
	text := e.Message
	if e.Status != 0 {
		text = fmt.Sprintf("HTTP %d: %s", e.Status, text)
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
