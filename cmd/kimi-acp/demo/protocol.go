package demo

import "encoding/json"

// What the demo reads of the protocol. Members that it does not show are left out.

type update struct {
	SessionUpdate string          `json:"sessionUpdate"`
	Content       json.RawMessage `json:"content"`
	ToolCallID    string          `json:"toolCallId"`
	Title         string          `json:"title"`
	Kind          string          `json:"kind"`
	Status        string          `json:"status"`
	Entries       []planEntry     `json:"entries"`
	Used          int             `json:"used"`
	Size          int             `json:"size"`
}

type planEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

type toolContent struct {
	Type    string  `json:"type"`
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
	Content struct {
		Text string `json:"text"`
	} `json:"content"`
}

type permission struct {
	ToolCall struct {
		ToolCallID string        `json:"toolCallId"`
		Title      string        `json:"title"`
		Content    []toolContent `json:"content"`
	} `json:"toolCall"`
	Options []struct {
		OptionID string `json:"optionId"`
		Name     string `json:"name"`
		Kind     string `json:"kind"`
	} `json:"options"`
}

type object = map[string]any
