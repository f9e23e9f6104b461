//go:build clients

package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/modeltest"
)

// wireSDK is the client of kimi-cli's Wire, in testdata/package.json.
const wireSDK = "kimi-agent-sdk"

// wireSummary is what testdata/wire.mjs tells of a run.
type wireSummary struct {
	Turns []struct {
		Status, Said string
		Types        map[string]int
	}
	Approvals []struct {
		Action, Description string
		Shown               []string
	}
	Asked, Errors, Listed []string
	Replayed              int
	Failure               string
}

// testWireSDK plays a session of several turns, and opens it again in another process.
func testWireSDK(t *testing.T, agent, node, sdk string) {
	const session = "0b0c7c2e-5c1c-4f3a-9d55-6a1f0a3a7f10"
	model := modeltest.New(t)
	d := newDesk(t, nil, served(model)...)
	model.Push(
		calls(t, "c1", "WriteFile", map[string]any{"path": "new.txt", "content": "new\n"}),
		says("Written."),
		calls(t, "c2", "weather", map[string]any{"city": "Bonn"}),
		says("It is sunny."),
		calls(t, "c3", "Shell", map[string]any{"command": "touch made"}),
		says("Going on."),
	)
	arg := marshal(t, map[string]string{"sdk": sdk, "agent": agent, "cwd": d.dir, "session": session})
	ctx, cancel := context.WithTimeout(t.Context(), runTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, filepath.Join("testdata", "wire.mjs"), arg)
	cmd.Env, cmd.WaitDelay = d.env, time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	var s wireSummary
	if err := json.Unmarshal(stdout.Bytes(), &s); err != nil || runErr != nil || s.Failure != "" {
		t.Fatalf("the client failed: %v, %v: %s\nstdout: %s\nstderr: %s", runErr, err, s.Failure, &stdout, &stderr)
	}

	var turns []string
	for _, turn := range s.Turns {
		turns = append(turns, turn.Status+": "+turn.Said)
		if turn.Types["TurnBegin"] != 1 || turn.Types["StatusUpdate"] == 0 {
			t.Errorf("a turn's events were %v", turn.Types)
		}
	}
	same(t, "turns", turns, []string{"finished: Written.", "finished: It is sunny.", "cancelled: ", "finished: Going on."})
	same(t, "tools asked for", s.Asked, []string{"Bonn"})
	if len(s.Errors) > 0 {
		t.Errorf("events that the client does not know: %q", s.Errors)
	}
	if len(s.Approvals) != 2 || s.Approvals[0].Description != "Write file `"+d.path("new.txt")+"`" || s.Approvals[1].Description != "Run command `touch made`" {
		t.Errorf("approvals: %+v", s.Approvals)
	}
	d.checkFiles(t, map[string]string{"new.txt": "new\n"})
	if got := told(t, model, 4, "c2"); !strings.Contains(got, "sunny in Bonn") {
		t.Errorf("the model was told %q", got)
	}
	// The second process knows what was said in the first one, the cancelled call too.
	if got := told(t, model, 6, "c1"); !strings.Contains(got, "new.txt") {
		t.Errorf("the model was told %q after the session was opened again", got)
	}
	told(t, model, 6, "c3")
	same(t, "sessions that the client finds", s.Listed, []string{session})
	if s.Replayed == 0 {
		t.Error("the client reads no events from the recording")
	}
	checkNoneLeft(t, agent)
}
