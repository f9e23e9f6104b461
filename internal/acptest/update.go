package acptest

import (
	"encoding/json"
	"strings"
)

// Update is one session/update.
type Update struct {
	Session   string
	Kind      string // the sessionUpdate member
	MessageID string // of chunks, empty when there is none
	Text      string // of chunks with a text block
	CallID    string // of tool calls
	Status    string // of tool calls, empty when it did not change
	Raw       json.RawMessage
}

// IsKind matches updates of one kind.
func IsKind(kind string) func(Update) bool {
	return func(u Update) bool { return u.Kind == kind }
}

// HasStatus matches updates that bring a tool call to a status.
func HasStatus(status string) func(Update) bool {
	return func(u Update) bool { return u.Status == status }
}

func decodeUpdate(params json.RawMessage) (Update, error) {
	var outer struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	if err := json.Unmarshal(params, &outer); err != nil {
		return Update{}, err
	}
	var inner struct {
		SessionUpdate string          `json:"sessionUpdate"`
		MessageID     string          `json:"messageId"`
		ToolCallID    string          `json:"toolCallId"`
		Status        string          `json:"status"`
		Content       json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(outer.Update, &inner); err != nil {
		return Update{}, err
	}
	u := Update{
		Session: outer.SessionID, Kind: inner.SessionUpdate, MessageID: inner.MessageID,
		CallID: inner.ToolCallID, Raw: outer.Update,
	}
	if u.CallID != "" {
		u.Status = inner.Status
	}
	var block struct {
		Text string `json:"text"`
	}
	if strings.HasSuffix(u.Kind, "_chunk") && json.Unmarshal(inner.Content, &block) == nil {
		u.Text = block.Text
	}
	return u, nil
}

// ToolCall is a tool call as an editor shows it after all updates so far.
type ToolCall struct {
	ID, Title, Kind, Status string
	Content                 []ToolContent
	Locations               []Location
	RawInput, RawOutput     json.RawMessage
	Meta                    json.RawMessage // the latest _meta
	Statuses                []string        // every status, in the order in which they came
}

// ToolContent is one piece of a tool call's content. Type says which fields count.
type ToolContent struct {
	Type       string `json:"type"` // content | diff | terminal
	TerminalID string `json:"terminalId"`
	Content    struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Path    string  `json:"path"` // of a diff
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
}

// Location is a place that a tool call is about.
type Location struct {
	Path string `json:"path"`
	Line *int   `json:"line"` // from 1
}

// Text gives the texts of the call's content, joined.
func (k ToolCall) Text() string {
	var b strings.Builder
	for _, item := range k.Content {
		b.WriteString(item.Content.Text)
	}
	return b.String()
}

// Diffs gives the diffs of the call's content.
func (k ToolCall) Diffs() []ToolContent {
	var diffs []ToolContent
	for _, item := range k.Content {
		if item.Type == "diff" {
			diffs = append(diffs, item)
		}
	}
	return diffs
}

// Fold applies updates as an editor does: members that are absent or null stay as
// they were, lists are replaced.
func Fold(updates []Update) []ToolCall {
	var order []string
	calls := map[string]*ToolCall{}
	for _, u := range updates {
		if u.CallID == "" {
			continue
		}
		call := calls[u.CallID]
		if call == nil {
			call = &ToolCall{ID: u.CallID, Kind: "other", Status: "pending"}
			calls[u.CallID] = call
			order = append(order, u.CallID)
		}
		call.apply(u)
	}
	folded := make([]ToolCall, 0, len(order))
	for _, id := range order {
		folded = append(folded, *calls[id])
	}
	return folded
}

func (k *ToolCall) apply(u Update) {
	var change struct {
		Title     *string         `json:"title"`
		Kind      *string         `json:"kind"`
		Status    *string         `json:"status"`
		Content   []ToolContent   `json:"content"`
		Locations []Location      `json:"locations"`
		RawInput  json.RawMessage `json:"rawInput"`
		RawOutput json.RawMessage `json:"rawOutput"`
		Meta      json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(u.Raw, &change) != nil {
		return // judged already
	}
	set(&k.Title, change.Title)
	set(&k.Kind, change.Kind)
	set(&k.Status, change.Status)
	if len(k.Statuses) == 0 || k.Statuses[len(k.Statuses)-1] != k.Status {
		k.Statuses = append(k.Statuses, k.Status)
	}
	if change.Content != nil {
		k.Content = change.Content
	}
	if change.Locations != nil {
		k.Locations = change.Locations
	}
	if change.RawInput != nil {
		k.RawInput = change.RawInput
	}
	if change.Meta != nil {
		k.Meta = change.Meta
	}
	if change.RawOutput != nil {
		k.RawOutput = change.RawOutput
	}
}

func set(to, from *string) {
	if from != nil {
		*to = *from
	}
}
