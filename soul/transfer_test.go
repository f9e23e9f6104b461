package soul

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// shelf is Files with one text.
type shelf string

func (s shelf) Read(context.Context, string) (fileop.Snapshot, error) {
	return fileop.Snapshot{Text: string(s)}, nil
}

func (shelf) Plan(context.Context, fileop.Edit) (fileop.Change, error) {
	return fileop.Change{}, errors.New("it cannot be written to")
}

func (shelf) Commit(context.Context, fileop.Change) (fileop.Result, error) {
	return fileop.Result{}, errors.New("it cannot be written to")
}

// Before a model is set nobody knows how much there is room for.
func TestImportWithoutAModel(t *testing.T) {
	w := wire.New()
	var said strings.Builder
	w.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) {
		if p, ok := m.(wire.ContentPart); ok {
			said.WriteString(p.Part.Text)
		}
	}))
	b := New(Config{Wire: w, Files: shelf("notes")})
	if _, err := b.Run(t.Context(), ask("/import notes.txt")); err != nil {
		t.Fatal(err)
	}
	if got := said.String(); got != "`notes.txt` is imported; the model reads it with your next prompt." {
		t.Errorf("said %s", got)
	}
}
