package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/coder/acp-go-sdk"
)

// editorStore is a fileop.Store over the editor's file methods: what it reads is
// what the user sees, unsaved text included, and what it writes the editor
// writes. It holds text only.
type editorStore struct{ session *session }

type fileParams struct {
	SessionID string  `json:"sessionId"`
	Path      string  `json:"path"`
	Content   *string `json:"content,omitempty"`
	Line      int     `json:"line,omitempty"`  // 1-based, of a read
	Limit     int     `json:"limit,omitempty"` // lines, of a read
}

// errNoContent is an answer of an editor that holds no text.
var errNoContent = errors.New("the editor answered without the file's content")

// Read asks the editor for a file's text.
func (e *editorStore) Read(ctx context.Context, path string) ([]byte, error) {
	text, err := e.read(ctx, fileParams{Path: path})
	return []byte(text), err
}

// ReadLines asks the editor for a part of a file; see fileop.WindowReader.
func (e *editorStore) ReadLines(ctx context.Context, path string, first, n int) (string, error) {
	return e.read(ctx, fileParams{Path: path, Line: first, Limit: n})
}

func (e *editorStore) read(ctx context.Context, p fileParams) (string, error) {
	p.SessionID = e.session.id
	var raw json.RawMessage
	if err := e.session.agent.conn.Call(ctx, sdk.ClientMethodFsReadTextFile, p, &raw); err != nil {
		return "", fmt.Errorf("read %s through the editor: %w", p.Path, err)
	}
	result, _ := object(raw)
	var content *string
	if json.Unmarshal(result["content"], &content) != nil || content == nil {
		return "", fmt.Errorf("read %s: %w", p.Path, errNoContent)
	}
	return *content, nil
}

// Write asks the editor to write a file. Editors answer with an object or null.
func (e *editorStore) Write(ctx context.Context, path string, data []byte) error {
	text := string(data)
	if err := e.session.agent.conn.Call(ctx, sdk.ClientMethodFsWriteTextFile, fileParams{SessionID: e.session.id, Path: path, Content: &text}, nil); err != nil {
		return fmt.Errorf("write %s through the editor: %w", path, err)
	}
	return nil
}

// Remove always fails: ACP has no way to delete a file.
func (e *editorStore) Remove(context.Context, string) error {
	return fmt.Errorf("the editor cannot delete files: %w", errors.ErrUnsupported)
}
