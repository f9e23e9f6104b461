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
}

// errNoContent is an answer of an editor that holds no text.
var errNoContent = errors.New("the editor answered without the file's content")

// Read asks the editor for a file's text.
func (e *editorStore) Read(ctx context.Context, path string) ([]byte, error) {
	var raw json.RawMessage
	if err := e.session.agent.conn.Call(ctx, sdk.ClientMethodFsReadTextFile, fileParams{SessionID: e.session.id, Path: path}, &raw); err != nil {
		return nil, fmt.Errorf("read %s through the editor: %w", path, err)
	}
	result, _ := object(raw)
	var content *string
	if json.Unmarshal(result["content"], &content) != nil || content == nil {
		return nil, fmt.Errorf("read %s: %w", path, errNoContent)
	}
	return []byte(*content), nil
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
