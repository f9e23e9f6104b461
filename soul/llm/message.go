// Package llm holds what a soul and a model say to each other: messages, parts,
// tool calls, streamed deltas and the kinds of failure.
//
// It must not know where messages come from (an editor, a file), who runs a
// tool, or which vendor answers; the providers live in packages beneath it.
package llm

import "encoding/json"

// Role says who speaks in a Message.
type Role string

// The roles of the chat completions API.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// PartType is the discriminator of a Part, as it stands in JSON.
type PartType string

// The part types that Wire 1.10 and context.jsonl know.
const (
	PartText  PartType = "text"
	PartThink PartType = "think"
	PartImage PartType = "image_url"
	PartAudio PartType = "audio_url"
	PartVideo PartType = "video_url"
)

// Part is one piece of a message's content. Which fields count depends on Type.
type Part struct {
	Type      PartType
	Text      string  // PartText
	Think     string  // PartThink
	Encrypted *string // PartThink: the provider's signature, nil when there is none
	Media     Media   // PartImage, PartAudio, PartVideo
}

// Media is the target of an image, audio or video part: a URL, often a data URL.
type Media struct {
	URL string  `json:"url"`
	ID  *string `json:"id"`
}

// Text makes a text part.
func Text(s string) Part { return Part{Type: PartText, Text: s} }

// Think makes a thinking part without a signature.
func Think(s string) Part { return Part{Type: PartThink, Think: s} }

// Image makes an image part of a URL.
func Image(url string) Part { return Part{Type: PartImage, Media: Media{URL: url}} }

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments *string         // JSON text, nil while (or if) none was sent
	Extras    json.RawMessage // vendor fields, nil when there are none
}

// Message is one entry of a conversation.
type Message struct {
	Role       Role
	Name       string
	Content    []Part
	ToolCalls  []ToolCall // RoleAssistant
	ToolCallID string     // RoleTool: the call that this answers
	Tokens     int        // estimated size in tokens, see EstimateTokens; 0: not yet estimated
	Mark       int        // 1 + the id of the checkpoint right in front of it; 0: there is none
}

// ToolSpec describes a tool to the model. Parameters is a JSON Schema object.
type ToolSpec struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// Usage counts the tokens of one model call.
type Usage struct {
	InputOther         int `json:"input_other"`
	Output             int `json:"output"`
	InputCacheRead     int `json:"input_cache_read"`
	InputCacheCreation int `json:"input_cache_creation"`
}

// Input is the number of prompt tokens, cached or not.
func (u Usage) Input() int { return u.InputOther + u.InputCacheRead + u.InputCacheCreation }

// Total is the number of tokens that the call leaves in the context.
func (u Usage) Total() int { return u.Input() + u.Output }
