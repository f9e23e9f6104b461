package acp

import (
	"encoding/json"

	"kimi-acp/internal/jsonstring"
)

// The session updates that are sent, as the schema of ACP v1 names their members.

type sessionNotification struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

type sessionInfoUpdate struct {
	SessionUpdate string `json:"sessionUpdate"`
	Title         string `json:"title"`
	UpdatedAt     string `json:"updatedAt"`
}

type commandsUpdate struct {
	SessionUpdate     string             `json:"sessionUpdate"`
	AvailableCommands []availableCommand `json:"availableCommands"`
}

type availableCommand struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *commandInput `json:"input,omitempty"`
}

type commandInput struct {
	Hint string `json:"hint"`
}

type usageUpdate struct {
	SessionUpdate string `json:"sessionUpdate"`
	Used          int    `json:"used"` // tokens
	Size          int    `json:"size"` // tokens
}

type planUpdate struct {
	SessionUpdate string      `json:"sessionUpdate"`
	Entries       []planEntry `json:"entries"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

type compactionUpdate struct {
	SessionUpdate string `json:"sessionUpdate"`
	CompactionID  string `json:"compactionId"`
	Status        string `json:"status"` // in_progress | completed | cancelled
}

type noticeUpdate struct {
	SessionUpdate string `json:"sessionUpdate"`
	Severity      string `json:"severity"`
	Title         string `json:"title"`
	Description   string `json:"description,omitempty"`
}

// toolCallUpdate is a tool_call and a tool_call_update. In the latter only what
// changed is set; Content replaces what was shown.
type toolCallUpdate struct {
	SessionUpdate string             `json:"sessionUpdate,omitempty"`
	ToolCallID    string             `json:"toolCallId"`
	Title         string             `json:"title,omitempty"`
	Name          string             `json:"name,omitempty"`
	Kind          string             `json:"kind,omitempty"`
	Status        string             `json:"status,omitempty"`
	Content       *[]toolContent     `json:"content,omitempty"`
	Locations     []toolCallLocation `json:"locations,omitempty"`
	RawInput      json.RawMessage    `json:"rawInput,omitempty"`
	RawOutput     any                `json:"rawOutput,omitempty"`
	Meta          map[string]any     `json:"_meta,omitempty"`
}

type toolCallLocation struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // 1-based
}

// toolContent is a text, a diff or a terminal.
type toolContent struct {
	Type    string     `json:"type"` // content | diff | terminal
	Content *textBlock `json:"content,omitempty"`
	Path    string     `json:"path,omitempty"`
	OldText *string    `json:"oldText,omitempty"`
	NewText *string    `json:"newText,omitempty"`

	TerminalID string `json:"terminalId,omitempty"`

	Meta *contentMeta `json:"_meta,omitempty"`
}

// contentMeta says of a diff what ACP has no word for.
type contentMeta struct {
	Deleted bool `json:"kimi/deleted"` // the file is gone, not emptied
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func textContent(text string) toolContent {
	return toolContent{Type: "content", Content: &textBlock{Type: "text", Text: text}}
}

// chunk is one piece of a streamed message, the message that is sent most. What
// stands around the text is the same for all chunks of a message and is made once.
type chunk struct {
	head, tail []byte
}

// newChunk makes the frame of a message's chunks. kind is the sessionUpdate value.
func newChunk(sessionID, kind, messageID string) *chunk {
	head := append([]byte(nil), `{"sessionId":`...)
	head = jsonstring.Append(head, sessionID)
	head = append(head, `,"update":{"sessionUpdate":`...)
	head = jsonstring.Append(head, kind)
	head = append(head, `,"content":{"type":"text","text":`...)
	tail := append([]byte(nil), `},"messageId":`...)
	tail = jsonstring.Append(tail, messageID)
	tail = append(tail, "}}"...)
	return &chunk{head: head, tail: tail}
}

// with is a chunk that carries a text.
func (c *chunk) with(text string) chunkText { return chunkText{c, text} }

type chunkText struct {
	frame *chunk
	text  string
}

// AppendJSON appends the notification's parameters.
func (t chunkText) AppendJSON(dst []byte) []byte {
	dst = append(dst, t.frame.head...)
	dst = jsonstring.Append(dst, t.text)
	return append(dst, t.frame.tail...)
}
