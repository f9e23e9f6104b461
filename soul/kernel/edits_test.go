package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// edits are the tools of a host that writes a file anew with each call of Edit: all of it
// in one version after the other.
type edits struct {
	operator *fileop.Operator
	dir      string

	mu      sync.Mutex
	tried   int // the version that was written last, or tried
	holds   int // the version that stands there as far as was told
	stopped int // calls that did not write
}

func newEdits(t *testing.T) *edits {
	t.Helper()
	dir := t.TempDir()
	disk, err := fileop.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	})
	e := &edits{operator: fileop.New(fileop.Options{Disk: disk, Roots: []string{dir}}), dir: dir}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte(version(0)), 0o600); err != nil {
		t.Fatal(err)
	}
	return e
}

// version is a whole text, of the length of another one.
func version(n int) string { return strings.Repeat(fmt.Sprintf("version %6d\n", n), 8<<10) }

func (*edits) Has(name string) bool { return name == "Echo" || name == "Edit" }

func (e *edits) CallTool(ctx context.Context, r wire.ToolCallRequest) wire.ToolReturnValue {
	if r.Name == "Echo" {
		return echo{}.CallTool(ctx, r)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tried++
	text := version(e.tried)
	change, err := e.operator.Plan(ctx, fileop.Edit{Path: "file", Content: &text})
	if err == nil {
		_, err = e.operator.Commit(ctx, change)
	}
	switch {
	case err == nil:
		e.holds = e.tried
		return wire.ToolReturnValue{Message: "Written."}
	case errors.Is(err, fileop.ErrUnconfirmed):
		e.holds = -1 // the old one or the new one
	}
	e.stopped++
	return wire.ToolReturnValue{IsError: true, Message: err.Error()}
}

// expectWhole holds that the file is in one of its versions, the one that was told, and
// that nothing lies beside it.
func (e *edits) expectWhole(t *testing.T) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	raw, err := os.ReadFile(filepath.Join(e.dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	switch text := string(raw); {
	case e.holds >= 0 && text != version(e.holds):
		t.Errorf("the file has %d bytes that begin with %.15q, want all of version %d", len(text), text, e.holds)
	case e.holds < 0 && text != version(e.tried) && text != version(e.tried-1):
		t.Errorf("the file has %d bytes that begin with %.15q, want all of version %d or the one before", len(text), text, e.tried)
	}
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("beside the file lies something: %v", entries)
	}
}
