package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Request is one request that the server got. Its fields do not change after
// Requests or Await have given it out.
type Request struct {
	Number  int // from 1, in order of arrival
	Method  string
	Path    string
	Header  http.Header
	Body    []byte // as it came
	Chat    Chat   // decoded
	Invalid error  // why the request was refused, nil if it was not

	done chan struct{}
	gone bool // written before done is closed
}

// Done is closed when the server has finished with the request.
func (r *Request) Done() <-chan struct{} { return r.done }

// Gone waits for Done and tells whether the client had left, or the server was
// closed, before the end of the reply.
func (r *Request) Gone() bool {
	<-r.done
	return r.gone
}

func (r *Request) end(ctx context.Context) {
	r.gone = ctx.Err() != nil
	close(r.done)
}

// Chat is a decoded request for a chat completion.
type Chat struct {
	Model          string          `json:"model"`
	Messages       []Message       `json:"messages"`
	Tools          []Tool          `json:"tools"`
	Stream         bool            `json:"stream"`
	StreamOptions  json.RawMessage `json:"stream_options"`
	PromptCacheKey string          `json:"prompt_cache_key"`
}

// Message is one message of a Chat.
type Message struct {
	Role             string          `json:"role"`
	Name             string          `json:"name"`
	Content          json.RawMessage `json:"content"` // nil: the key is absent
	ReasoningContent *string         `json:"reasoning_content"`
	ToolCalls        []ToolCall      `json:"tool_calls"`
	ToolCallID       string          `json:"tool_call_id"`
}

// ToolCall is a call in an assistant's message.
type ToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Tool is a tool that the model may call.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// Text gives the texts of the message's content, joined.
func (m *Message) Text() string {
	texts, _ := m.texts()
	var all string
	for _, t := range texts {
		all += t
	}
	return all
}

// texts gives the text of a string content, or of each text part. Media parts
// count as present and have no text.
func (m *Message) texts() (texts []string, media int) {
	var one string
	if json.Unmarshal(m.Content, &one) == nil {
		return []string{one}, 0
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return nil, 0
	}
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		} else {
			media++
		}
	}
	return texts, media
}

func decode(body []byte, c *Chat) error {
	if err := json.Unmarshal(body, c); err != nil {
		return fmt.Errorf("decode the request: %w", err)
	}
	return nil
}

// text encodes a JSON string.
func text(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return b
}
