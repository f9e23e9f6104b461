package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
)

// chunk is what one event says, free of its vendor's ways.
type chunk struct {
	id       []byte // of the answer; valid until the line is reused
	text     string
	think    string
	hasThink bool // thinking was named, maybe an empty one
	calls    []callPiece
	usage    *llm.Usage
	finish   string          // in the vendor's words, "": not yet
	failure  json.RawMessage // an error event
}

// callPiece is a piece of a tool call.
type callPiece struct {
	index     int // as the vendor counts; -1: not said
	position  int // in its chunk
	id, name  string
	arguments string // "": none
	extra     json.RawMessage
}

// The event as it is sent. Fields that vendors disagree on are read leniently.
type (
	wireChunk struct {
		ID      string          `json:"id"`
		Choices []wireChoice    `json:"choices"`
		Usage   json.RawMessage `json:"usage"`
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
	}
	wireChoice struct {
		Delta        wireDelta       `json:"delta"`
		Message      *wireDelta      `json:"message"` // in place of delta where streaming was ignored
		FinishReason string          `json:"finish_reason"`
		Usage        json.RawMessage `json:"usage"` // Moonshot
	}
	wireDelta struct {
		Content          looseText  `json:"content"`
		Refusal          looseText  `json:"refusal"`
		ReasoningContent looseText  `json:"reasoning_content"`
		Reasoning        looseText  `json:"reasoning"` // the same under its name elsewhere
		ToolCalls        []wireCall `json:"tool_calls"`
	}
	wireCall struct {
		Index        *int            `json:"index"`
		ID           string          `json:"id"`
		Function     wireFunction    `json:"function"`
		ExtraContent json.RawMessage `json:"extra_content"`
	}
	wireFunction struct {
		Name      string         `json:"name"`
		Arguments looseArguments `json:"arguments"`
	}
	wireUsage struct {
		Prompt       int  `json:"prompt_tokens"`
		Completion   int  `json:"completion_tokens"`
		CachedTokens *int `json:"cached_tokens"` // Moonshot
		Details      struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
)

// decodeChunk reads an event of any form.
func decodeChunk(line []byte, c *chunk) error {
	var w wireChunk
	if err := json.Unmarshal(line, &w); err != nil {
		return fmt.Errorf("decode an event: %w", err)
	}
	*c = chunk{id: []byte(w.ID)}
	if !isNull(w.Error) {
		c.failure = line
		return nil
	}
	if len(w.Choices) == 0 && isNull(w.Usage) && !isNull(w.Message) {
		c.failure = line
		return nil
	}
	c.usage = decodeUsage(w.Usage)
	if len(w.Choices) == 0 {
		return nil
	}
	choice := &w.Choices[0]
	if c.usage == nil {
		c.usage = decodeUsage(choice.Usage)
	}
	c.finish = choice.FinishReason
	d := &choice.Delta
	if choice.Message != nil {
		d = choice.Message
	}
	c.text = d.Content.text + d.Refusal.text
	think := d.ReasoningContent
	if !think.set {
		think = d.Reasoning
	}
	c.think, c.hasThink = think.text, think.set
	for i := range d.ToolCalls {
		c.calls = append(c.calls, d.ToolCalls[i].piece(i))
	}
	return nil
}

// plainThinkKey tells whether decodeChunk reads thinking under a name by itself.
func plainThinkKey(key string) bool {
	return key == DefaultReasoningKey || key == "reasoning" || key == NoReasoningKey
}

// thinkUnder reads an event's thinking under another name.
func thinkUnder(line []byte, key string) (string, bool) {
	var w struct {
		Choices []struct {
			Delta   map[string]json.RawMessage `json:"delta"`
			Message map[string]json.RawMessage `json:"message"`
		} `json:"choices"`
	}
	if json.Unmarshal(line, &w) != nil || len(w.Choices) == 0 {
		return "", false
	}
	raw, ok := w.Choices[0].Delta[key]
	if !ok {
		raw = w.Choices[0].Message[key]
	}
	var think looseText
	if len(raw) == 0 || json.Unmarshal(raw, &think) != nil {
		return "", false
	}
	return think.text, think.set
}

func (w *wireCall) piece(position int) callPiece {
	p := callPiece{
		index:     -1,
		position:  position,
		id:        w.ID,
		name:      w.Function.Name,
		arguments: string(w.Function.Arguments),
	}
	if w.Index != nil && *w.Index >= 0 {
		p.index = *w.Index
	}
	if !isNull(w.ExtraContent) {
		p.extra = w.ExtraContent
	}
	return p
}

// decodeUsage reads token counts; nil when there are none. Counts that cannot
// be read are no reason to lose an answer.
func decodeUsage(raw json.RawMessage) *llm.Usage {
	var w wireUsage
	if isNull(raw) || json.Unmarshal(raw, &w) != nil {
		return nil
	}
	cached := w.Details.CachedTokens
	if w.CachedTokens != nil {
		cached = *w.CachedTokens
	}
	return &llm.Usage{InputOther: max(w.Prompt-cached, 0), Output: w.Completion, InputCacheRead: cached}
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// looseText is a string, null, or a list of parts whose texts count.
type looseText struct {
	text string
	set  bool
}

// UnmarshalJSON reads the text; null leaves it unset.
func (t *looseText) UnmarshalJSON(data []byte) error {
	if isNull(data) {
		return nil
	}
	t.set = true
	if data[0] != '[' {
		return json.Unmarshal(data, &t.text)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Text)
	}
	t.text = all.String()
	return nil
}

// looseArguments is a string with JSON in it, the JSON itself, or null.
type looseArguments string

// UnmarshalJSON reads the arguments as JSON text; null leaves them empty.
func (a *looseArguments) UnmarshalJSON(data []byte) error {
	if isNull(data) {
		return nil
	}
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(a))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return err
	}
	*a = looseArguments(compact.String())
	return nil
}
