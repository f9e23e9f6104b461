package openai

import (
	"encoding/json"
	"strings"

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
// conversation.
func encodeMessages(req *llm.Request) []wireMessage {
	out := make([]wireMessage, 0, len(req.Messages)+1)
	if req.System != "" {
		out = append(out, wireMessage{Role: string(llm.RoleSystem), Content: &req.System})
	}
	for i := range req.Messages {
		out = append(out, encodeMessage(&req.Messages[i]))
	}
	return out
}

func encodeMessage(m *llm.Message) wireMessage {
	w := wireMessage{Role: string(m.Role), Name: m.Name, Content: encodeContent(m)}
	switch m.Role {
	case llm.RoleAssistant:
		w.ReasoningContent = reasoning(m.Content)
		w.ToolCalls = encodeCalls(m.ToolCalls)
		if text, ok := w.Content.(*string); ok && len(w.ToolCalls) > 0 && strings.TrimSpace(*text) == "" {
			w.Content = nil // vendors refuse blank text beside calls
		}
	case llm.RoleTool:
		w.Name = ""
		w.ToolCallID = m.ToolCallID
	}
	return w
}

// encodeContent writes a message's parts: thinking is left to reasoning. Text
// alone is a string wherever many servers take nothing else; only a user's
// parts stay apart, so that what was sent once remains a prefix of what is sent
// later. Blank text is dropped beside other parts, since vendors refuse it.
func encodeContent(m *llm.Message) any {
	var parts []wirePart
	var all, texts []string // texts are those that are not blank
	media := false
	for i := range m.Content {
		p := &m.Content[i]
		w := wirePart{Type: string(p.Type)}
		link := &wireLink{URL: p.Media.URL, ID: p.Media.ID}
		switch p.Type {
		case llm.PartText:
			all = append(all, p.Text)
			if strings.TrimSpace(p.Text) == "" {
				continue
			}
			texts = append(texts, p.Text)
			w.Text = &p.Text
		case llm.PartImage:
			w.Image, media = link, true
		case llm.PartAudio:
			w.Audio, media = link, true
		case llm.PartVideo:
			w.Video, media = link, true
		default:
			continue
		}
		parts = append(parts, w)
	}
	if media || (m.Role == llm.RoleUser && len(parts) > 1) {
		return parts
	}
	// Pieces of an answer belong together; the texts of a tool's result or of
	// another message are paragraphs.
	text := strings.Join(texts, "\n")
	if m.Role == llm.RoleAssistant || text == "" {
		text = strings.Join(all, "")
	}
	return &text
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
			w.Function.Arguments = *c.Arguments
		}
		w.ExtraContent = extraContent(c.Extras)
		out[i] = w
	}
	return out
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
