//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/cmd/kimi-acp/playback"
	"kimi-acp/internal/screen"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// A client of the Wire sees each move of a plan that agents do, and what the agents do,
// within the call; the recording shows it to others.
func TestWirePlan(t *testing.T) {
	share, work := t.TempDir(), t.TempDir()
	call := func(id, name, arguments string) string {
		raw, err := json.Marshal(map[string]string{"id": id, "name": name, "arguments": arguments})
		if err != nil {
			t.Fatal(err)
		}
		return "tool_call: " + string(raw)
	}
	long := "text: " + strings.Repeat("It was done with care. ", 10)
	raw, err := json.Marshal([]string{
		call("todo", "SetTodoList", `{"todos":[{"title":"first","status":"pending","id":"a"},{"title":"second","status":"pending","id":"b","depends_on":["a"]}]}`),
		call("run", "RunPlan", `{"context":"the goal"}`),
		long, "text: AGAIN: no test", long, "text: DONE", long, "text: DONE", "text: done",
	})
	scripts := filepath.Join(share, "scripts.json")
	if err == nil {
		err = os.WriteFile(scripts, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", strings.Replace(wireSettings, "@", scripts, 1), "--work-dir", work, "--yolo", "--session", "planned"}
	heard, stderr, code := wireRun(t, share, args, `{"id":"p","method":"prompt","params":{"user_input":"do it"}}`)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var out strings.Builder
	show := playback.New(screen.New(&out, false, 80), work)
	for _, line := range heard {
		var m struct{ Params json.RawMessage }
		if json.Unmarshal([]byte(line), &m) != nil || m.Params == nil {
			continue
		}
		event, err := wire.Decode(m.Params)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if e, ok := event.(wire.SubagentEvent); ok {
			show.Receive(session.Recorded{Message: e})
		}
	}
	show.Close()
	want := `  the plan: 0 of 2 steps done, under way: first
  the plan: 1 of 2 steps done
  the plan: 0 of 2 steps done
  the plan: 0 of 2 steps done, under way: first
  the plan: 1 of 2 steps done
  the plan: 1 of 2 steps done, under way: second
  the plan: 2 of 2 steps done
`
	if got := out.String(); got != want {
		t.Errorf("it showed\n%s\nwant\n%s", got, want)
	}
	if all := strings.Join(heard, "\n"); !strings.Contains(all, `step a: done\nstep b: done\n`) || !strings.Contains(all, `(reviewed, agent_id a`) || !strings.Contains(all, `"subagent_type":"explore"`) {
		t.Errorf("heard %s", all)
	}
}
