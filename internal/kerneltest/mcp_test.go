//go:build kernels

package kerneltest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// A kernel starts the MCP servers that the editor passed for the session. What it asks
// for by itself, a call of their tools, is asked for in the editor.
func TestKernelsOwnApprovals(t *testing.T) {
	server, err := filepath.Abs(filepath.Join("testdata", "mcp.py"))
	if err != nil {
		t.Fatal(err)
	}
	for kernel, install := range map[string]func(*testing.T) string{"python": installKimi, "rust": installAgent} {
		t.Run(kernel, func(t *testing.T) {
			s := newStage(t)
			call := func(id string) string { return calling(t, id, "fortune", "{}") }
			s.script(t, call("one"), saying("Far, then."), call("two"), saying("Not so far."))
			c := acptest.Start(t, acptest.Process{Path: program.Path(t), Args: []string{"--kernel", kernel}, Dir: s.dir, Env: []string{
				"KIMI_SHARE_DIR=" + s.share, "KIMI_KERNEL_BIN=" + install(t), "KIMI_SCRIPTED_ECHO_SCRIPTS=" + filepath.Join(filepath.Dir(s.share), "scripts.json"),
			}})
			c.Initialize(acptest.Capabilities{ReadTextFile: true, WriteTextFile: true})
			answer := "allow_once"
			asked := 0
			c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
				asked++
				return acptest.Choose(answer)(ctx, p)
			}
			python, err := findPython(t.Context())
			if err != nil {
				t.Skip(err)
			}
			session := c.NewSession(s.dir, map[string]any{"name": "least", "command": python, "args": []string{server}, "env": []any{}})
			turn := session.Prompt(acptest.Text("Tell my fortune"))
			if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), "Far, then.") {
				t.Fatalf("ended with %s, and said %q\n%s", got, turn.Text(), c.Transcript())
			}
			if calls := turn.Calls(); len(calls) != 1 || calls[0].Status != "completed" || !strings.Contains(c.Transcript(), "You will go far.") {
				t.Errorf("the calls are %+v", calls)
			}
			answer = "reject_once"
			again := session.Prompt(acptest.Text("Once more"))
			if got := again.Wait(); got != "end_turn" {
				t.Errorf("ended with %s", got)
			}
			if calls := again.Calls(); len(calls) != 1 || calls[0].Status != "failed" || asked != 2 {
				t.Errorf("asked %d times; the calls are %+v", asked, calls)
			}
			c.Request("session/close", map[string]any{"sessionId": session.ID}).Result(nil)
			c.Close()
		})
	}
}
