//go:build clients

package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// frame is a message that acpx prints with --format json: the protocol as it
// went over the wire, in both directions.
type frame struct {
	Method string
	Params struct {
		Path    string
		Content string
		Update  struct {
			SessionUpdate string
			Content       json.RawMessage
		}
	}
	Result struct {
		StopReason string
		Outcome    struct{ Outcome, OptionID string }
	}
}

// testACPX lets acpx run one prompt that writes a file with the user's leave.
func testACPX(t *testing.T, agent, node, acpx string) {
	text := "from acpx\n"
	call := marshal(t, map[string]string{
		"id": "c1", "name": "WriteFile",
		"arguments": marshal(t, map[string]string{"path": "new.txt", "content": text}),
	})
	d := newDesk(t, nil, scripted(t, "text: Writing.\ntool_call: "+call, "text:  Done.")...)
	ctx, cancel := context.WithTimeout(t.Context(), runTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, acpx,
		"--agent", agent, "--cwd", d.dir, "--approve-all", "--format", "json", "--json-strict",
		"exec", "write a file")
	cmd.Dir, cmd.Env, cmd.WaitDelay = d.dir, d.env, time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("acpx exec: %v\nstdout: %s\nstderr: %s", err, &stdout, &stderr)
	}
	defer func() {
		if t.Failed() {
			t.Logf("frames:\n%s\nstderr: %s", &stdout, &stderr)
		}
	}()

	var answer, outcome, stop string
	methods := map[string]int{}
	for line := range strings.Lines(stdout.String()) {
		var f frame
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("a line that is no frame: %q: %v", line, err)
		}
		methods[f.Method]++
		if f.Params.Update.SessionUpdate == "agent_message_chunk" {
			var block struct{ Text string }
			if err := json.Unmarshal(f.Params.Update.Content, &block); err != nil {
				t.Errorf("a piece of the answer: %v", err)
			}
			answer += block.Text
		}
		if f.Method == "fs/write_text_file" && (f.Params.Path != d.path("new.txt") || f.Params.Content != text) {
			t.Errorf("write of %q to %s", f.Params.Content, f.Params.Path)
		}
		if chosen := f.Result.Outcome.OptionID; chosen != "" {
			outcome = chosen
		}
		if reason := f.Result.StopReason; reason != "" {
			stop = reason
		}
	}
	if answer != "Writing. Done." || stop != "end_turn" {
		t.Errorf("answer %q, stop reason %q; want %q, end_turn", answer, stop, "Writing. Done.")
	}
	if methods["session/request_permission"] != 1 || methods["fs/write_text_file"] != 1 || !strings.HasPrefix(outcome, "allow") {
		t.Errorf("methods %v, chosen %q; want one permission, allowed, and one write through the client", methods, outcome)
	}
	d.checkFiles(t, map[string]string{"new.txt": text})
	checkNoneLeft(t, agent)
}
