package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"kimi-acp/fileop"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/screen"
)

// editor is the client side of the protocol: it holds the open buffer, shows the
// updates, and answers what the agent asks. The connection's reader calls it with
// one message at a time.
type editor struct {
	scene  *scene
	screen *screen.Screen
	answer func(ctx context.Context, p permission) (optionID string) // asks the user

	mu    sync.Mutex // guards screen, buffer and calls: permissions are answered aside
	calls map[string]*update
	used  update // the last usage
}

// Handle serves one message of the agent.
func (e *editor) Handle(call *jsonrpc.Call) {
	switch call.Method() {
	case "session/update":
		var p struct {
			Update update `json:"update"`
		}
		if json.Unmarshal(call.Params(), &p) == nil {
			e.show(p.Update)
		}
	case "fs/read_text_file":
		call.Reply(e.read(call.Params()))
	case "fs/write_text_file":
		call.Reply(e.write(call.Params()))
	case "session/request_permission":
		call.Go(func(ctx context.Context) (any, error) { return e.permit(ctx, call.Params()) })
	default:
		if !call.IsNotification() {
			call.Reply(nil, jsonrpc.ACP.MethodNotFound(call.Method()))
		}
	}
}

type fileParams struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

// read gives the open buffer's text where there is one, else the disk's.
func (e *editor) read(raw json.RawMessage) (any, error) {
	var p fileParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, jsonrpc.ACP.InvalidParams("fs/read_text_file")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.Path == e.scene.open {
		return object{"content": e.scene.buffer}, nil
	}
	data, err := os.ReadFile(p.Path)
	if err != nil {
		return nil, &jsonrpc.Error{Code: -32002, Message: "There is no such file"}
	}
	return object{"content": string(data)}, nil
}

// write changes the open buffer and saves it.
func (e *editor) write(raw json.RawMessage) (any, error) {
	var p fileParams
	if err := json.Unmarshal(raw, &p); err != nil || p.Content == nil || !strings.HasPrefix(p.Path, e.scene.project+string(filepath.Separator)) {
		return nil, jsonrpc.ACP.InvalidParams("fs/write_text_file")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.Path == e.scene.open {
		e.scene.buffer = *p.Content
	}
	if err := os.WriteFile(p.Path, []byte(*p.Content), 0o600); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The file could not be written"}
	}
	e.screen.Section("Editor", "wrote "+filepath.Base(p.Path)+" and saved it")
	return object{}, nil
}

// permit shows what is asked for and gives the user's answer.
func (e *editor) permit(ctx context.Context, raw json.RawMessage) (any, error) {
	var p permission
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, jsonrpc.ACP.InvalidParams("session/request_permission")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.screen.Section("Permission", p.ToolCall.Title)
	for _, c := range p.ToolCall.Content {
		e.content(c)
	}
	id := e.answer(ctx, p)
	if id == "" {
		return object{"outcome": object{"outcome": "cancelled"}}, nil
	}
	return object{"outcome": object{"outcome": "selected", "optionId": id}}, nil
}

// show shows one update.
func (e *editor) show(u update) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch u.SessionUpdate {
	case "agent_message_chunk", "agent_thought_chunk":
		var c struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(u.Content, &c) != nil {
			return
		}
		if u.SessionUpdate == "agent_thought_chunk" {
			e.screen.Stream("Thinking", screen.Faint, c.Text)
		} else {
			e.screen.Stream("Kimi", screen.Plain, c.Text)
		}
	case "plan":
		e.plan(u.Entries)
	case "usage_update":
		e.used = u
	case "tool_call":
		call := u
		e.calls[u.ToolCallID] = &call
	case "tool_call_update":
		e.toolCall(u)
	}
}

func (e *editor) plan(entries []planEntry) {
	e.screen.Section("Plan", "")
	for _, p := range entries {
		switch p.Status {
		case "completed":
			e.screen.Line(screen.Green, "✓ "+p.Content)
		case "in_progress":
			e.screen.Line(screen.Bold, "▸ "+p.Content)
		default:
			e.screen.Line(screen.Faint, "· "+p.Content)
		}
	}
}

// toolCall folds an update into the call, and shows it when it is done.
func (e *editor) toolCall(u update) {
	call := e.calls[u.ToolCallID]
	if call == nil {
		return
	}
	if u.Title != "" {
		call.Title = u.Title
	}
	if u.Content != nil {
		call.Content = u.Content
	}
	if u.Status != "completed" && u.Status != "failed" {
		return
	}
	delete(e.calls, u.ToolCallID)
	if call.Kind == "think" {
		return // the plan has shown it
	}
	e.screen.Section("Tool", call.Title)
	if u.Status == "failed" {
		e.screen.Line(screen.Red, "failed")
	}
	var content []toolContent
	if json.Unmarshal(call.Content, &content) != nil {
		return
	}
	for _, c := range content {
		if c.Type == "content" {
			e.content(c)
		} else {
			e.screen.Line(screen.Green, "done, as shown above")
		}
	}
}

// content shows a diff, a sentence, or the lines of a code block.
func (e *editor) content(c toolContent) {
	if c.Type == "diff" {
		e.diff(c)
		return
	}
	text := strings.ReplaceAll(c.Content.Text, e.scene.project+string(filepath.Separator), "")
	if !strings.HasPrefix(text, "```") {
		e.screen.Wrapped(screen.Plain, text)
		return
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); !strings.HasPrefix(line, "```") {
			e.screen.Line(screen.Plain, line)
		}
	}
}

// diff shows the changed lines with their numbers and what stands around them.
func (e *editor) diff(c toolContent) {
	name := c.Path
	if rel, err := filepath.Rel(e.scene.project, c.Path); err == nil {
		name = rel
	}
	e.screen.Line(screen.Bold, name)
	before := ""
	if c.OldText != nil {
		before = *c.OldText
	}
	e.screen.Diff(fileop.Unified(name, c.OldText, c.NewText), 0)
	if before == c.NewText {
		e.screen.Line(screen.Faint, "(nothing changes)")
	}
}

// opening shows the editor's state before the prompt.
func (e *editor) opening() {
	s := e.screen
	s.Print(s.Paint(screen.Bold, "kimi-acp demo") + "\n")
	s.Wrapped(screen.Faint, "An editor and the agent, talking over two pipes. The model is scripted, so this needs neither a key nor a network.")
	s.Section("Editor", "the project greet, a git repository on branch main")
	s.Line(screen.Plain, "greet.go   open · unsaved changes · cursor 5:9 · lines 4–6 selected")
	s.Line(screen.Plain, "README.md  changed since the last commit")
	s.Section("You", "")
	s.Wrapped(screen.Plain, userText)
	s.Line(screen.Faint, "@ greet.go lines 4–6")
}

// closing shows the file as it is now.
func (e *editor) closing(stop string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.screen
	s.Section("File", "greet.go, as it is now in the editor and on disk")
	n := 0
	for line := range strings.Lines(e.scene.buffer) {
		n++
		s.Line(screen.Plain, fmt.Sprintf("%3d  %s", n, strings.TrimRight(line, "\n")))
	}
	s.Section("Done", fmt.Sprintf("stop reason %s · %d of %d tokens of context in use", stop, e.used.Used, e.used.Size))
}
