package llm

import (
	"context"
	"iter"
)

// Model is what is known of a model before it is called.
type Model struct {
	Name        string
	ContextSize int  // tokens, > 0
	ImageInput  bool // accepts PartImage
	VideoInput  bool // accepts PartVideo
	Thinking    bool // streams PartThink
}

// Request is one model call. Equal requests must serialise to equal bytes, since
// providers cache prompts by prefix.
type Request struct {
	System     string
	Messages   []Message
	Tools      []ToolSpec
	ToolChoice string // a tool's name or one of the ToolChoice constants; "": as the model likes
	CacheKey   string // stable for a session; empty: none
	Tokens     int    // the request's size as last counted by the provider; 0: never counted
}

// The tool choices that are not a tool's name.
const (
	ToolChoiceNone     = "none"     // answer without a tool; the tools stay, for the sake of the prompt cache
	ToolChoiceRequired = "required" // call a tool, whichever
)

// DeltaKind says which fields of a Delta count.
type DeltaKind uint8

// The kinds of Delta.
const (
	DeltaText     DeltaKind = iota + 1 // Text: a piece of the answer
	DeltaThink                         // Text: a piece of thinking; Part.Encrypted: its signature, if any
	DeltaPart                          // Part: a whole part (media)
	DeltaCall                          // Call: a tool call begins; Index
	DeltaCallPart                      // Arguments of call Index go on; nil: nothing was sent
	DeltaUsage                         // Usage: the call's counts, the last one wins
	DeltaID                            // Text: the provider's id of the answer
	DeltaFinish                        // Finish: why the answer ended
)

// FinishReason is why a model stopped, in the words of the chat completions API.
type FinishReason string

// The finish reasons that a soul acts on; others are taken as FinishStop.
const (
	FinishStop          FinishReason = "stop"
	FinishLength        FinishReason = "length"
	FinishToolCalls     FinishReason = "tool_calls"
	FinishContentFilter FinishReason = "content_filter"
)

// Delta is one piece of a streamed answer.
type Delta struct {
	Kind      DeltaKind
	Index     int // DeltaCall, DeltaCallPart: which call, as the provider counts
	Text      string
	Part      Part
	Call      ToolCall
	Arguments *string
	Usage     Usage
	Finish    FinishReason
}

// Provider streams the answers of one model.
type Provider interface {
	// Model tells what is known of the model. It may be called at any time.
	Model() Model
	// Stream asks the model. Deltas come in order; a non-nil error is the last
	// element and is an *Error, or ctx's error when ctx ended. A sequence that
	// ends without an error has delivered a DeltaFinish. Calls may run side by
	// side. The request is read until the sequence ends and never changed.
	Stream(ctx context.Context, req *Request) iter.Seq2[Delta, error]
}
