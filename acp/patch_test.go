package acp_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kimi-acp/internal/acptest"
)

// TestPatchOfFiles makes, changes and deletes files in one call: the card shows every
// diff, each file is asked for, and a deletion says that it is one.
func TestPatchOfFiles(t *testing.T) {
	c := stage{scripts: []string{
		toolCall("p", "ApplyPatch", map[string]any{"patch": "*** Update File: a.txt\n-one\n+ONE\n*** Add File: b.txt\n+two\n*** Delete File: c.txt\n"}),
		"text: done",
	}}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	put(t, s.Cwd, "a.txt", "one\n")
	put(t, s.Cwd, "c.txt", "three\n")
	var mu sync.Mutex
	var asked []string
	c.OnPermission = func(_ context.Context, p acptest.Permission) acptest.Answer {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, string(p.ToolCall))
		return acptest.Choose("allow_once")(context.Background(), p)
	}
	turn := s.Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" {
		t.Fatal(got)
	}
	call := turn.Calls()[0]
	if call.Status != "completed" || call.Title != "Patch `a.txt`, `b.txt`, `c.txt`" || len(call.Diffs()) != 3 {
		t.Errorf("%+v", call)
	}
	if len(asked) != 3 || !strings.Contains(asked[2], `"_meta":{"kimi/deleted":true}`) || strings.Contains(asked[1], "deleted") {
		t.Errorf("asked for %q", asked)
	}
	if d := call.Diffs()[2]; d.Path != filepath.Join(s.Cwd, "c.txt") || *d.OldText != "three\n" || d.NewText != "" {
		t.Errorf("%+v", d)
	}
}
