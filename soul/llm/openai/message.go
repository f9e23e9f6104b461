package openai

import (
	"encoding/json"
	"strings"

	"kimi-acp/internal/jsonstring"
	"kimi-acp/soul/llm"
)

type wireMessage struct {
	Role             string        `json:"role"`
	Name             string        `json:"name,omitempty"`
	Content          any           `json:"content,omitempty"` // a pointer to a string, or []wirePart; nil: left out
	ReasoningContent *string       `json:"reasoning_content,omitempty"`
	ToolCalls        []wireCallOut `json:"tool_calls,omitempty"`
	ToolCallID       string        `json:"tool_call_id,omitempty"`
}

type wirePart struct {
	Type  string    `json:"type"`
	Text  *string   `json:"text,omitempty"`
	Image *wireLink `json:"image_url,omitempty"`
	Audio *wireLink `json:"audio_url,omitempty"`
	Video *wireLink `json:"video_url,omitempty"`
}

type wireLink struct {
	URL string  `json:"url"`
	ID  *string `json:"id,omitempty"`
}

type wireCallOut struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Function     wireFunctionOut `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

type wireFunctionOut struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// encodeMessages writes the system prompt, unless it is empty, and the
// conversation. Of two results of one call the first counts: servers refuse the
// second.
func encodeMessages(cfg *Config, req *llm.Request) []any {
	out := make([]any, 0, len(req.Messages)+1)
	if req.System != "" {
		out = append(out, &wireMessage{Role: string(llm.RoleSystem), Content: &req.System})
	}
	var answered map[string]bool // calls of the last answer
	for i := range req.Messages {
		m := &req.Messages[i]
		switch m.Role {
		case llm.RoleAssistant:
			answered = map[string]bool{}
		case llm.RoleTool:
			if answered[m.ToolCallID] {
				continue
			}
			if answered != nil {
				answered[m.ToolCallID] = true
			}
		}
		out = append(out, encodeMessage(cfg, m))
	}
	return out
}

// encodeMessage gives what is written of a message.
func encodeMessage(cfg *Config, m *llm.Message) any {
	w := &wireMessage{Role: string(m.Role), Name: m.Name, Content: encodeContent(&cfg.Model, m)}
	switch m.Role {
	case llm.RoleAssistant:
		w.ToolCalls = encodeCalls(m.ToolCalls)
		if text, ok := w.Content.(*string); ok && len(w.ToolCalls) > 0 && strings.TrimSpace(*text) == "" {
			w.Content = nil // vendors refuse blank text beside calls
		}
		switch think := reasoning(m.Content); cfg.ReasoningKey {
		case DefaultReasoningKey:
			w.ReasoningContent = think
		case NoReasoningKey:
		default:
			if think != nil {
				return &keyedMessage{wireMessage: w, key: cfg.ReasoningKey, think: *think}
			}
		}
	case llm.RoleTool:
		w.Name = ""
		w.ToolCallID = m.ToolCallID
	}
	return w
}

// keyedMessage is a message whose thinking goes under a name of the vendor's.
type keyedMessage struct {
	*wireMessage
	key, think string
}

// MarshalJSON writes the message with its thinking last.
func (k *keyedMessage) MarshalJSON() ([]byte, error) {
	out, err := plainJSON(k.wireMessage)
	if err != nil {
		return nil, err
	}
	out = append(out[:len(out)-1], ',')
	out = append(jsonstring.Append(out, k.key), ':')
	return append(jsonstring.Append(out, k.think), '}'), nil
}

// reservedInMessage tells which fields of a message are taken.
func reservedInMessage(field string) bool {
	switch field {
	case "role", "name", "content", "tool_calls", "tool_call_id":
		return true
	}
	return false
}

// encodeContent writes a message's parts: thinking is left to reasoning. Text
// alone is a string, a user's too: chat templates that put strings together, as
// those of llama.cpp's servers do, fail on a list. Text that comes to a message
// later stands behind what was sent before. Blank text is dropped beside other parts, since vendors refuse it.
// In place of media that the model does not take, as after a change of models,
// stands a text that says so.
func encodeContent(model *llm.Model, m *llm.Message) any {
	var parts []wirePart
	var all, texts []string // texts are those that are not blank
	media := false
	for i := range m.Content {
		p := &m.Content[i]
		w := wirePart{Type: string(p.Type)}
		link := &wireLink{URL: p.Media.URL, ID: p.Media.ID}
		text := &p.Text
		switch p.Type {
		case llm.PartText:
		case llm.PartImage:
			w.Image, text = link, standIn("an image", model.ImageInput)
		case llm.PartAudio:
			w.Audio, text = link, nil
		case llm.PartVideo:
			w.Video, text = link, standIn("a video", model.VideoInput)
		default:
			continue
		}
		if text == nil {
			media = true
		} else {
			all = append(all, *text)
			if strings.TrimSpace(*text) == "" {
				continue
			}
			texts = append(texts, *text)
			w = wirePart{Type: string(llm.PartText), Text: text}
		}
		parts = append(parts, w)
	}
	if media {
		return parts
	}
	// Pieces of an answer belong together; the texts of any other message are
	// paragraphs.
	text := strings.Join(texts, "\n")
	if m.Role == llm.RoleAssistant || text == "" {
		text = strings.Join(all, "")
	}
	return &text
}

// standIn gives what is said in place of a medium, nil if the model takes it.
func standIn(medium string, taken bool) *string {
	if taken {
		return nil
	}
	return new("[" + medium + " was here, which this model cannot take]")
}

// reasoning gives the thinking of an answer, nil when there was none: Kimi
// tells "thought nothing" from "did not think".
func reasoning(parts []llm.Part) *string {
	var all *string
	for i := range parts {
		if parts[i].Type != llm.PartThink {
			continue
		}
		if all == nil {
			all = new(string)
		}
		*all += parts[i].Think
	}
	return all
}

func encodeCalls(calls []llm.ToolCall) []wireCallOut {
	out := make([]wireCallOut, len(calls))
	for i := range calls {
		c := &calls[i]
		w := wireCallOut{ID: c.ID, Type: "function", Function: wireFunctionOut{Name: c.Name, Arguments: "{}"}}
		if c.Arguments != nil && strings.TrimSpace(*c.Arguments) != "" {
			w.Function.Arguments = object(*c.Arguments)
		}
		w.ExtraContent = extraContent(c.Extras)
		out[i] = w
	}
	return out
}

// object gives arguments as servers take them back: an object. What a model sent in
// place of one becomes a member, so that the model can see its mistake; strict servers
// would refuse it, and every request after it.
func object(arguments string) string {
	if strings.TrimSpace(arguments)[0] == '{' && json.Valid([]byte(arguments)) {
		return arguments
	}
	return string(append(jsonstring.Append([]byte(`{"not_an_object":`), arguments), '}'))
}

// extraContentKey is the field of a tool call, and of llm.ToolCall.Extras, in
// which Gemini signs its thoughts and wants the signature back.
const extraContentKey = "extra_content"

func extraContent(extras json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(extras) == 0 || json.Unmarshal(extras, &fields) != nil {
		return nil
	}
	return fields[extraContentKey]
}
